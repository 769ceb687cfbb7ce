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
 * Sees to it that former values of decomposed objects can be read as they were: the stores of their
 * entries keep that only for a while, unless they are held again and again. Where one was not kept
 * all the same, since the process slept or the disk stood still, reading fails. Not thread-safe.
 */
public final class HeldEntries {
  private static final int HOLD_MILLIS = 45_000;
  private static final long HOLD_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(HOLD_MILLIS / 3);

  /** By how many values each is needed. */
  private final IdentityHashMap<EntrySource, Integer> needed = new IdentityHashMap<>();

  private long dueNanos = Long.MAX_VALUE;

  /** Holds what a value is read by, until {@link #release}. */
  void hold(Iterable<CrdtState> states, long nowNanos) {
    for (CrdtState state : states) {
      EntrySource source = Decomposition.source(state);
      if (source != null && needed.merge(source, 1, Integer::sum) == 1) {
        boolean unused = isHeld(source); // told to whoever reads it
        dueNanos = Math.min(dueNanos, nowNanos + HOLD_EVERY_NANOS);
      }
    }
  }

  /** A value will not be read any more. */
  void release(Iterable<CrdtState> states) {
    for (CrdtState state : states) {
      EntrySource source = Decomposition.source(state);
      if (source != null) {
        needed.computeIfPresent(source, (s, n) -> n == 1 ? null : n - 1);
      }
    }
  }

  /**
   * To be asked before a value is read.
   *
   * @throws OsierException SNAPSHOT_TOO_OLD if it has not stayed as it was
   */
  public static void checkSame(CrdtState state) {
    if (!isSame(state)) {
      throw new OsierException(
          ErrorCode.SNAPSHOT_TOO_OLD,
          "what a large "
              + state.type()
              + " held is not kept any more, since the process or its disk stood still for long;"
              + " begin another transaction");
    }
  }

  /** Whether a value has stayed as it was; it does so for some time more. */
  public static boolean isSame(CrdtState state) {
    return isHeld(Decomposition.source(state));
  }

  private static boolean isHeld(@Nullable EntrySource source) {
    return source == null || source.hold(HOLD_MILLIS, false);
  }

  /** Holds all for some time more, if that is due. */
  void tick(long nowNanos) {
    if (nowNanos < dueNanos) {
      return;
    }
    dueNanos = needed.isEmpty() ? Long.MAX_VALUE : nowNanos + HOLD_EVERY_NANOS;
    for (EntrySource source : needed.keySet()) {
      boolean unused = isHeld(source);
    }
  }

  /** When {@link #tick} has something to do; Long.MAX_VALUE if never. */
  long dueNanos() {
    return dueNanos;
  }
}
