package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.CallFuture.GivenUp;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.values.Values;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An open transaction of a {@code causal} keyspace. Its reads see one causally consistent snapshot,
 * always the same, and its own updates; its updates become visible with the commit, together, at
 * every datacenter. A commit never fails because of others' updates: those are merged.
 *
 * <p>It lives at the datacenter where it began. When the connection is lost it goes on as soon as
 * the same process is reached again; a commit whose answer was lost is asked for again, and not
 * done twice. If that is not possible within the client's time limit, the commit's outcome is
 * unknown ({@link OutcomeUnknownException}).
 *
 * <p>Updates are sent with the next read or the commit, and it is there that their errors appear; a
 * step that fails has done nothing, and the transaction may go on, unless the step's answer was
 * lost: then nothing of the transaction is done, and it has ended. If the datacenter could not do
 * the step (OVERLOADED, STORE_FULL, UNAVAILABLE, SHUTTING_DOWN, REFUSED_BY_PEERS, TIMEOUT), or its
 * caller gave it up before it was sent (CANCELLED), its updates are sent once more with the next
 * one; if something is wrong with it, they are forgotten. A step that was given up when it was sent
 * is done all the same, and those behind it wait for it; the error of one that had updates says
 * that they stay in the transaction. Steps take place in the order in which they are asked for.
 * Thread-safe.
 */
public final class Transaction extends ObjectSpace implements AutoCloseable {
  private static final CrdtType FIRST_TYPE = CrdtType.values()[0];

  private final Session session;
  private final String keyspace;
  private final TransactionId id;
  private final Home home;
  private final VersionVector snapshot;
  private final List<Request.Update> buffered = new ArrayList<>();

  /** All objects that were to be updated; as many as a transaction may have updates. */
  private final TreeSet<ObjectId> updated = new TreeSet<>();

  /** Updates of steps that the datacenter could not do: they go before those of the next one. */
  private final List<Request.Update> returned = new ArrayList<>();

  /** Steps that wait for those before them. */
  private final Queue<Step> waiting = new ArrayDeque<>();

  /** Whether a step is under way: those that come then wait. */
  private boolean isUnderWay;

  private int step = 1;
  private @Nullable String ended;

  /** Why no further step can be done, if it may be unknown whether one was. */
  private @Nullable OsierException givenUp;

  /** By which step its datacenter is to end what cannot go on; 0 where it need not be told. */
  private int abortBy;

  /** A step that was asked for. */
  private final class Step implements CallFuture.Work {
    /** Guarded by the transaction's lock. */
    List<Request.Update> updates;

    final List<Request.Fetch> reads;
    final Request.End end;
    final CallFuture<Reply.Transacted> done = new CallFuture<>(this);

    /** Whether one of two was here: who has sent it, and who brings its answer. */
    final AtomicBoolean met = new AtomicBoolean();

    /** Whether it has left its place among the calls under way. */
    private final AtomicBoolean left = new AtomicBoolean();

    /** Whether nobody waits for it any more. */
    volatile boolean givenUp;

    /** What brings it to its datacenter; null until that begins. */
    private volatile @Nullable StepDelivery delivery;

    /** What comes next, once this is over; and how this ended. */
    volatile @Nullable Step next;

    private volatile Reply.@Nullable Transacted reply;
    private volatile @Nullable OsierException failure;

    Step(List<Request.Update> updates, List<Request.Fetch> reads, Request.End end) {
      this.updates = updates;
      this.reads = reads;
      this.end = end;
    }

    /** Leaves its place; an abort has none. */
    void leave() {
      if (end != Request.End.ABORT && !left.getAndSet(true)) {
        session.steps().leave();
      }
    }

    /** Callbacks may ask for further steps; but who closes the client waits until they are told. */
    void leaveFirst() {
      if (!session.client().isClosing()) {
        leave();
      }
    }

    void delivers(StepDelivery by) {
      delivery = by;
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
            new OsierException(
                why.code(), why.why() + "; the transaction is aborted all the same"));
        return;
      }
      givenUp = true;
      boolean hasUpdates = hasUpdates(this);
      StepDelivery by = delivery;
      boolean isUndone = withdraw(this) || by == null || by.giveUp();
      if (isUndone && end == Request.End.COMMIT) {
        reopen();
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
          ? new OsierException(
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

  private synchronized boolean hasUpdates(Step step) {
    return !step.updates.isEmpty();
  }

  /** Takes a step back that waits for those before it; those behind it have its updates then. */
  private synchronized boolean withdraw(Step step) {
    Step behind = null;
    boolean found = false;
    for (Step each : waiting) {
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

  /** A commit was given up before it was sent. */
  private synchronized void reopen() {
    if (givenUp == null) {
      ended = null;
    }
  }

  Transaction(
      Session session, String keyspace, TransactionId id, Home home, VersionVector snapshot) {
    this.session = session;
    this.keyspace = keyspace;
    this.id = id;
    this.home = home;
    this.snapshot = snapshot;
  }

  /** What its snapshot contains. */
  public VersionVector clock() {
    return snapshot;
  }

  /** The datacenter where it lives. */
  public String datacenter() {
    return home.dc();
  }

  @Override
  Values values() {
    return session.values();
  }

  /** What a scan needs of this. */
  private final class Scanned implements SnapshotScan.Within {
    @Override
    public CompletableFuture<Reply.Page> known(Scan part, int rows) {
      Request.Scan request = SnapshotScan.known(keyspace, part, rows);
      OsierException over = over();
      return over != null
          ? CompletableFuture.failedFuture(over)
          : session.steps().known(home, request);
    }

    @Override
    public List<ObjectId> own(Optional<Key> from, Optional<Key> to, int limit) {
      return updatedOf(from, to, limit);
    }

    @Override
    public CompletableFuture<List<Found>> read(List<Keyspace.Get> reads) {
      return readTogetherAsync(reads);
    }
  }

  private synchronized @Nullable OsierException over() {
    return ended != null ? endedError() : givenUp;
  }

  /** Objects that were updated here, in order. */
  private synchronized List<ObjectId> updatedOf(Optional<Key> from, Optional<Key> to, int limit) {
    SortedSet<ObjectId> behind =
        from.isEmpty() ? updated : updated.tailSet(new ObjectId(from.get(), FIRST_TYPE));
    return behind.stream()
        .takeWhile(o -> to.isEmpty() || o.key().compareTo(to.get()) < 0)
        .limit(limit)
        .toList();
  }

  @Override
  CompletableFuture<Keyspace.Page> firstPage(Scan scan) {
    return new SnapshotScan(new Scanned()).page(scan);
  }

  @Override
  CompletableFuture<Long> countAll(Scan scan) {
    return new SnapshotScan(new Scanned()).count(scan);
  }

  @Override
  CompletableFuture<Found> updateKeyAsync(Key key, Operation operation, Request.Ask ask) {
    OsierException wrong = Checks.update(key, Operation.ANY_TYPE, operation, ask);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    return readAsync(key, Optional.empty(), ask.query())
        .thenCompose(found -> update(key, Operation.ANY_TYPE, operation).thenApply(done -> found));
  }

  /**
   * Updates an object with any operation.
   *
   * @return completes at once: the update is sent with the next read or the commit
   */
  public synchronized CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    OsierException wrong = ended != null ? endedError() : Checks.update(key, type, operation);
    int waiting = buffered.size() + returned.size();
    if (wrong == null && waiting >= Request.TRANSACTION_STEP_MAX) {
      wrong =
          new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              waiting
                  + " updates wait to be sent, and one request has no more: a read in between"
                  + " sends them");
    }
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    buffered.add(new Request.Update(key, type, operation));
    if (!operation.isOfKey()) { // it makes no object
      updated.add(new ObjectId(key, type));
    }
    return CallFuture.completed(null); // what is derived from it may be a call
  }

  @Override
  CompletableFuture<Void> updateObject(Key key, CrdtType type, Operation operation) {
    return update(key, type, operation);
  }

  @Override
  <T> CompletableFuture<T> updateObject(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Reading, T> result) {
    return reading(updateAsync(key, type, operation, ask), result);
  }

  @Override
  <T> CompletableFuture<T> readObject(
      Key key, CrdtType type, Query query, Function<Reading, T> result) {
    return reading(readAsync(key, Optional.of(type), query), result);
  }

  private static <T> CompletableFuture<T> reading(
      CompletableFuture<Found> found, Function<Reading, T> result) {
    return found.thenApply(f -> result.apply(f.reading().orElseThrow()));
  }

  /**
   * Updates an object with any operation, and asks something of it as this transaction sees it.
   *
   * @return completes with the answer; the update is visible elsewhere with the commit
   */
  public CompletableFuture<Found> updateAsync(
      Key key, CrdtType type, Operation operation, Request.Ask ask) {
    OsierException wrong = Checks.update(key, type, operation, ask);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    Optional<CrdtType> typed = Optional.of(type);
    return ask.before()
        ? readAsync(key, typed, ask.query())
            .thenCompose(found -> update(key, type, operation).thenApply(done -> found))
        : update(key, type, operation).thenCompose(done -> readAsync(key, typed, ask.query()));
  }

  /**
   * Updates an object with any operation, if a condition holds as this transaction sees it.
   *
   * @return completes with whether it held; otherwise the transaction is as it was
   */
  @Override
  public CompletableFuture<Boolean> updateIfAsync(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    OsierException wrong = Checks.update(key, type, operation, condition);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    return readAsync(key, Optional.of(type), condition.asked())
        .thenCompose(
            found ->
                condition.holds(found.reading().orElseThrow())
                    ? update(key, type, operation).thenApply(done -> true)
                    : CompletableFuture.completedFuture(false));
  }

  /** Reads an object with any query. */
  @Override
  public CompletableFuture<Found> readAsync(Key key, Optional<CrdtType> type, Query query) {
    return readTogetherAsync(List.of(new Keyspace.Get(key, type, query))).thenApply(List::getFirst);
  }

  /** Waits for {@link #readAsync}. */
  public Found read(Key key, Optional<CrdtType> type, Query query) {
    return Calls.join(readAsync(key, type, query));
  }

  /** Reads several objects in one request. */
  public CompletableFuture<List<Found>> readTogetherAsync(List<Keyspace.Get> reads) {
    return step(reads, Request.End.OPEN)
        .thenApply(t -> t.answers().stream().map(Keyspace::found).toList());
  }

  /** Waits for {@link #readTogetherAsync}. */
  public List<Found> readTogether(List<Keyspace.Get> reads) {
    return Calls.join(readTogetherAsync(reads));
  }

  /**
   * Commits.
   *
   * @return the clock that contains its updates
   * @throws OsierException if it was refused, or an update failed: nothing was done, and the
   *     transaction is still open, but for FORBIDDEN: then it is aborted, and what it has set aside
   *     of bounded counters is free at once
   * @throws OutcomeUnknownException if no answer came: it may or may not have been committed
   */
  public VersionVector commit() {
    return Calls.join(commitAsync());
  }

  /** As {@link #commit}. */
  public CompletableFuture<VersionVector> commitAsync() {
    return step(List.of(), Request.End.COMMIT).thenApply(Reply.Transacted::clock);
  }

  /** Aborts: nothing of it was ever visible. Does nothing if it has ended. */
  public void abort() {
    try {
      Calls.join(abortAsync());
    } catch (OsierException e) {
      if (e.code() != ErrorCode.TRANSACTION_ENDED) {
        throw e;
      }
    }
  }

  /** As {@link #abort}, but fails with TRANSACTION_ENDED if it has ended. */
  public CompletableFuture<Void> abortAsync() {
    return step(List.of(), Request.End.ABORT).thenApply(t -> null);
  }

  /** Aborts it if it is still open, without waiting. */
  @Override
  public void close() {
    boolean open;
    synchronized (this) {
      open = ended == null;
    }
    if (open) {
      var unused = abortAsync();
    }
  }

  private OsierException endedError() {
    return new OsierException(
        ErrorCode.TRANSACTION_ENDED, "this transaction was " + ended + "; begin another one");
  }

  private CompletableFuture<Reply.Transacted> step(List<Keyspace.Get> reads, Request.End end) {
    OsierException wrong = Checks.step(reads, List.of());
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    List<Request.Fetch> fetches =
        reads.stream().map(g -> new Request.Fetch(g.key(), g.type(), g.query())).toList();
    OsierException refused = enter(end);
    if (refused != null) {
      return CompletableFuture.failedFuture(refused);
    }
    Step asked;
    synchronized (this) {
      if (ended != null) {
        if (end != Request.End.ABORT) {
          session.steps().leave();
        }
        return CompletableFuture.failedFuture(endedError());
      }
      asked = new Step(end == Request.End.ABORT ? List.of() : List.copyOf(buffered), fetches, end);
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
    return end == Request.End.ABORT ? null : session.steps().enter();
  }

  /**
   * Takes a step, and those that wait for it, in a loop as long as they are answered at once:
   * nested they would need as much stack as there are steps. Whoever brings a later answer goes on.
   * Not under the lock, since this sends; and one at a time, since a step's number depends on how
   * the one before ended. Callers are told when nothing more can be sent: a callback that waits for
   * a further step would otherwise keep the next one from being sent.
   *
   * @param over steps that have ended, whose callers are to be told then
   */
  private void take(@Nullable Step first, Queue<Step> over) {
    Step now = first;
    while (now != null) {
      Step one = now;
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
      Step one = over.remove();
      // Callbacks must not wait for what this thread tells next, nor for room.
      Answering.bring(over.isEmpty(), one::tell);
    }
  }

  private CompletableFuture<Reply.Transacted> sent(Step one) {
    try {
      Request.Transact request = request(one);
      return send(request, one).whenComplete((reply, error) -> giveBack(request, error));
    } catch (Throwable e) { // whoever waits for it, or behind it, is told
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Tells how a step ended; returns the one that is to be taken next, if there is one. */
  private @Nullable Step finish(
      Step one, Reply.@Nullable Transacted reply, @Nullable Throwable error) {
    Step next;
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
      var unused = session.steps().step(keyspace, home, snapshot, end, by -> {});
    }
    return next;
  }

  private synchronized Request.Transact request(Step one) {
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

  private CompletableFuture<Reply.Transacted> send(Request.Transact request, Step one) {
    OsierException before;
    synchronized (this) {
      before = givenUp;
    }
    return before != null
        ? CompletableFuture.failedFuture(before)
        : session.steps().step(keyspace, home, snapshot, request, one::delivers);
  }

  /** Takes note of how a step ended; returns what its caller is told, or null if it was done. */
  private synchronized @Nullable OsierException note(Step one, @Nullable Throwable error) {
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
          new OsierException(
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
}
