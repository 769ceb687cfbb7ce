package io.osier.datacenter.partition;

import io.osier.datacenter.partition.machine.Now;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.PeersHeard;

/**
 * Tells whether a partition has the data that its peers had, so that it can serve commands. Not
 * thread-safe, but for the methods that say so.
 */
final class CatchUpState {
  private static final long READY_CHECK_NANOS = 20_000_000;

  /** How often a ready partition checks whether it has all that its peers had. */
  private static final long COMPLETE_CHECK_NANOS = 500_000_000;

  private final Propagation propagation;
  private final VisibleChanges changes;

  /**
   * True if the store has objects but is not known to be complete, such as a mended one. Its
   * partition does not become ready merely because no peer answers: it must have heard one, unless
   * it has no peers.
   */
  private final boolean lacksSome;

  private volatile boolean ready;

  /** See {@link io.osier.datacenter.store.PartitionProgress}. */
  private boolean caughtUp;

  /**
   * Whether the partition has what no, some or all peers had when it was last told of its peers.
   */
  private volatile HeardSince heard = new HeardSince(0, PeersHeard.NOBODY);

  private record HeardSince(long number, PeersHeard heard) {}

  private volatile boolean settled;

  /** The number of the latest {@code Input.Peers} whose peers' data is all here; -1 if none. */
  private volatile long completeSince = -1;

  private long peersNumber;

  /**
   * @param ready whether the partition goes on where it stopped, or has no peers to fetch data from
   * @param hasObjects whether its store holds objects without saying how complete they are
   */
  CatchUpState(Propagation propagation, VisibleChanges changes, boolean ready, boolean hasObjects) {
    this.propagation = propagation;
    this.changes = changes;
    this.ready = ready;
    this.caughtUp = ready;
    this.lacksSome = !ready && hasObjects;
  }

  /** Returns whether commands are served. For any thread. */
  boolean isReady() {
    return ready;
  }

  boolean isCaughtUp() {
    return caughtUp;
  }

  /** Returns whether the partition is fetching what a mended store has lost. */
  boolean isMending() {
    return lacksSome && !ready;
  }

  /** For any thread. */
  boolean isSettled() {
    return settled;
  }

  /**
   * Whether the data of no, some or all peers is here, as of the membership with this number. For
   * any thread.
   */
  PeersHeard heard(long number) {
    HeardSince last = heard;
    return last.number == number ? last.heard : PeersHeard.NOBODY;
  }

  /** Notes which peers the partition has heard by now. */
  void hear() {
    heard = new HeardSince(peersNumber, propagation.status().heard());
  }

  /**
   * Returns whether all data is here that the peers of this {@code Input.Peers} had. For any
   * thread.
   */
  boolean isComplete(long number) {
    return completeSince == number;
  }

  /** Notes that the partition was told its peers anew. */
  void setPeers(long number, boolean joins) {
    peersNumber = number;
    propagation.status().setJoins(joins);
    if (joins) {
      changes.lacks();
      settled = false;
    }
  }

  void tick(Now now) {
    if (!ready
        && propagation.status().isCaughtUp(now.nanos(), Partition.JOIN_NANOS)
        && (!lacksSome
            || propagation.status().heard() != PeersHeard.NOBODY
            || propagation.peerNames().isEmpty())) {
      ready = true;
    }
    caughtUp |= ready && propagation.isVerified();
    settled |= propagation.status().isSettled();
    if (changes.forgotten().isEmpty()
        && propagation.status().isSettled()
        && propagation.status().isComplete()) {
      changes.caughtUp();
    }
    if (completeSince != peersNumber && propagation.status().isComplete()) {
      completeSince = peersNumber;
    }
  }

  /** When {@link #tick} may find something; Long.MAX_VALUE if never. */
  long nextNanos(Now now) {
    if (!ready) {
      return now.nanos() + READY_CHECK_NANOS;
    }
    return completeSince != peersNumber || changes.forgotten().isEmpty()
        ? now.nanos() + COMPLETE_CHECK_NANOS
        : Long.MAX_VALUE;
  }
}
