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

/**
 * A step of a transaction that was asked for: what it is to do, and the future of whoever asked.
 * Thread-safe.
 */
public final class TransactionStep implements CallFuture.Work {
  private final TransactionQueue queue;

  /** Guarded by the queue's lock. */
  List<Request.Update> updates;

  final List<Request.Fetch> reads;
  final Request.End end;
  final CallFuture<Reply.Transacted> done = new CallFuture<>(this);

  /**
   * Set by the thread that sends the step and by the one that brings its answer: the later goes on.
   */
  final AtomicBoolean met = new AtomicBoolean();

  /** Whether it has left its place among the calls under way. */
  private final AtomicBoolean left = new AtomicBoolean();

  /** Whether nobody waits for it any more. */
  volatile boolean givenUp;

  /** What brings it to its datacenter; null until that begins. */
  private volatile @Nullable StepSender sender;

  /** The step that follows this one, once this has ended. */
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

  /** Leaves its place; an abort has none. */
  void leave() {
    if (end != Request.End.ABORT && !left.getAndSet(true)) {
      queue.steps.leave();
    }
  }

  /** Callbacks may ask for further steps; but who closes the client waits until they are told. */
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
   * Frees its place at once. One that was sent goes on by itself, since those behind it need to
   * know how it ends; and an abort is done all the same.
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
            "the step was given up, but its updates stay in the transaction: " + why.why())
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
