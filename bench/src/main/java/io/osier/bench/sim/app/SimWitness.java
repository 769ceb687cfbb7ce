package io.osier.bench.sim.app;

import io.osier.bench.sim.node.SimNode;
import io.osier.core.Dot;
import io.osier.protocol.Reply;
import org.jspecify.annotations.Nullable;

/** Sees what becomes of a call's requests. */
public interface SimWitness {
  /** What the call is about: an object, or anything else by which the trace knows it. */
  Object about();

  /** A request is about to be sent, for the first time or again. */
  void sends(SimSending sending);

  /**
   * A partition has made its reply; the objects are still as it shows them.
   *
   * @param at null if who was asked does not hold the keyspace, and answers without a holder
   */
  void made(SimSending sending, @Nullable SimNode at, Reply reply);

  /** The reply leaves the datacenter. */
  void leaves(SimSending sending, Reply reply);

  /** The client gets the reply; what it makes of it comes next. */
  void hears(SimSending sending, Reply reply);

  /** The datacenter is gone before the reply could leave; what was asked for may be done. */
  void crashed(SimSending sending);

  /** It is acknowledged in front of its partition, which does not have it yet. */
  default void acknowledged(SimNode at) {
    throw new IllegalStateException("it is no update of one object");
  }

  /** The partition has what was acknowledged in front of it. */
  default void absorbed(Dot dot) {
    throw new IllegalStateException("it was not acknowledged");
  }
}
