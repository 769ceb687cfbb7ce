package io.osier.datacenter.shard;

import io.osier.core.memory.Budget;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupCommit;
import io.osier.datacenter.store.GroupQueue;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.records.EncodedGroup;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the groups of all partitions in a thread of its own, so that one write confirms all groups
 * that gather while the disk is busy. A thread that runs a partition in front of the partition's
 * own may write, too, if that waits for no disk. Thread-safe.
 */
public final class StoreThread {
  private static final Logger LOG = LoggerFactory.getLogger(StoreService.class);
  private static final long WRITE_MICROS_MAX = 3_600_000_000L;

  /** How many writes a helping thread does before it leaves the rest to the store's thread. */
  private static final int HELPED_WRITES = 4;

  /** A write that takes longer has waited for the disk; nobody helps for a while then. */
  private static final long SLOW_NANOS = 2_000_000;

  private static final long SLOW_FOR_NANOS = 100_000_000;

  private final RocksDatabase database;
  private final boolean isSync;
  private final Consumer<Throwable> onFailure;
  private final GroupQueue<EncodedGroup> groups;
  private final GroupCommit<EncodedGroup> writer;
  private final LongAdder writes = new LongAdder();
  private final LongAdder groupsWritten = new LongAdder();
  private final Recorder writeMicros = new Recorder(WRITE_MICROS_MAX, 2);
  private final Histogram allWriteMicros = new Histogram(WRITE_MICROS_MAX, 2);
  private final GroupCommitHelp help = new Help();
  private final Thread thread;

  /** Nobody helps to write before this time. */
  private volatile long slowUntilNanos = System.nanoTime();

  private volatile @Nullable Throwable failure;

  /**
   * Starts the thread.
   *
   * @param isSync whether each write waits for the disk
   */
  StoreThread(
      RocksDatabase database, boolean isSync, Budget budget, Consumer<Throwable> onFailure) {
    this.database = database;
    this.isSync = isSync;
    this.onFailure = onFailure;
    this.groups = new GroupQueue<>(budget);
    this.writer = new GroupCommit<>(groups);
    this.thread = Thread.ofPlatform().name("osier-store").daemon(true).unstarted(this::run);
    thread.start();
  }

  /** Returns the way of one partition's groups to the disk. */
  public GroupWriter writerOf(RocksVersions partition) {
    return new GroupWriter() {
      @Override
      public void write(Group group) {
        // The partition's thread encodes: the thread that waits for the disk has enough to do.
        EncodedGroup records = partition.encode(group.changes());
        groups.put(records, records.bytes() + group.heldBytes(), group.written());
      }

      @Override
      public Runnable someTime(List<Change> changes) {
        EncodedGroup records = partition.encode(changes);
        return () -> groups.offer(records, records.bytes(), () -> {});
      }
    };
  }

  private void run() {
    while (groups.await()) {
      takeTurn();
    }
  }

  /** Writes the groups that have gathered; the caller is the group-commit leader. */
  private void takeTurn() {
    try {
      writer.step(this::write);
    } catch (Throwable e) {
      // No group of this batch or later is confirmed to anybody, and nobody waits for one.
      failure = e;
      groups.fail();
      LOG.error("the store cannot be written any more; the datacenter stops", e);
      onFailure.accept(e);
    } finally {
      groups.endTurn();
    }
  }

  /**
   * Returns help for threads that run a partition in front of its own. They must not wait for the
   * disk: if each write does (durability sync), or the last one was slow, they leave writing to the
   * store's thread.
   */
  public GroupCommitHelp help() {
    return help;
  }

  private final class Help implements GroupCommitHelp {
    /** How many begins of each thread have no end yet. */
    private final ThreadLocal<Integer> begun = ThreadLocal.withInitial(() -> 0);

    @Override
    public boolean begin() {
      if (!groups.beginHelping()) {
        return false;
      }
      begun.set(begun.get() + 1);
      return true;
    }

    @Override
    public void end() {
      int others = begun.get() - 1;
      begun.set(others);
      boolean leaves = others == 0; // otherwise the last end does it
      for (int i = 0; leaves && i < HELPED_WRITES && isQuick(); i++) {
        if (groups.tryTurn()) {
          takeTurn();
        } else {
          leaves = false;
        }
      }
      groups.endHelping(leaves);
    }

    private boolean isQuick() {
      return !isSync && System.nanoTime() - slowUntilNanos >= 0;
    }
  }

  private void write(List<EncodedGroup> batch) {
    long began = System.nanoTime();
    List<EncodedGroup> changes = batch.stream().filter(g -> !g.isEmpty()).toList();
    if (!changes.isEmpty()) {
      database.write(changes);
      writes.increment();
      groupsWritten.add(changes.size());
      long ended = System.nanoTime();
      writeMicros.recordValue(Math.max(1, (ended - began) / 1_000));
      if (ended - began > SLOW_NANOS) {
        slowUntilNanos = ended + SLOW_FOR_NANOS;
      }
    }
  }

  /** Returns how many writes to the disk there were. */
  public long writes() {
    return writes.sum();
  }

  long groupsWritten() {
    return groupsWritten.sum();
  }

  /** Returns how long writes took since the start, in microseconds; a copy. */
  synchronized Histogram writeMicros() {
    allWriteMicros.add(writeMicros.getIntervalHistogram());
    return allWriteMicros.copy();
  }

  /** Returns why nothing can be written any more; null if writing works. */
  @Nullable Throwable failure() {
    return failure;
  }

  /**
   * Takes no more groups, and waits until all are written, or writing has failed.
   *
   * @return whether this thread was interrupted; its interrupt flag is cleared
   */
  boolean close() {
    groups.close();
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        return interrupted;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
  }
}
