package io.osier.datacenter.partition;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.ObjectStore;
import org.jspecify.annotations.Nullable;

/**
 * Tells watchers of what is over as soon as it is: nobody sees it any more, though it is removed
 * later, and by one datacenter. Reads deadlines alone, not objects. Not thread-safe.
 */
final class ExpiryNews {
  /** So many are told at once. */
  private static final int SLICE = 1_024;

  private static final long PERIOD_NANOS = 1_000_000;

  /** In front of all others of its time. */
  private static final ObjectId FIRST = new ObjectId(Key.of(new byte[] {0}), CrdtType.values()[0]);

  private final ObjectStore store;
  private final VisibleChanges changes;

  /** The last one that was told. What has an earlier one by now became visible as a change. */
  private Deadline told = new Deadline(0, FIRST);

  private long nextNanos = Long.MIN_VALUE;

  ExpiryNews(ObjectStore store, VisibleChanges changes) {
    this.store = store;
    this.changes = changes;
  }

  /** Whoever watches from now on sees nothing of what is over. */
  void watch(Now now) {
    told = new Deadline(Math.max(0, now.millis()), FIRST);
    nextNanos = Long.MIN_VALUE;
  }

  /** Tells what is over by now. */
  void tell(Now now) {
    if (!changes.areWanted() || nextNanos > now.nanos()) {
      return;
    }
    int left = SLICE;
    @Nullable Deadline next = store.deadlineAfter(told);
    while (next != null && next.millis() <= now.millis() && left > 0) {
      changes.expired(next.object());
      told = next;
      left--;
      next = store.deadlineAfter(told);
    }
    nextNanos = now.nanos() + PERIOD_NANOS;
  }

  /** When {@link #tell} has something to do; Long.MAX_VALUE if never. */
  long nextNanos(Now now) {
    @Nullable Deadline next = changes.areWanted() ? store.deadlineAfter(told) : null;
    if (next == null) {
      return Long.MAX_VALUE;
    }
    long away = Math.max(0, next.millis() - now.millis());
    return Math.max(nextNanos, now.nanos() + Math.min(away, 1L << 40) * 1_000_000);
  }
}
