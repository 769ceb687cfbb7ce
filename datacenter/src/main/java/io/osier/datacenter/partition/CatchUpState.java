package io.osier.datacenter.partition;

import io.osier.datacenter.partition.machine.Now;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.PeersHeard;

/**
 * Whether a partition has what the others had, so that it serves commands. Used by one thread, but
 * for what is told of it.
 */
final class CatchUpState {
  private static final long READY_CHECK_NANOS = 20_000_000;

  /** How often is looked whether all is here that the others had. */
  private static final long COMPLETE_CHECK_NANOS = 500_000_000;

  private final Propagation propagation;
  private final VisibleChanges changes;

  /**
   * True for a store with objects that is not known to be complete, such as a mended one. Its
   * partition is not ready for lack of peers alone: one must have been heard, unless there are
   * none.
   */
  private final boolean lacksSome;

  private volatile boolean ready;

  /** See {@link io.osier.datacenter.store.PartitionProgress}. */
  private boolean caughtUp;

  /** Of which peers it has what they had, since it was told of them. */
  private volatile HeardSince heard = new HeardSince(0, PeersHeard.NOBODY);

  private record HeardSince(long number, PeersHeard heard) {}

  private volatile boolean settled;

  /** The telling of the peers since which it has what they had; -1 if none. */
  private volatile long completeSince = -1;

  private long peersNumber;

  /**
   * @param ready whether it goes on where it was, or has nobody from whom to get anything
   * @param hasObjects whether its store has some, and does not say how far they go
   */
  CatchUpState(Propagation propagation, VisibleChanges changes, boolean ready, boolean hasObjects) {
    this.propagation = propagation;
    this.changes = changes;
    this.ready = ready;
    this.caughtUp = ready;
    this.lacksSome = !ready && hasObjects;
  }

  /** Whether commands are served. For any thread. */
  boolean isReady() {
    return ready;
  }

  boolean isCaughtUp() {
    return caughtUp;
  }

  /** Whether it fetches what a store that was mended has lost. */
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

  /** Notes whom it has heard by now. */
  void hear() {
    heard = new HeardSince(peersNumber, propagation.status().heard());
  }

  /** Whether it has what all had since a telling of the peers. For any thread. */
  boolean isComplete(long number) {
    return completeSince == number;
  }

  /** It was told of the peers. */
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
