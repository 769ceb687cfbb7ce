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

/** One sending of a {@link Call} to one datacenter, and what comes of it. */
public final class CallAttempt extends SendState implements Connection.Answered {
  private final Call<?> call;
  private final Connection to;
  private final ReplicaId replica;

  /** The partition that is asked; -1 for none in particular. */
  private final int partition;

  /** Whether it does not hold the keyspace, and asks somebody else. */
  private final boolean forwarded;

  /** Guarded by the lock of the session's past. */
  private final RequestContext context;

  private final Request sent;

  /** A step, as it is asked for once it may have arrived; null if it is not. */
  private final Request.@Nullable Repeat again;

  /** Ends the waiting for the answer. */
  private volatile Runnable end = () -> {};

  /** Called with the lock of the session's past held. */
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
   * Sends a call with no lock held: within the process the sender may be the one who answers other
   * calls, and runs their callers' code.
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
      if (!call.asksWhoHolds(to)) { // what it told may be of a former keyspace of this name
        call.fail(past.misfit(call.keyspace, info.partitioning()));
      }
    } else {
      call.begins(next);
      // What this one covers is not known to a process that was started anew, nor of a connection
      // that was made anew: they must not get the request.
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

  /** Nobody waits for the answer any more. */
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

  /** If nobody was asked in its stead, why it did not go to a holder itself is said, too. */
  private Reply.Failure inWords(Reply.Failure failure) {
    return forwarded && failure.code() == ErrorCode.UNAVAILABLE
        ? new Reply.Failure(
            failure.code(),
            call.session.unreachable(call.keyspace).reason() + "; " + failure.message())
        : failure;
  }

  /** Gives up what a datacenter lacks, and asks it again. */
  private void goOn(Reply.Failure failure) {
    DatacenterQueries.through(
            to, call.keyspace, partition, call.tries.leftMillis(call.timers.nanoTime()))
        .whenComplete(
            (there, error) -> {
              Reply.KeyspaceInfo info = call.infoAt(to);
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
