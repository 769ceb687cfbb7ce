package io.osier.propagation.in;

import io.osier.core.ReplicaId;
import io.osier.propagation.Frame;

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
   * @param expected whether it is the next page of a healing that is under way
   */
  void states(
      InboundStream in, Frame.States states, boolean expected, long nowNanos, long nowMillis);

  /** Takes states of objects of which a peer has forgotten what is remembered here. */
  void verified(InboundStream in, Frame.Verified verified, long nowNanos, long nowMillis);

  /** Everything that a healing brought is here. */
  void healed(Frame.States last);

  /** A datacenter has a newer incarnation than this one. */
  void ended(ReplicaId former);

  /** How many updates have come and wait for the rest of their cut. */
  int waiting();

  /**
   * Whether updates of a stream wait for those of others, and will surely come to their end though
   * no more of the stream comes: its sender may be held back.
   */
  boolean mayHoldBack(InboundStream in);

  /** What waits takes so much in the heap, about, in bytes. */
  long waitingBytes();

  /** Whether a closed cut of an origin waits for what it depends on. */
  boolean isWaiting(ReplicaId origin);
}
