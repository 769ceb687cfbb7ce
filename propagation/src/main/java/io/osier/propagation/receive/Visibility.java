package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Decides when received updates become visible: each object for itself, or all of a cut in one
 * step. Not thread-safe.
 */
interface Visibility {
  /**
   * Takes the next frame of a stream.
   *
   * @param ackNanos when the frame is to be acknowledged at the latest
   */
  void updates(InboundStream in, Frame.Updates frame, long ackNanos, long nowNanos, long nowMillis);

  /**
   * Takes a page of a peer's updates of an origin, or of objects that were fetched from it.
   *
   * @param expected whether it is the next page of a repair that is in progress
   */
  void states(InboundStream in, PeerAnswer answer, boolean expected, long nowNanos, long nowMillis);

  /** Takes states of objects of which a peer has forgotten what this datacenter remembers. */
  void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis);

  /** Takes a large state that was pulled: it needs nothing before it on its object. */
  void pulled(InboundStream in, Shipment state, long nowNanos, long nowMillis);

  /**
   * Keeps pulled states from changing while they wait. To be called at least each minute.
   *
   * @param lost is called with a peer and an origin when that peer's states of the origin were
   *     dropped, because one of them could not be kept
   * @return the senders whose streams must begin anew, because their updates were dropped for the
   *     same reason
   */
  List<ReplicaId> holdPulled(BiConsumer<ReplicaId, ReplicaId> lost, long nowNanos, long nowMillis);

  /** Notes that everything that a repair brought is here. */
  void repaired(Frame.States last);

  /**
   * Gives up a peer's pages of an origin: the rest will not come, and a later request asks for all.
   */
  void givenUp(ReplicaId peer, ReplicaId origin);

  /**
   * Notes that a datacenter has a newer incarnation than this one, or is no peer any more.
   *
   * @return whether the incomplete updates of its stream were dropped
   */
  boolean ended(ReplicaId former);

  /** Notes that the datacenter of an incarnation that had {@link #ended} is a peer again. */
  void returned(ReplicaId peer);

  /**
   * Returns a pulled state of an object that waits and is to be compared with one that a peer
   * offers: the same version, or else another one of the peer's; empty if there is none.
   */
  Optional<CrdtState> waitingState(InboundStream in, Frame.Offer offer);

  /**
   * Checks now and then the updates that former incarnations have left: whether some are known by
   * now, or can never become visible.
   *
   * @param lost whether no datacenter has any more of an origin's updates
   */
  void sweepLeft(Predicate<ReplicaId> lost, long nowNanos, long nowMillis);

  /** Returns how many received updates wait for the rest of their cut, or are of ended streams. */
  int waiting();

  /**
   * Decides anew which streams may be held back, after what waits has changed.
   *
   * @param hearing says which streams are heard
   */
  void weigh(Hearing hearing);

  interface Hearing {
    /** Whether the sender is heard, so that the needed part of its stream will be received. */
    boolean flows(InboundStream in);

    /** Whether the sender has been silent for so long that others need its memory more. */
    boolean isGone(InboundStream in);

    /** Returns the time since which the peer must have reacted to a pull for the pull to go on. */
    long silentNanos();
  }

  /**
   * Whether the sender may be held back: as far as {@link #weigh} saw, what waits will become
   * visible without more of its stream.
   */
  boolean mayHoldBack(InboundStream in);

  /**
   * Whether frames are not even taken when there is no room. Not where most of a frame becomes
   * visible at once.
   */
  boolean mayRefuse();

  /** Returns about how many bytes everything that waits takes in the heap. */
  long waitingBytes();

  /**
   * Returns the part of {@link #waitingBytes} that former incarnations have left. It may wait until
   * it is known which of their updates were lost, but it does not grow, so no peer is held back for
   * it.
   */
  long leftBytes();

  /** Whether a closed cut of an origin, or what it left, waits for its dependencies. */
  boolean isWaiting(ReplicaId origin);
}
