package io.osier.datacenter.partition.history;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import java.util.IdentityHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps former values of decomposed objects readable as they were: the store of their entries keeps
 * the old ones only for a while, unless they are held again and again. If the process slept or the
 * disk stood still for too long, the entries are gone and reading fails. Not thread-safe.
 */
public final class HeldEntries {
  private static final int HOLD_MILLIS = 45_000;
  private static final long HOLD_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(HOLD_MILLIS / 3);

  /** The stores of entries that are held, each with the number of values that need it. */
  private final IdentityHashMap<EntrySource, Integer> needed = new IdentityHashMap<>();

  private long dueNanos = Long.MAX_VALUE;

  /** Holds the entries of these values until {@link #release}. */
  void hold(Iterable<CrdtState> states, long nowNanos) {
    for (CrdtState state : states) {
      EntrySource source = Decomposition.source(state);
      if (source != null && needed.merge(source, 1, Integer::sum) == 1) {
        boolean unused = isHeld(source); // a reader is told later
        dueNanos = Math.min(dueNanos, nowNanos + HOLD_EVERY_NANOS);
      }
    }
  }

  /** Releases the entries of values that will not be read any more. */
  void release(Iterable<CrdtState> states) {
    for (CrdtState state : states) {
      EntrySource source = Decomposition.source(state);
      if (source != null) {
        needed.computeIfPresent(source, (s, n) -> n == 1 ? null : n - 1);
      }
    }
  }

  /**
   * Checks, before a value is read, that its entries were kept.
   *
   * @throws OsierException SNAPSHOT_TOO_OLD if they were not
   */
  public static void checkSame(CrdtState state) {
    if (!isSame(state)) {
      throw new OsierException(
          ErrorCode.SNAPSHOT_TOO_OLD,
          "the entries of a large "
              + state.type()
              + " in this transaction's snapshot are no longer kept, since the process or its disk"
              + " stalled; begin another transaction");
    }
  }

  /** Returns whether a value is as it was; if so, it stays so for some time more. */
  public static boolean isSame(CrdtState state) {
    return isHeld(Decomposition.source(state));
  }

  private static boolean isHeld(@Nullable EntrySource source) {
    return source == null || source.hold(HOLD_MILLIS, false);
  }

  /** Holds all entries for some time more, if that is due. */
  void tick(long nowNanos) {
    if (nowNanos < dueNanos) {
      return;
    }
    dueNanos = needed.isEmpty() ? Long.MAX_VALUE : nowNanos + HOLD_EVERY_NANOS;
    for (EntrySource source : needed.keySet()) {
      boolean unused = isHeld(source);
    }
  }

  /** Returns when {@link #tick} has something to do; Long.MAX_VALUE if never. */
  long dueNanos() {
    return dueNanos;
  }
}
