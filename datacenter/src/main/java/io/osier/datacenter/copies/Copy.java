package io.osier.datacenter.copies;

import io.osier.core.VersionVector;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The copy of one key: the states of its objects as the holder last told them. Reads take no lock;
 * {@link #begin} and {@link #sees} take the lock of the copy; everything else is guarded by the
 * lock of {@link Copies}.
 */
final class Copy {
  /**
   * The states that the holder told.
   *
   * @param context a vector of all updates that the states contain
   */
  record Version(List<CrdtState> states, VersionVector context, long bytes) {
    Version {
      states = List.copyOf(states);
    }

    /**
     * Returns whether the states contain all these updates. False for a key with several objects,
     * of which one may be older, or not have been told yet.
     */
    private boolean has(VersionVector seen) {
      return states.size() == 1 && !states.getFirst().isBottom() && seen.isAtMost(context);
    }
  }

  /** The reason why a copy does not answer a read. */
  enum Miss {
    /** The holder has not told the states yet. */
    EMPTY,
    /** The session, or another one here, has seen updates that the copy may lack. */
    BEHIND,
    /** The connection has earlier requests that are not answered yet. */
    ORDER
  }

  private final ObjectName name;
  private final long number;
  private final Subscription of;
  private final Demand demand;
  private final LongAdder hits = new LongAdder();
  private volatile @Nullable Version version;

  /**
   * The updates of the key that forwarded answers have shown to any client; null until {@link
   * #begin}.
   */
  private volatile @Nullable VersionVector shown;

  /** The updates that were shown before {@link #begin}. */
  private VersionVector early = VersionVector.EMPTY;

  /**
   * @param number the number by which the subscription names the key
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

  /** Counts one more read that this copy answers. */
  void hit() {
    hits.increment();
  }

  /** Returns how many reads this copy has answered since the last call. */
  long takeHits() {
    return hits.sumThenReset();
  }

  /** Returns the states that the holder told last; null before the first. */
  @Nullable Version version() {
    return version;
  }

  void set(Version told) {
    version = told;
  }

  /**
   * Tells the copy what was shown before it existed; before that it answers nothing.
   *
   * @param before what was shown of the partition, taken after reads could find this copy
   */
  synchronized void begin(VersionVector before) {
    shown = before.join(early);
  }

  /**
   * Notes that a forwarded answer shows these updates of the key: from now on the copy shows
   * nothing older.
   */
  synchronized void sees(VersionVector seen) {
    VersionVector known = shown;
    if (known == null) {
      early = early.join(seen);
    } else if (!seen.isAtMost(known)) {
      shown = known.join(seen);
    }
  }

  /**
   * Returns the states to answer a read with; null if they may lack updates that the read must
   * show.
   *
   * @param after what the session has seen elsewhere
   */
  @Nullable Version covering(VersionVector after) {
    // In this order: the version that is read last contains all updates up to the vector read
    // first.
    VersionVector through = of.through();
    VersionVector seen = shown;
    Version found = version;
    if (found == null || seen == null) {
      return null;
    }
    // A session's vector is of the whole partition, as its next read may be of another key.
    boolean covers =
        (seen.isAtMost(through) || found.has(seen))
            && of.shown().isAtMost(through)
            && after.isAtMost(through);
    return covers ? found : null;
  }
}
