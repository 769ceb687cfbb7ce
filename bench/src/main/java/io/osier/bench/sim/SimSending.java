package io.osier.bench.sim;

import java.util.Random;
import io.osier.core.ErrorCode;
import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One sending of a request, by a client of production. */
class SimSending {
  private static final ErrorCode[] REFUSALS = {
    ErrorCode.OVERLOADED, ErrorCode.SHUTTING_DOWN, ErrorCode.STORE_FULL, ErrorCode.UNAVAILABLE
  };

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
  SimSending(
      Object connection, ReplicaId to, Request request, @Nullable SimWitness witness, long ticket) {
    this.connection = connection;
    this.to = to;
    this.request = request;
    this.witness = witness;
    this.ticket = ticket;
  }

  /** To whom it is sent. */
  final ReplicaId to() {
    return to;
  }

  final Request request() {
    return request;
  }

  final long ticket() {
    return ticket;
  }

  /** The object covers this while it is read. */
  final void shows(CausalContext covered) {
    shown = covered;
  }

  /** What the object covered when it was read. */
  final CausalContext shown() {
    return shown;
  }

  /** Writes of it into the trace. */
  final void trace(Simulation simulation, SimApp app, String does, Object what) {
    if (simulation.trace().keepsEvents()) {
      Unit unit = simulation.unit(request);
      simulation.trace().about(unit, about(), "%s %s %s (%d): %s", app, does, to, ticket, what);
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
        new Connection.Answered() {
          @Override
          public void answered(Reply r) {
            reply.complete(r);
          }

          @Override
          public void lost(LostException cause) {
            reply.completeExceptionally(cause);
          }
        });
    return reply;
  }

  /** One of so many is the last on its connection: most often what its client asks for again. */
  final int lostOneIn() {
    return switch (request) {
      case Request.Transact t -> t.end() == Request.End.COMMIT ? 4 : 12;
      case Request.Read r -> 60;
      case Request.Write w -> 60;
      case Request.ReadAll r -> 60;
      case Request.WriteAll w -> 60;
      case Request.Scan s -> 60;
      default -> 12;
    };
  }

  /** One of so many is refused before the datacenter looks at it: a repeat it may have done. */
  final int refusedOneIn() {
    return request instanceof Request.Repeat ? 2 : 80;
  }

  /** What a datacenter says that does not look at a request. */
  static Reply.Failure refusal(Random random) {
    return new Reply.Failure(REFUSALS[random.nextInt(REFUSALS.length)], "nothing was done: not now");
  }

  /** What a batch of one part is answered of it. */
  private static Reply only(Reply reply) {
    return reply instanceof Reply.All all && all.parts().size() == 1
        ? all.parts().getFirst()
        : reply;
  }

  /** Whether it was sent on the same connection as another one, and before that. */
  final boolean isBefore(SimSending other) {
    return connection == other.connection && ticket < other.ticket;
  }

  // ---------------------------------------------------------------- what becomes of it

  /** What the trace knows it by. */
  final Object about() {
    return witness == null ? "txn" : witness.about();
  }

  final void sends() {
    if (witness != null) {
      witness.sends(this);
    }
  }

  final void made(SimNode at, Reply reply) {
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
