package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.MILLI;

import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.MemoryVersions;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;

/**
 * The disk of one partition at one datacenter: it survives crashes, with what was synchronised and
 * any further part of what was under way, but nothing in between (a torn group is no group).
 */
final class SimDisk {
  /** What a datacenter keeps when it crashes. */
  enum Kind {
    /** Nothing. */
    NONE,
    /** What it has confirmed, but for the last groups. */
    ASYNC,
    /** All that it has confirmed. */
    SYNC
  }

  private static final int WRITE_MICROS_MAX = 3_000;
  private static final int SYNC_MILLIS_MAX = 400;

  /** The longest that a group waits on a disk that is not slow. */
  static final long DELAY_NANOS_MAX = 2 * WRITE_MICROS_MAX * 1_000L;

  private record Group(List<Change> changes, Runnable persisted, Runnable written) {}

  private final Scheduler scheduler;
  private final Random random;
  private final Kind kind;
  private final ArrayDeque<Group> waiting = new ArrayDeque<>();
  private final ArrayDeque<Group> unsynced = new ArrayDeque<>();
  private MemoryVersions durable = new MemoryVersions();
  private MemoryVersions visible = new MemoryVersions();
  private boolean writing;
  private boolean syncing;
  private long slowNanos;

  /** Grows with each crash: what was planned before does not happen. */
  private int boot;

  SimDisk(Scheduler scheduler, Random random, Kind kind) {
    this.scheduler = scheduler;
    this.random = random;
    this.kind = kind;
  }

  MemoryVersions versions() {
    return visible;
  }

  void slow(long nanos) {
    slowNanos = nanos;
  }

  /**
   * Writes a group.
   *
   * @param persisted is run when no crash can undo it any more, or turns out not to have
   * @param written is run when it counts as durable, unless a crash comes first
   */
  void write(List<Change> changes, Runnable persisted, Runnable written) {
    Group group = new Group(changes, persisted, written);
    if (kind == Kind.ASYNC) {
      visible.write(changes);
      unsynced.add(group);
      persisted.run();
      written.run();
      syncLater();
    } else {
      waiting.add(group);
      writeNext();
    }
  }

  private void writeNext() {
    if (writing || waiting.isEmpty()) {
      return;
    }
    writing = true;
    int groups = waiting.size(); // what gathers meanwhile is the next write
    int now = boot;
    scheduler.in(
        slowNanos + (50 + random.nextInt(WRITE_MICROS_MAX - 50)) * 1_000L,
        () -> {
          if (boot == now) {
            for (int i = 0; i < groups; i++) {
              Group group = waiting.poll();
              keep(group);
              group.written.run();
            }
            writing = false;
            writeNext();
          }
        });
  }

  private void keep(Group group) {
    durable.write(group.changes);
    visible.write(group.changes);
    group.persisted.run();
  }

  private void syncLater() {
    if (syncing) {
      return;
    }
    syncing = true;
    int now = boot;
    scheduler.in(
        slowNanos + random.nextInt(SYNC_MILLIS_MAX) * MILLI,
        () -> {
          if (boot == now) {
            syncing = false;
            unsynced.forEach(group -> durable.write(group.changes));
            unsynced.clear();
          }
        });
  }

  /** The datacenter crashes: of what was under way a part may have come to the disk. */
  void crash() {
    boot++;
    ArrayDeque<Group> open = kind == Kind.ASYNC ? unsynced : waiting;
    int kept = open.isEmpty() ? 0 : random.nextInt(open.size() + 1);
    for (int i = 0; i < kept; i++) {
      Group group = open.poll();
      durable.write(group.changes);
      if (kind == Kind.SYNC) {
        group.persisted.run();
      }
    }
    waiting.clear();
    unsynced.clear();
    writing = false;
    syncing = false;
    slowNanos = 0;
    visible = durable.copy();
  }
}
