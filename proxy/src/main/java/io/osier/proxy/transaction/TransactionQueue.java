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
 * The steps of one transaction: they are brought to where it lives one after another, in the order
 * in which they were asked for. Thread-safe.
 */
public final class TransactionQueue {
  final StepDispatcher steps;
  private final String keyspace;
  private final TransactionId id;
  private final Coordinator home;
  private final VersionVector snapshot;

  /** Updates that wait for the next step. */
  private final List<Request.Update> buffered = new ArrayList<>();

  /** Updates of steps that the datacenter could not do: they go before those of the next one. */
  private final List<Request.Update> returned = new ArrayList<>();

  private final Queue<TransactionStep> waiting = new ArrayDeque<>();

  /** Whether a step is under way: those that come then wait. */
  private boolean isUnderWay;

  private int step = 1;
  private @Nullable String ended;

  /** Why no further step can be done, where the outcome of an earlier one may be unknown. */
  private @Nullable OsierException givenUp;

  /** The number of the step that aborts a transaction which cannot go on; 0 if none is needed. */
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

  /** Why the transaction takes no further steps; null while it is open. */
  public synchronized @Nullable OsierException ended() {
    return ended == null ? null : endedError();
  }

  /** Why nothing can be read in it any more; null while it can. */
  synchronized @Nullable OsierException over() {
    return ended != null ? endedError() : givenUp;
  }

  /**
   * Adds an update, which is sent with the next step.
   *
   * @return why it is refused; null if it is not
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
              + " updates wait to be sent, and one request has no more: a read in between"
              + " sends them");
    }
    buffered.add(update);
    return null;
  }

  private OsierException endedError() {
    return OsierException.of(
        ErrorCode.TRANSACTION_ENDED, "this transaction was " + ended + "; begin another one");
  }

  /** Asks for a step, with the updates that were added since the last one. */
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
   * Takes a place among the calls under way, which a step has until it is answered, also while it
   * waits for those before it: each of them has its own. Not under the lock, since this may wait.
   * An abort needs none, there is one at most: who closes a transaction does not wait.
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
   * Sends a step, and those that wait for it, in a loop as long as they are answered at once:
   * nested calls would need as much stack as there are steps. The thread that brings a later answer
   * continues the loop. It runs without the lock, since it sends; and one step at a time, since a
   * step's number depends on how the one before ended. Callers are told once nothing more can be
   * sent: a callback that waits for a further step would otherwise keep that from being sent.
   *
   * @param over steps that have ended, whose callers are to be told then
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
      // Callbacks must not wait for what this thread tells next, nor for room.
      CallbackThread.bring(over.isEmpty(), one::tell);
    }
  }

  private CompletableFuture<Reply.Transacted> sent(TransactionStep one) {
    try {
      Request.Transact request = request(one);
      return send(request, one).whenComplete((reply, error) -> giveBack(request, error));
    } catch (Throwable e) { // whoever waits for it, or behind it, is told
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Tells how a step ended; returns the one that is to be taken next, if there is one. */
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
    if (abort > 0) { // nothing is to be kept for what cannot go on
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

  /** Keeps the updates of a step that failed through no fault of theirs. */
  private synchronized void giveBack(Request.Transact step, @Nullable Throwable error) {
    if (error == null) {
      return;
    }
    OsierException failure = Calls.asOsier(error, false);
    if (failure instanceof OutcomeUnknownException) {
      return; // it has ended
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

  /** Takes note of how a step ended; returns what its caller is told, or null if it was done. */
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
        ended = "sent to be committed, with an unknown outcome";
        return failure;
      }
      // Whether this step was done is unknown, so the next one has no number. Nothing is visible
      // of what was not committed; the datacenter aborts it when its time is over.
      ended = "given up, because the answer to one of its steps was lost";
      abortBy = givenUp == null ? step + 2 : 0; // behind that one
      givenUp =
          OsierException.of(
              failure.code(),
              home.dc() + " did not answer a step in time; this transaction was " + ended);
      return givenUp;
    }
    if (failure.code() == ErrorCode.TRANSACTION_ENDED) {
      ended = "ended by its datacenter";
      givenUp = failure; // what waits would be taken for the step that was refused
    } else if (end == Request.End.COMMIT && failure.code() == ErrorCode.FORBIDDEN) {
      ended = "refused for a right that is missing, and aborted";
      givenUp = failure;
      abortBy = step + 1; // a newer datacenter has done so
    } else if (end == Request.End.COMMIT && givenUp == null && !one.givenUp) {
      ended = null; // refused: it may be mended and committed, or aborted
    }
    return failure;
  }

  // ---------------------------------------------------------------- for its steps

  synchronized boolean hasUpdates(TransactionStep step) {
    return !step.updates.isEmpty();
  }

  /** Takes a step back that waits for those before it; those behind it have its updates then. */
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

  /** A commit was given up before it was sent: the transaction is open again. */
  synchronized void reopen() {
    if (givenUp == null) {
      ended = null;
    }
  }
}
