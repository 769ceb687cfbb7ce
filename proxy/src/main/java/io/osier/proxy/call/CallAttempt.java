package io.osier.proxy.call;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.client.TracedAnswers;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.RequestContext;
import io.osier.proxy.session.SessionContext;
import org.jspecify.annotations.Nullable;

/** One try of a {@link Call}: sends it to one datacenter, and handles the answer or its absence. */
public final class CallAttempt extends SendState implements Connection.Answered {
  private final Call<?> call;
  private final Connection to;
  private final ReplicaId replica;

  /** The partition that the request is for; -1 if it is for no single partition. */
  private final int partition;

  /**
   * Whether the datacenter does not hold the keyspace, so that it forwards the request to a holder.
   */
  private final boolean forwarded;

  /** Guarded by the lock of the session's context. */
  private final RequestContext context;

  private final Request sent;

  /** The request that repeats a transaction's step whose answer was lost; null for other calls. */
  private final Request.@Nullable Repeat again;

  /** Makes the connection stop waiting for the answer. */
  private volatile Runnable end = () -> {};

  /** Called with the lock of the session's context held. */
  private CallAttempt(Call<?> call, Connection to, ReplicaId replica, int partition, long now) {
    this.call = call;
    this.to = to;
    this.replica = replica;
    this.partition = partition;
    this.forwarded = to.keyspace(call.keyspace) == null;
    this.context =
        new RequestContext(
            call.session.past(), call.keyspace, partition, replica, call.update, forwarded);
    this.sent = call.request(context.after(), context.isOrdered(), call.tries.waitMillis(now));
    boolean isStep = call.update && call.isRepeatable();
    this.again = isStep ? context.again((Request.Transact) sent) : null;
  }

  /**
   * Sends a call, holding no lock: with a datacenter in the process the sending thread may also
   * deliver other calls' answers, and then runs their callers' code.
   */
  static void send(Call<?> call, Connection to, Reply.KeyspaceInfo info, long now) {
    ReplicaId replica = requireNonNull(to.replica()); // it has told its keyspaces
    SessionContext past = call.session.past();
    ReplicaId left;
    CallAttempt next = null;
    synchronized (past) {
      left = past.moveTo(call.keyspace, replica);
      if (past.clocks(call.keyspace).fits(info.partitioning())) {
        next = new CallAttempt(call, to, replica, call.partition(info), now);
      }
    }
    call.toldWhether(info.causal());
    call.session.moved(left, replica);
    if (next == null) {
      if (!call.asksWhoHolds(to)) { // it may have told of a former keyspace
        call.fail(past.misfit(call.keyspace, info.partitioning()));
      }
    } else {
      call.begins(next);
      // The request relies on what this process has answered to the session over this connection. A
      // restarted process, or a new connection, must not get it.
      to.send(replica, next.sent, now, call.tries.deadlineNanos(), next);
    }
  }

  @Override
  public boolean begins() {
    return call.isOver() ? !withdraw() : super.begins();
  }

  @Override
  public boolean isWanted() {
    return !call.isOver() || call.hearsLate();
  }

  @Override
  public void endsBy(Runnable ending) {
    end = ending;
    if (!isWanted()) {
      ending.run();
    }
  }

  /** Makes the connection stop waiting, since the caller has given the call up. */
  void forget() {
    end.run();
  }

  @Override
  public void answered(Reply reply) {
    synchronized (call.session.past()) {
      context.ended();
      if (!(reply instanceof Reply.Failure)) {
        context.saw(reply, call.waitsForPast(), call.showsOthersPast());
      }
    }
    call.answeredAt(to, replica);
    TracedAnswers traces = call.client.settings().listeners().traces();
    if (call.update && traces.isOn()) {
      traces.answered(
          call.keyspace, partition, to.dc(), reply, call.timers.nanoTime() - call.startNanos);
    }
    if (reply instanceof Reply.Failure f) {
      refused(f);
    } else {
      call.answer(reply);
    }
  }

  @Override
  public void lost(LostException cause) {
    if (again == null || !cause.isSent() || cause.code() != ErrorCode.UNAVAILABLE) {
      unanswered(cause);
      return;
    }
    StepSender sender =
        new StepSender(
            call.client, new Coordinator(to, replica), again, call.tries.deadlineNanos());
    endsBy(sender::giveUp);
    sender
        .again()
        .whenComplete(
            (reply, error) -> {
              if (error == null) {
                answered(reply);
              } else {
                unanswered(error);
              }
            });
  }

  private void refused(Reply.Failure failure) {
    if (call.isOver()) {
      return;
    }
    if (failure.code() != ErrorCode.TIMEOUT) {
      isUndone();
    }
    call.client.settings().metrics().failed(to.dc(), failure.code());
    if (failure.code() == ErrorCode.UNKNOWN_KEYSPACE && call.asksWhoHolds(to)) {
      return;
    }
    boolean asked = !context.after().isEmpty();
    RetryPolicy.Next next =
        call.tries.refused(call.timers.nanoTime(), to.dc(), inWords(failure), asked);
    if (next instanceof RetryPolicy.Next.GoOn) {
      goOn(failure);
    } else {
      call.act(next);
    }
  }

  /** Adds to the error of a forwarder that reached no holder why the client itself reached none. */
  private Reply.Failure inWords(Reply.Failure failure) {
    return forwarded && failure.code() == ErrorCode.UNAVAILABLE
        ? new Reply.Failure(
            failure.code(),
            call.session.unreachable(call.keyspace).reason() + "; " + failure.message())
        : failure;
  }

  /** Gives up the updates that the datacenter lacks, and sends the call to it again. */
  private void goOn(Reply.Failure failure) {
    DatacenterQueries.through(
            to, call.keyspace, partition, call.tries.leftMillis(call.timers.nanoTime()))
        .whenComplete(
            (there, error) -> {
              Reply.KeyspaceInfo info = to.told(call.keyspace);
              long now = call.timers.nanoTime();
              if (error == null
                  && info != null
                  && call.tries.tooLate(now, to.roundTripNanos()) == null
                  && call.session.goOn(call.keyspace, partition, context.after(), there)) {
                send(call, to, info, now);
              } else {
                call.fail(Calls.failed(failure, call.update));
              }
            });
  }

  private void unanswered(Throwable error) {
    synchronized (call.session.past()) {
      context.ended();
    }
    if (call.isOver()) {
      return;
    }
    OsierException outcome = call.tries.outcome(to.name(), error);
    if (!(outcome instanceof OutcomeUnknownException)) {
      isUndone();
    }
    call.client.settings().metrics().failed(to.dc(), outcome.code());
    call.act(call.tries.lost(call.timers.nanoTime(), to.dc(), outcome));
  }
}
