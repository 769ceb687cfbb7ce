package io.osier.proxy.transaction;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.call.Coordinator;
import io.osier.proxy.connection.CallbackThread;
import io.osier.proxy.future.Calls;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Queues the steps of one transaction, and sends them to the coordinator one after another, in the
 * order of the calls. Thread-safe.
 */
public final class TransactionQueue {
  final StepDispatcher steps;
  private final String keyspace;
  private final TransactionId id;
  private final Coordinator home;
  private final VersionVector snapshot;

  /** Updates that wait for the next step. */
  private final List<Request.Update> buffered = new ArrayList<>();

  /**
   * Updates of steps that the coordinator could not do; the next step sends them before its own.
   */
  private final List<Request.Update> returned = new ArrayList<>();

  private final Queue<TransactionStep> waiting = new ArrayDeque<>();

  /** Whether a step is under way, so that further ones have to wait. */
  private boolean isUnderWay;

  private int step = 1;
  private @Nullable String ended;

  /**
   * Why no further step is sent, for example because an earlier step's outcome is unknown; null if
   * none.
   */
  private @Nullable OsierException givenUp;

  /**
   * The number of the step that aborts a transaction which cannot go on; 0 if no abort is needed.
   */
  private int abortBy;

  TransactionQueue(
      StepDispatcher steps,
      String keyspace,
      TransactionId id,
      Coordinator home,
      VersionVector snapshot) {
    this.steps = steps;
    this.keyspace = keyspace;
    this.id = id;
    this.home = home;
    this.snapshot = snapshot;
  }

  String keyspace() {
    return keyspace;
  }

  public Coordinator home() {
    return home;
  }

  public VersionVector snapshot() {
    return snapshot;
  }

  /** Returns why the transaction takes no further steps; null while it is open. */
  public synchronized @Nullable OsierException ended() {
    return ended == null ? null : endedError();
  }

  /** Returns why the transaction cannot read any more; null while it can. */
  synchronized @Nullable OsierException over() {
    return ended != null ? endedError() : givenUp;
  }

  /**
   * Adds an update, which is sent with the next step.
   *
   * @return why the update is refused; null if it is accepted
   */
  synchronized @Nullable OsierException add(Request.Update update) {
    if (ended != null) {
      return endedError();
    }
    int waits = buffered.size() + returned.size();
    if (waits >= Request.TRANSACTION_STEP_MAX) {
      return OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          waits
              + " updates wait to be sent, which is the most that one request carries: read"
              + " something in between, which sends them");
    }
    buffered.add(update);
    return null;
  }

  private OsierException endedError() {
    return OsierException.of(
        ErrorCode.TRANSACTION_ENDED, "this transaction was " + ended + "; begin another one");
  }

  /**
   * Queues a step with the updates that were added since the last one, and sends it if none is
   * under way.
   */
  CompletableFuture<Reply.Transacted> step(List<Request.Fetch> reads, Request.End end) {
    OsierException refused = enter(end);
    if (refused != null) {
      return CompletableFuture.failedFuture(refused);
    }
    TransactionStep asked;
    synchronized (this) {
      if (ended != null) {
        if (end != Request.End.ABORT) {
          steps.leave();
        }
        return CompletableFuture.failedFuture(endedError());
      }
      asked =
          new TransactionStep(
              this, end == Request.End.ABORT ? List.of() : List.copyOf(buffered), reads, end);
      buffered.clear();
      if (end != Request.End.OPEN) {
        ended = end == Request.End.COMMIT ? "committed" : "aborted";
      }
      if (isUnderWay) {
        waiting.add(asked);
        return asked.done;
      }
      isUnderWay = true;
    }
    take(asked, new ArrayDeque<>());
    return asked.done;
  }

  /**
   * Counts a step as a call under way until it is answered, also while it waits for earlier steps.
   * Called without the lock, since this may block. An abort is not counted, so that closing a
   * transaction does not block; there is one at most.
   */
  private @Nullable OsierException enter(Request.End end) {
    synchronized (this) {
      if (ended != null) {
        return endedError();
      }
    }
    return end == Request.End.ABORT ? null : steps.enter();
  }

  /**
   * Sends a step and the steps that wait for it, in a loop as long as they are answered at once:
   * nested calls would need as much stack as there are steps. The thread that delivers a later
   * answer continues the loop. The loop runs without the lock, since it sends, and sends one step
   * at a time, since a step's number depends on the outcome of the step before. Callers are told
   * after the loop: a callback that waits for a further step would otherwise keep that step from
   * being sent.
   *
   * @param over steps that have ended, whose callers are told after the loop
   */
  private void take(@Nullable TransactionStep first, Queue<TransactionStep> over) {
    TransactionStep now = first;
    while (now != null) {
      TransactionStep one = now;
      var unused =
          sent(one)
              .whenComplete(
                  (reply, error) -> {
                    one.next = finish(one, reply, error);
                    if (one.met.getAndSet(true)) {
                      take(one.next, new ArrayDeque<>(List.of(one)));
                    }
                  });
      if (!one.met.getAndSet(true)) {
        break;
      }
      over.add(one);
      now = one.next;
    }
    while (!over.isEmpty()) {
      TransactionStep one = over.remove();
      // Callbacks must not wait for answers that this thread delivers next, nor for the limit of
      // calls.
      CallbackThread.bring(over.isEmpty(), one::tell);
    }
  }

  private CompletableFuture<Reply.Transacted> sent(TransactionStep one) {
    try {
      Request.Transact request = request(one);
      return send(request, one).whenComplete((reply, error) -> giveBack(request, error));
    } catch (Throwable e) { // so that the step, and those behind it, still end
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Notes how a step ended; returns the step to send next, or null if none waits. */
  private @Nullable TransactionStep finish(
      TransactionStep one, Reply.@Nullable Transacted reply, @Nullable Throwable error) {
    TransactionStep next;
    int abort;
    synchronized (this) {
      abortBy = 0;
      one.ended(reply, note(one, error));
      abort = abortBy;
      next = waiting.poll();
      isUnderWay = next != null;
    }
    one.leaveFirst();
    if (abort > 0) { // the coordinator need not keep it
      Request.Transact end =
          new Request.Transact(
              keyspace, id, abort, Optional.empty(), List.of(), List.of(), Request.End.ABORT);
      var unused = steps.step(keyspace, home, snapshot, end, by -> {});
    }
    return next;
  }

  private synchronized Request.Transact request(TransactionStep one) {
    List<Request.Update> all = one.updates;
    if (one.end != Request.End.ABORT && !returned.isEmpty()) {
      all = new ArrayList<>(returned);
      all.addAll(one.updates);
      returned.clear();
    }
    return new Request.Transact(keyspace, id, step + 1, Optional.empty(), all, one.reads, one.end);
  }

  /** Keeps the updates of a failed step for the next one, if the updates were not the cause. */
  private synchronized void giveBack(Request.Transact step, @Nullable Throwable error) {
    if (error == null) {
      return;
    }
    OsierException failure = Calls.asOsier(error, false);
    if (failure instanceof OutcomeUnknownException) {
      return; // the transaction has ended
    }
    switch (failure.code()) {
      case OVERLOADED,
          STORE_FULL,
          UNAVAILABLE,
          SHUTTING_DOWN,
          REFUSED_BY_PEERS,
          TIMEOUT,
          CANCELLED ->
          returned.addAll(step.updates());
      default -> {}
    }
  }

  private CompletableFuture<Reply.Transacted> send(Request.Transact request, TransactionStep one) {
    OsierException before;
    synchronized (this) {
      before = givenUp;
    }
    return before != null
        ? CompletableFuture.failedFuture(before)
        : steps.step(keyspace, home, snapshot, request, one::sentBy);
  }

  /** Notes how a step ended; returns the error for its caller, or null if it was done. */
  private synchronized @Nullable OsierException note(
      TransactionStep one, @Nullable Throwable error) {
    Request.End end = one.end;
    if (error == null) {
      step++;
      return null;
    }
    OsierException failure = Calls.asOsier(error, false);
    if (failure instanceof OutcomeUnknownException) {
      if (end == Request.End.COMMIT) {
        ended = "sent to be committed; its outcome is unknown";
        return failure;
      }
      // Whether this step was done is unknown, so the next step's number is unknown, too.
      // Uncommitted updates are never visible; the coordinator aborts the transaction at its time
      // limit.
      ended = "abandoned, because the answer to one of its steps was lost";
      abortBy = givenUp == null ? step + 2 : 0; // after that step
      givenUp =
          OsierException.of(
              failure.code(),
              home.dc() + " did not answer a step in time; this transaction was " + ended);
      return givenUp;
    }
    if (failure.code() == ErrorCode.TRANSACTION_ENDED) {
      ended = "ended by its datacenter";
      givenUp = failure; // a waiting step would have the refused step's number
    } else if (end == Request.End.COMMIT && failure.code() == ErrorCode.FORBIDDEN) {
      ended = "aborted, because its user lacks a right that the commit needs";
      givenUp = failure;
      abortBy = step + 1; // newer datacenters abort by themselves
    } else if (end == Request.End.COMMIT && givenUp == null && !one.givenUp) {
      ended = null; // refused: the caller may correct it and commit, or abort
    }
    return failure;
  }

  // ---------------------------------------------------------------- for its steps

  synchronized boolean hasUpdates(TransactionStep step) {
    return !step.updates.isEmpty();
  }

  /** Removes a step that still waits for earlier ones; its updates go to the step behind it. */
  synchronized boolean withdraw(TransactionStep step) {
    TransactionStep behind = null;
    boolean found = false;
    for (TransactionStep each : waiting) {
      if (found) {
        behind = each;
        break;
      }
      found = each == step;
    }
    if (!found) {
      return false;
    }
    waiting.remove(step);
    if (behind == null) {
      buffered.addAll(0, step.updates);
    } else if (behind.end != Request.End.ABORT) {
      List<Request.Update> all = new ArrayList<>(step.updates);
      all.addAll(behind.updates);
      behind.updates = all;
    }
    return true;
  }

  /** Opens the transaction again, after a commit was given up before it was sent. */
  synchronized void reopen() {
    if (givenUp == null) {
      ended = null;
    }
  }
}
