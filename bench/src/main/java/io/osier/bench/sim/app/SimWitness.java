package io.osier.bench.sim.app;

import io.osier.bench.sim.node.SimNode;
import io.osier.core.Dot;
import io.osier.protocol.Reply;
import org.jspecify.annotations.Nullable;

/** Sees what becomes of the requests of one call. */
public interface SimWitness {
  /** What the call is about in the trace: an object, or anything else. */
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

  /** The client gets the reply; the caller's result follows. */
  void hears(SimSending sending, Reply reply);

  /** The datacenter has crashed before the reply left; the request may have been done. */
  void crashed(SimSending sending);

  /** The update is acknowledged in front of its partition, which does not have it yet. */
  default void acknowledged(SimNode at) {
    throw new IllegalStateException("it is no update of one object");
  }

  /** The partition has absorbed the update that was acknowledged in front of it. */
  default void absorbed(Dot dot) {
    throw new IllegalStateException("it was not acknowledged");
  }
}
