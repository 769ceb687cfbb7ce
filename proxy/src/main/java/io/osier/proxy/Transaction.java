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
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.values.Values;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

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

  private final Values values;
  private final TransactionSteps steps;
  private final TransactionQueue queue;

  /** All objects that were to be updated; as many as a transaction may have updates. */
  private final TreeSet<ObjectId> updated = new TreeSet<>();

  Transaction(SessionRequests session, TransactionQueue queue) {
    this.values = session.values();
    this.steps = session.steps();
    this.queue = queue;
  }

  /** What its snapshot contains. */
  public VersionVector clock() {
    return queue.snapshot();
  }

  /** The datacenter where it lives. */
  public String datacenter() {
    return queue.home().dc();
  }

  @Override
  Values values() {
    return values;
  }

  /** What a scan needs of this. */
  private final class Scanned implements SnapshotScan.Within {
    @Override
    public CompletableFuture<Reply.Page> known(Scan part, int rows) {
      Request.Scan request = SnapshotScan.known(queue.keyspace(), part, rows);
      OsierException over = queue.over();
      return over != null
          ? CompletableFuture.failedFuture(over)
          : steps.known(queue.home(), request);
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
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    OsierException wrong = queue.ended();
    if (wrong == null) {
      wrong = Checks.update(key, type, operation);
    }
    if (wrong == null) {
      wrong = queue.add(new Request.Update(key, type, operation));
    }
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    if (!operation.isOfKey()) { // it makes no object
      synchronized (this) {
        updated.add(new ObjectId(key, type));
      }
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
    return step(reads, Request.End.OPEN).thenApply(Found::all);
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
    if (queue.ended() == null) {
      var unused = abortAsync();
    }
  }

  private CompletableFuture<Reply.Transacted> step(List<Keyspace.Get> reads, Request.End end) {
    OsierException wrong = Checks.step(reads, List.of());
    return wrong != null
        ? CompletableFuture.failedFuture(wrong)
        : queue.step(reads.stream().map(Keyspace.Get::fetch).toList(), end);
  }
}
