package io.osier.proxy.transaction;

import io.osier.core.OsierException;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.call.StepSender;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.CallFuture.GivenUp;
import io.osier.proxy.future.Calls;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A step of a transaction: its updates and reads, and its caller's future. Thread-safe. */
public final class TransactionStep implements CallFuture.Work {
  private final TransactionQueue queue;

  /** Guarded by the queue's lock. */
  List<Request.Update> updates;

  final List<Request.Fetch> reads;
  final Request.End end;
  final CallFuture<Reply.Transacted> done = new CallFuture<>(this);

  /**
   * Set by the thread that sends the step and by the thread that delivers its answer; the later one
   * of the two continues the queue's loop.
   */
  final AtomicBoolean met = new AtomicBoolean();

  /** Whether the step no longer counts as a call under way. */
  private final AtomicBoolean left = new AtomicBoolean();

  /** Whether the caller has given the step up. */
  volatile boolean givenUp;

  /** The step's sender; null until the step is sent. */
  private volatile @Nullable StepSender sender;

  /** The step to send after this one; set when this one ends; null if none waits. */
  volatile @Nullable TransactionStep next;

  private volatile Reply.@Nullable Transacted reply;
  private volatile @Nullable OsierException failure;

  TransactionStep(
      TransactionQueue queue,
      List<Request.Update> updates,
      List<Request.Fetch> reads,
      Request.End end) {
    this.queue = queue;
    this.updates = updates;
    this.reads = reads;
    this.end = end;
  }

  /** Ends the counting of the step as a call under way; an abort is not counted. */
  void leave() {
    if (end != Request.End.ABORT && !left.getAndSet(true)) {
      queue.steps.leave();
    }
  }

  /**
   * Calls {@link #leave} before callbacks run, since these may make further steps; but a client
   * that is closing waits until callers have been told.
   */
  void leaveFirst() {
    if (!queue.steps.isClosing()) {
      leave();
    }
  }

  void sentBy(StepSender by) {
    sender = by;
    if (givenUp) {
      by.giveUp();
    }
  }

  /**
   * Ends the counting of the step at once. A step that was sent goes on by itself, since later
   * steps depend on its outcome; an abort is done all the same.
   */
  @Override
  public void giveUp(GivenUp why) {
    if (end == Request.End.ABORT) {
      done.fail(
          OsierException.of(why.code(), why.why() + "; the transaction is aborted all the same"));
      return;
    }
    givenUp = true;
    boolean hasUpdates = queue.hasUpdates(this);
    StepSender by = sender;
    boolean isUndone = queue.withdraw(this) || by == null || by.giveUp();
    if (isUndone && end == Request.End.COMMIT) {
      queue.reopen();
    }
    leaveFirst();
    done.fail(outcome(why, isUndone, hasUpdates));
    leave();
  }

  private OsierException outcome(GivenUp why, boolean isUndone, boolean hasUpdates) {
    if (!isUndone && end == Request.End.COMMIT) {
      return new OutcomeUnknownException(why.code(), why.why());
    }
    return hasUpdates
        ? OsierException.of(
            why.code(),
            "the caller cancelled the step, but its updates stay in the transaction: " + why.why())
        : Calls.error(why);
  }

  void ended(Reply.@Nullable Transacted answer, @Nullable OsierException error) {
    reply = answer;
    failure = error;
  }

  void tell() {
    OsierException error = failure;
    if (error == null) {
      done.succeed(reply);
    } else {
      done.fail(error);
    }
    leave();
  }
}
