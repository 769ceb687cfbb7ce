package io.osier.bench.sim.app;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Scheduler;
import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.proxy.Connection;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One sending of a request, by a client of production. */
public class SimSending {
  private final Object connection;
  private final ReplicaId to;
  private final Request request;
  private final @Nullable SimWitness witness;
  private final long ticket;

  /** What the object covered when it was read. */
  private CausalContext shown = CausalContext.EMPTY;

  /**
   * A request that is about to leave.
   *
   * @param connection on which it is sent, from its greeting to its end
   * @param witness null if nobody wants to see what becomes of it
   * @param ticket larger than those of all sendings before
   */
  public SimSending(
      Object connection, ReplicaId to, Request request, @Nullable SimWitness witness, long ticket) {
    this.connection = connection;
    this.to = to;
    this.request = request;
    this.witness = witness;
    this.ticket = ticket;
  }

  /** The datacenter that it is sent to. */
  public final ReplicaId to() {
    return to;
  }

  public final Request request() {
    return request;
  }

  final long ticket() {
    return ticket;
  }

  /** Notes what the object covers while it is read. */
  public final void shows(CausalContext covered) {
    shown = covered;
  }

  /** What the object covered when it was read. */
  public final CausalContext shown() {
    return shown;
  }

  /** Notes an event of the request in the trace. */
  final void trace(Simulation simulation, Object who, String does, Object what) {
    if (simulation.trace().keepsEvents()) {
      Unit unit = simulation.unit(request);
      simulation.trace().about(unit, about(), "%s %s %s (%d): %s", who, does, to, ticket, what);
    }
  }

  /** Sends a request over a connection, for whoever waits for its answer in a future. */
  static CompletableFuture<Reply> send(
      Connection over, Request request, long nowNanos, long timeoutMillis) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    over.send(
        request,
        nowNanos,
        nowNanos + timeoutMillis * Scheduler.MILLI,
        Connection.Answered.of(reply));
    return reply;
  }

  /** Whether a request is no step of a transaction. */
  static boolean isNoStep(Request request) {
    return request instanceof Request.Read
        || request instanceof Request.Write
        || request instanceof Request.ReadAll
        || request instanceof Request.WriteAll
        || request instanceof ScanRequest;
  }

  /** The only part of a reply to a batch of one part; other replies as they are. */
  private static Reply only(Reply reply) {
    return reply instanceof Reply.All all && all.parts().size() == 1
        ? all.parts().getFirst()
        : reply;
  }

  /** Whether it was sent before another request, on the same connection. */
  public final boolean isBefore(SimSending other) {
    return connection == other.connection && ticket < other.ticket;
  }

  // ---------------------------------------------------------------- what becomes of it

  /** What it is about in the trace. */
  final Object about() {
    return witness == null ? "txn" : witness.about();
  }

  final void sends() {
    if (witness != null) {
      witness.sends(this);
    }
  }

  final void made(@Nullable SimNode at, Reply reply) {
    if (witness != null) {
      witness.made(this, at, only(reply));
    }
  }

  final void leaves(Reply reply) {
    if (witness != null) {
      witness.leaves(this, only(reply));
    }
  }

  final void hears(Reply reply) {
    if (witness != null) {
      witness.hears(this, only(reply));
    }
  }

  final void crashed() {
    if (witness != null) {
      witness.crashed(this);
    }
  }
}
