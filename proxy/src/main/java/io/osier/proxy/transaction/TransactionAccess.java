package io.osier.proxy.transaction;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.call.ArgumentChecks;
import io.osier.proxy.call.Conversion;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.objects.ObjectAccess;
import io.osier.proxy.objects.ScanRange;
import io.osier.proxy.values.Values;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Reads and updates objects within a transaction: its snapshot, with its own updates. Thread-safe.
 */
public final class TransactionAccess implements ObjectAccess {
  private static final CrdtType FIRST_TYPE = CrdtType.values()[0];

  private final Values values;
  private final TransactionQueue queue;

  /**
   * All objects with updates of this transaction; their number is limited with that of the updates.
   */
  private final TreeSet<ObjectId> updated = new TreeSet<>();

  TransactionAccess(Values values, TransactionQueue queue) {
    this.values = values;
    this.queue = queue;
  }

  public TransactionQueue queue() {
    return queue;
  }

  @Override
  public Values values() {
    return values;
  }

  private final class Scanned implements SnapshotScan.Within {
    @Override
    public CompletableFuture<Reply.Page> known(ScanRange part, int rows) {
      ScanRequest request = SnapshotScan.known(queue.keyspace(), part, rows);
      OsierException over = queue.over();
      return over != null
          ? CompletableFuture.failedFuture(over)
          : queue.steps.known(queue.home(), request);
    }

    @Override
    public List<ObjectId> own(Optional<Key> from, Optional<Key> to, int limit) {
      return updatedOf(from, to, limit);
    }

    @Override
    public CompletableFuture<List<Found>> read(List<Keyspace.Get> reads) {
      return readTogether(reads);
    }
  }

  /** Returns objects with updates of this transaction, in order. */
  private synchronized List<ObjectId> updatedOf(Optional<Key> from, Optional<Key> to, int limit) {
    SortedSet<ObjectId> behind =
        from.isEmpty() ? updated : updated.tailSet(new ObjectId(from.get(), FIRST_TYPE));
    return behind.stream()
        .takeWhile(o -> to.isEmpty() || o.key().compareTo(to.get()) < 0)
        .limit(limit)
        .toList();
  }

  @Override
  public CompletableFuture<Keyspace.Page> page(ScanRange scan) {
    return new SnapshotScan(new Scanned()).page(scan);
  }

  @Override
  public CompletableFuture<Long> count(ScanRange scan) {
    return new SnapshotScan(new Scanned()).count(scan);
  }

  @Override
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    OsierException wrong = queue.ended();
    if (wrong == null) {
      wrong = ArgumentChecks.update(key, type, operation);
    }
    if (wrong == null) {
      wrong = queue.add(new Request.Update(key, type, operation));
    }
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    if (!operation.isOfKey()) { // an operation on the whole key creates no object
      synchronized (this) {
        updated.add(new ObjectId(key, type));
      }
    }
    return CallFuture.completed(null); // derived futures may stand for calls
  }

  @Override
  public <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result) {
    OsierException wrong = ArgumentChecks.update(key, type, operation, ask);
    if (wrong != null) {
      return CompletableFuture.<T>failedFuture(wrong);
    }
    Optional<CrdtType> typed = Optional.of(type);
    return ask.before()
        ? readThenUpdate(key, typed, ask, type, operation).thenApply(result)
        : update(key, type, operation).thenCompose(done -> read(key, typed, ask.query(), result));
  }

  @Override
  public CompletableFuture<Found> updateKey(Key key, Operation operation, Request.Ask ask) {
    OsierException wrong = ArgumentChecks.update(key, Operation.ANY_TYPE, operation, ask);
    return wrong != null
        ? CompletableFuture.failedFuture(wrong)
        : readThenUpdate(key, Optional.empty(), ask, Operation.ANY_TYPE, operation);
  }

  private CompletableFuture<Found> readThenUpdate(
      Key key, Optional<CrdtType> read, Request.Ask ask, CrdtType type, Operation operation) {
    return read(key, read, ask.query(), Function.identity())
        .thenCompose(found -> update(key, type, operation).thenApply(done -> found));
  }

  @Override
  public CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    OsierException wrong = ArgumentChecks.update(key, type, operation, condition);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    return read(key, Optional.of(type), condition.asked(), Function.identity())
        .thenCompose(
            found ->
                condition.holds(found.reading().orElseThrow())
                    ? update(key, type, operation).thenApply(done -> true)
                    : CompletableFuture.completedFuture(false));
  }

  @Override
  public <T> CompletableFuture<T> read(
      Key key, Optional<CrdtType> type, Query query, Function<Found, T> result) {
    return readTogether(List.of(new Keyspace.Get(key, type, query)))
        .thenApply(found -> result.apply(found.getFirst()));
  }

  /** Reads several objects in one request. */
  public CompletableFuture<List<Found>> readTogether(List<Keyspace.Get> reads) {
    return step(reads, Request.End.OPEN).thenApply(Conversion::found);
  }

  /** Sends a further step, together with the updates that were made before it. */
  public CompletableFuture<Reply.Transacted> step(List<Keyspace.Get> reads, Request.End end) {
    OsierException wrong = ArgumentChecks.step(reads, List.of());
    return wrong != null
        ? CompletableFuture.failedFuture(wrong)
        : queue.step(reads.stream().map(Conversion::sent).toList(), end);
  }
}
