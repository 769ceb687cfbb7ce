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

/** When what has come becomes visible: each object for itself, or all of a cut in one step. */
interface Visibility {
  /**
   * Takes the next frame of a stream.
   *
   * @param ackNanos when it is to be acknowledged at the latest
   */
  void updates(InboundStream in, Frame.Updates frame, long ackNanos, long nowNanos, long nowMillis);

  /**
   * Takes what a peer has of an origin, or of objects in whose updates something was missing.
   *
   * @param expected whether it is the next page of a repair that is under way
   */
  void states(InboundStream in, PeerAnswer answer, boolean expected, long nowNanos, long nowMillis);

  /** Takes states of objects of which a peer has forgotten what is remembered here. */
  void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis);

  /** Takes a large state that was pulled: it needs nothing before it on its object. */
  void pulled(InboundStream in, Shipment state, long nowNanos, long nowMillis);

  /**
   * Sees to it that what was pulled stays as it is while it waits. To be called at least each
   * minute.
   *
   * @param lost hears of which peer's states of which origin something has not and was dropped
   * @return whose streams must begin anew, since something of them has not and was dropped
   */
  List<ReplicaId> holdPulled(BiConsumer<ReplicaId, ReplicaId> lost, long nowNanos, long nowMillis);

  /** Everything that a repair brought is here. */
  void repaired(Frame.States last);

  /** The rest of what a peer was giving of an origin will not come; another time all of it will. */
  void givenUp(ReplicaId peer, ReplicaId origin);

  /**
   * A datacenter has a newer incarnation than this one, or is no peer any more.
   *
   * @return whether what had come of its stream without being complete was dropped
   */
  boolean ended(ReplicaId former);

  /** The datacenter of an incarnation that had {@link #ended} is a peer again. */
  void returned(ReplicaId peer);

  /**
   * A state of an object that was pulled and waits, which is to be compared with one that a peer
   * offers: the same, or else one of the peer's; empty if there is none.
   */
  Optional<CrdtState> waitingState(InboundStream in, Frame.Offer offer);

  /**
   * Looks at what former incarnations have left, now and then: whether some of it is known
   * meanwhile, or will never be visible.
   *
   * @param lost whether nobody has any more of an origin's updates
   */
  void sweepLeft(Predicate<ReplicaId> lost, long nowNanos, long nowMillis);

  /** How many updates have come and wait for the rest of their cut, or have ended and wait. */
  int waiting();

  /**
   * Looks who may be held back, now that what waits has changed.
   *
   * @param hearing what is heard of the streams
   */
  void weigh(Hearing hearing);

  interface Hearing {
    /** Whether it is heard, so that what is wanted of it will come. */
    boolean flows(InboundStream in);

    /** Whether it was not heard for so long that others need its room more. */
    boolean isGone(InboundStream in);

    /** Since when a large state may not be pulled any more of which nothing was heard. */
    long silentNanos();
  }

  /**
   * Whether what waits will surely come to its end though no more of the stream comes, as far as
   * {@link #weigh} saw: its sender may be held back.
   */
  boolean mayHoldBack(InboundStream in);

  /**
   * Whether frames for which there is no room are not even taken: not where most of a frame is
   * visible at once.
   */
  boolean mayRefuse();

  /** What waits takes so much in the heap, about, in bytes. */
  long waitingBytes();

  /**
   * Of {@link #waitingBytes} what former incarnations have left. It may wait until it is known what
   * was lost with them, but does not grow, so nobody is held back for it.
   */
  long leftBytes();

  /** Whether a closed cut of an origin, or what it left, waits for what it depends on. */
  boolean isWaiting(ReplicaId origin);
}
