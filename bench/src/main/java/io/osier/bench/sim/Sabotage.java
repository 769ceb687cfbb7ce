package io.osier.bench.sim;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Request;

/**
 * Spoils a run at a place where a fault of Osier would show, so that a test can see the check that
 * must notice it fail. A check that nothing can make fail proves nothing.
 */
interface Sabotage {
  /** Spoils nothing. */
  Sabotage NONE = new Sabotage() {};

  /** What a datacenter gets instead of a frame. */
  default Frame frame(String to, Frame frame) {
    return frame;
  }

  /** How much longer than the network allows a frame is under way. */
  default long extraDelayNanos(Frame frame) {
    return 0;
  }

  /** What a session says it has seen. */
  default VersionVector after(VersionVector seen) {
    return seen;
  }

  /** Whether a client's command is carried out once more, unnoticed. */
  default boolean again() {
    return false;
  }

  /** What a client sends instead of asking again for a commit. */
  default Request repeat(Request.Repeat repeat) {
    return repeat;
  }

  /** Whether clients take the refusal of a repeat for the answer to the commit. */
  default boolean believesRefusals() {
    return false;
  }

  /** What a datacenter's store gives instead of a state. */
  default Causal loaded(ObjectId object, Causal state) {
    return state;
  }

  /** What is stored instead of a state. */
  default Causal stored(ReplicaId at, ObjectId object, Causal before, Causal after) {
    return after;
  }

  /** Whether a group of records counts as durable before it is written. */
  default boolean confirmsEarly() {
    return false;
  }

  /** Whether what need not be read from the disk goes before what came earlier and must be. */
  default boolean overtakes() {
    return false;
  }
}
