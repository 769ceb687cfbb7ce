package io.osier.datacenter.copies;

import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What a key holds, as a holder has told it last. Reads look at it without a lock, what was shown
 * of it is noted under its own; all else is done under the lock of {@link Copies}.
 */
final class Copy {
  /**
   * What it holds.
   *
   * @param context what is in it
   */
  record Version(List<CrdtState> states, VersionVector context, long bytes) {
    Version {
      states = List.copyOf(states);
    }

    /** Whether it has all of this. Of two objects one may be behind, or not be here yet. */
    private boolean has(VersionVector seen) {
      return states.size() == 1 && !states.getFirst().isBottom() && seen.isAtMost(context);
    }
  }

  /** Why a copy does not answer. */
  enum Miss {
    /** The holder has not told yet. */
    EMPTY,
    /** Something was seen that may not be in it. */
    BEHIND,
    /** The connection has requests under way whose answers come before this one. */
    ORDER
  }

  private final ObjectName name;
  private final long number;
  private final Subscription of;
  private final Demand demand;
  private final LongAdder hits = new LongAdder();
  private volatile @Nullable Version version;

  /** What forwarded answers have shown of the key, to whomever; null until that is known. */
  private volatile @Nullable VersionVector shown;

  private VersionVector early = VersionVector.EMPTY;

  /**
   * @param number by which its subscription names it
   */
  Copy(ObjectName name, long number, Subscription of, Demand demand) {
    this.name = name;
    this.number = number;
    this.of = of;
    this.demand = demand;
  }

  ObjectName name() {
    return name;
  }

  long number() {
    return number;
  }

  Subscription of() {
    return of;
  }

  Demand demand() {
    return demand;
  }

  /** One more read is answered from this. */
  void hit() {
    hits.increment();
  }

  /** Takes how many reads were answered from this. */
  long takeHits() {
    return hits.sumThenReset();
  }

  /** What it holds; null until that is told. */
  @Nullable Version version() {
    return version;
  }

  void set(Version told) {
    version = told;
  }

  /**
   * From now on it is known what may have been shown before it began; see {@link #sees}.
   *
   * @param before of the partition, taken after this could be found
   */
  synchronized void begin(VersionVector before) {
    shown = before.join(early);
  }

  /** A forwarded answer shows this of the key: from now on no older version is shown. */
  synchronized void sees(VersionVector seen) {
    VersionVector known = shown;
    if (known == null) {
      early = early.join(seen);
    } else if (!seen.isAtMost(known)) {
      shown = known.join(seen);
    }
  }

  /**
   * What a read may be answered with; null if this has not all that it must have.
   *
   * @param after what the session has seen elsewhere
   */
  @Nullable Version covering(VersionVector after) {
    // In this order: what the holder has told up to there is in the version that is looked at then.
    VersionVector through = of.through();
    VersionVector seen = shown;
    Version found = version;
    if (found == null || seen == null) {
      return null;
    }
    // What a session has seen elsewhere is of the partition: its next read may be of another key.
    boolean covers =
        (seen.isAtMost(through) || found.has(seen))
            && of.shown().isAtMost(through)
            && after.isAtMost(through);
    return covers ? found : null;
  }
}
