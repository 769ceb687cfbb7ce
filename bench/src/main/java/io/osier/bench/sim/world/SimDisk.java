package io.osier.bench.sim.world;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.memory.Budget;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupCommit;
import io.osier.datacenter.store.GroupQueue;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.memory.MemoryVersions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The store of a datacenter as production composes it: the groups of all partitions go through one
 * {@link GroupQueue} and are written by one {@link GroupCommit}, here to a disk that is slow,
 * stalls, or stops with a crash between a write's beginning and its confirmation. It survives
 * crashes, with what was confirmed and any further part of what was being written, but nothing in
 * between (a torn group is no group).
 */
public final class SimDisk {
  /** What a datacenter keeps when it crashes. */
  public enum Kind {
    /** Nothing. */
    NONE,
    /** What it has confirmed, but for the last groups. */
    ASYNC,
    /** All that it has confirmed. */
    SYNC
  }

  private static final int WRITE_MICROS_MAX = 3_000;
  private static final int SYNC_MILLIS_MAX = 400;

  /** How long reading ahead takes. */
  private static final long READ_NANOS = 200_000;

  /** The longest that a group waits for room without {@link SimDc#waits}. */
  private static final long ROOM_NANOS_MAX = 2 * WRITE_MICROS_MAX * 1_000L;

  /** The longest that a group waits on a disk that is not slow, after it has waited for room. */
  public static final long DELAY_NANOS_MAX = ROOM_NANOS_MAX + 2 * WRITE_MICROS_MAX * 1_000L;

  /** The room for unwritten groups in one life of three: a handful, so that partitions wait. */
  private static final long ROOM_BYTES_TINY = 10_000;

  private static final long ROOM_BYTES = 1 << 20;

  /** About how many bytes a record takes in memory. */
  private static final int CHANGE_BYTES = 120;

  /**
   * A group of a partition.
   *
   * @param drops how often the unit had been dropped when the partition was opened
   * @param persisted is run when no crash can undo it any more, or turns out not to have
   */
  private record Records(int unit, int drops, List<Change> changes, Runnable persisted) {}

  private final Sabotage sabotage;
  private final Scheduler scheduler;
  private final Random random;
  private final Kind kind;
  private final ArrayDeque<Records> unsynced = new ArrayDeque<>();
  private final List<MemoryVersions> durable = new ArrayList<>();

  /** What was confirmed, by unit; of a disk of kind SYNC the same as what is durable. */
  private final List<MemoryVersions> visible = new ArrayList<>();

  /** The actions that wait for the end of a stall. */
  private final List<Runnable> stalled = new ArrayList<>();

  private GroupQueue<Records> queue;
  private GroupCommit<Records> writer;

  /** What is being written; null if nothing is. */
  private GroupCommit.@Nullable Batch<Records> writing;

  /** The partitions whose groups wait for room. */
  private final List<Waiting> waiting = new ArrayList<>();

  private record Waiting(BooleanSupplier isIn, long sinceNanos, Consumer<Boolean> goOn) {}

  /** By unit, how often it was dropped. */
  private final int[] drops;

  private boolean syncing;
  private long slowNanos;
  private int stalls;
  private long waits;
  private long cutWrites;

  /** Counts crashes: what was planned before the last one does not happen. */
  private int boot;

  /**
   * An empty disk.
   *
   * @param units how many partitions write to it
   */
  public SimDisk(Scheduler scheduler, int units, Sabotage sabotage, Random random, Kind kind) {
    this.scheduler = scheduler;
    this.sabotage = sabotage;
    this.random = random;
    this.kind = kind;
    this.drops = new int[units];
    for (int i = 0; i < units; i++) {
      durable.add(MemoryVersions.shortLived(scheduler::nanos));
      visible.add(kind == Kind.SYNC ? durable.get(i) : MemoryVersions.shortLived(scheduler::nanos));
    }
    boot();
  }

  private void boot() {
    long room = random.nextInt(3) == 0 ? ROOM_BYTES_TINY : ROOM_BYTES;
    queue = new GroupQueue<>(new Budget("unwritten updates", room));
    writer = new GroupCommit<>(queue);
  }

  /** The store of a unit. */
  public MemoryVersions versions(Unit unit) {
    return visible.get(unit.number());
  }

  /** Drops the store of a unit, with the groups of it that are under way. */
  public void drop(Unit unit) {
    int number = unit.number();
    drops[number]++;
    durable.set(number, MemoryVersions.shortLived(scheduler::nanos));
    visible.set(
        number,
        kind == Kind.SYNC ? durable.get(number) : MemoryVersions.shortLived(scheduler::nanos));
  }

  private void store(List<MemoryVersions> in, Records group) {
    if (group.drops == drops[group.unit]) {
      in.get(group.unit).write(group.changes);
    }
  }

  /** From now on every write takes so much longer. */
  public void slow(long nanos) {
    slowNanos = nanos;
  }

  /** Nothing is written or read until as many stalls have ended as began. */
  public void stall(boolean begin) {
    stalls += begin ? 1 : -1;
    if (stalls == 0) {
      List<Runnable> due = List.copyOf(stalled);
      stalled.clear();
      due.forEach(Runnable::run);
    }
  }

  /** How often a partition had to wait for room. */
  public long waits() {
    return waits;
  }

  /** How many crashes came between the beginning of a write and its confirmation. */
  public long cutWrites() {
    return cutWrites;
  }

  // ---------------------------------------------------------------- reading

  /** Runs a read some time later, unless a crash comes first. */
  public void read(Runnable reading) {
    inTime(READ_NANOS, reading);
  }

  private void inTime(long nanos, Runnable action) {
    int now = boot;
    scheduler.in(
        nanos,
        () -> {
          if (boot == now) {
            if (stalls > 0) {
              stalled.add(action);
            } else {
              action.run();
            }
          }
        });
  }

  // ---------------------------------------------------------------- writing

  /** A partition's group, and what the checks are told of it when it is written. */
  public interface Taken {
    /** Takes what the checks are to be told when the group is durable. */
    Runnable persisted();
  }

  /**
   * Returns what writes the groups of a partition.
   *
   * @param mustWait takes whether the partition may go on, where there is no room: its thread waits
   * @param goOn is run when it may, and hears whether that took long
   */
  public GroupWriter writerOf(
      Unit unit, Taken taken, Consumer<BooleanSupplier> mustWait, Consumer<Boolean> goOn) {
    List<Change> evicted = new ArrayList<>();
    int opened = drops[unit.number()];
    return new GroupWriter() {
      @Override
      public void write(GroupWriter.Group group) {
        List<Change> changes = new ArrayList<>(evicted);
        changes.addAll(group.changes());
        evicted.clear();
        // What the cache evicts is chance, and must not change any time: it takes no room, and an
        // update that is written as a snapshot, because none was written when its object was
        // evicted, takes as much as one that is written as an operation.
        int counted = 0;
        for (Change change : group.changes()) {
          counted += change instanceof Change.Prune ? 0 : 1;
        }
        long bytes = (long) CHANGE_BYTES * counted + group.heldBytes();
        Records records = new Records(unit.number(), opened, changes, taken.persisted());
        boolean early = sabotage.confirmsEarly();
        BooleanSupplier isIn = queue.line(records, bytes, early ? () -> {} : group.written());
        if (early) {
          group.written().run();
        }
        if (!isIn.getAsBoolean()) {
          waits++;
          waiting.add(new Waiting(isIn, scheduler.nanos(), goOn));
          mustWait.accept(isIn);
        }
        writeNext();
      }

      @Override
      public Runnable someTime(List<Change> changes) {
        // With the next group: see above.
        return () -> evicted.addAll(changes);
      }
    };
  }

  private void writeNext() {
    if (writing != null) {
      return;
    }
    GroupCommit.Batch<Records> next = writer.begin();
    if (!next.isEmpty()) {
      writing = next;
      long nanos = slowNanos + (50 + random.nextInt(WRITE_MICROS_MAX - 50)) * 1_000L;
      inTime(nanos, () -> written(next));
    }
  }

  private void written(GroupCommit.Batch<Records> batch) {
    writing = null;
    batch.groups().forEach(this::keep);
    writer.confirm(batch);
    for (Waiting w : waiting.isEmpty() ? List.<Waiting>of() : List.copyOf(waiting)) {
      if (w.isIn.getAsBoolean()) {
        waiting.remove(w);
        w.goOn.accept(scheduler.nanos() - w.sinceNanos > ROOM_NANOS_MAX);
      }
    }
    writeNext();
  }

  private void keep(Records group) {
    if (kind != Kind.SYNC) {
      unsynced.add(group);
      syncLater();
    }
    store(visible, group);
    group.persisted.run();
  }

  private void syncLater() {
    if (syncing) {
      return;
    }
    syncing = true;
    inTime(
        slowNanos + random.nextInt(SYNC_MILLIS_MAX) * MILLI,
        () -> {
          syncing = false;
          unsynced.forEach(group -> store(durable, group));
          unsynced.clear();
        });
  }

  /**
   * The datacenter crashes: of what was under way a part may have come to the disk.
   *
   * @param isKill whether the process alone is gone, and the machine goes on: what was confirmed is
   *     there
   */
  public void crash(boolean isKill) {
    boot++;
    List<Records> open = writing == null ? List.of() : writing.groups();
    cutWrites += open.isEmpty() ? 0 : 1;
    int confirmed = unsynced.size();
    int least = isKill ? confirmed : 0;
    int kept = least + random.nextInt(confirmed - least + open.size() + 1);
    for (int i = 0; i < kept; i++) {
      Records group = i < confirmed ? unsynced.remove() : open.get(i - confirmed);
      store(durable, group);
      if (i >= confirmed) {
        group.persisted.run();
      }
    }
    unsynced.clear();
    stalled.clear();
    waiting.clear();
    writing = null;
    syncing = false;
    slowNanos = 0;
    boot();
    for (int i = 0; i < durable.size(); i++) {
      visible.set(i, durable.get(i).copy());
      if (kind == Kind.SYNC) {
        durable.set(i, visible.get(i));
      }
    }
  }
}
