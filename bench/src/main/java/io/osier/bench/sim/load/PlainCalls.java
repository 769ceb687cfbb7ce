package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimApp;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import io.osier.proxy.Keyspace;
import io.osier.proxy.LostException;
import io.osier.proxy.OutcomeUnknownException;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Sends the calls of a session in one unit as the protocol defines a session, without production's
 * client, and repeats none. The first request over a connection carries the version vector of the
 * session; once a request that carried all of it is answered the next ones need not. After an
 * answer of a datacenter that the session has left meanwhile, requests carry the vector again.
 */
final class PlainCalls implements SessionCalls {
  private static final int WAIT_MILLIS = 3_000;

  private static final long PATIENCE_NANOS = 8_000 * MILLI;

  private final Simulation simulation;
  private final SimApp app;
  private final Unit unit;
  private final Random random;
  private String home;
  private VersionVector seen = VersionVector.EMPTY;

  /** The connection, by its identity, that needs no version vector; null if each needs it. */
  private @Nullable ReplicaId attachedTo;

  /**
   * Counts moves, and answers of datacenters other than home: requests sent before do not carry
   * what was seen by them.
   */
  private long strangers;

  /** Updates without an answer: reads that are sent behind them wait for them. */
  private int openUpdates;

  PlainCalls(Simulation simulation, SimApp app, Unit unit, Random random) {
    this.simulation = simulation;
    this.app = app;
    this.unit = unit;
    this.random = random;
    this.home = simulation.anyDc(random);
  }

  @Override
  public void move() {
    home = simulation.anyDc(random);
    detach();
  }

  @Override
  public void forget() {
    seen = VersionVector.EMPTY;
    detach();
  }

  private void detach() {
    attachedTo = null;
    strangers++;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // each new connection yields a new object
  public CompletableFuture<?> send(SessionCall call, long number) {
    Connection over = app.connection(home);
    ReplicaId to = over.replica();
    VersionVector after = to != null && to == attachedTo ? VersionVector.EMPTY : seen;
    Request request = request(call, after);
    Answer answer = new Answer(call, to);
    openUpdates += call.task.isWrite() ? 1 : 0;
    long now = simulation.scheduler().nanos();
    over.send(request, now, now + PATIENCE_NANOS, answer);
    return answer.result;
  }

  private Request request(SessionCall call, VersionVector after) {
    ObjectId object = call.object();
    String keyspace = unit.policy().name();
    return call.task.isWrite()
        ? new Request.Write(
            keyspace,
            object.key(),
            object.type(),
            call.task.operation().orElseThrow(),
            after,
            WAIT_MILLIS,
            call.ask,
            call.condition)
        : new Request.Read(
            keyspace,
            object.key(),
            Optional.of(object.type()),
            call.task.query(),
            after,
            openUpdates > 0,
            WAIT_MILLIS);
  }

  private void saw(@Nullable ReplicaId at, long strangersBefore, VersionVector vector) {
    seen = seen.join(vector);
    if (at != null && !at.dc().equals(home)) {
      detach();
    } else if (strangersBefore == strangers) {
      attachedTo = at;
    }
  }

  /** Waits for the answer to one request. */
  private final class Answer implements Connection.Answered {
    final CompletableFuture<Object> result = new CompletableFuture<>();
    private final SessionCall call;
    private final @Nullable ReplicaId at;
    private final long strangersBefore = strangers;

    Answer(SessionCall call, @Nullable ReplicaId at) {
      this.call = call;
      this.at = at;
    }

    @Override
    public void answered(Reply reply) {
      openUpdates -= call.task.isWrite() ? 1 : 0;
      switch (reply) {
        case Reply.Done d -> {
          VersionVector own = VersionVector.of(d.dot().replica(), d.dot().number());
          saw(at, strangersBefore, d.answer().map(a -> a.seen().join(own)).orElse(own));
          result.complete(
              call.condition.isPresent() ? true : d.answer().map(PlainCalls::found).orElse(null));
        }
        case Reply.Answer a -> {
          saw(at, strangersBefore, a.seen());
          result.complete(call.task.isWrite() ? false : found(a));
        }
        case Reply.Failure f -> fail(f.code(), f.message(), f.code() == ErrorCode.TIMEOUT);
        default -> throw new IllegalStateException("unexpected " + reply);
      }
    }

    @Override
    public void lost(LostException cause) {
      openUpdates -= call.task.isWrite() ? 1 : 0;
      fail(cause.code(), cause.getMessage(), cause.isSent());
    }

    private void fail(ErrorCode code, String message, boolean mayBeDone) {
      result.completeExceptionally(
          mayBeDone && call.task.isWrite()
              ? new OutcomeUnknownException(code, message)
              : OsierException.of(code, message));
    }
  }

  private static Keyspace.Found found(Reply.Answer answer) {
    return new Keyspace.Found(answer.type(), answer.reading(), answer.exists());
  }
}
