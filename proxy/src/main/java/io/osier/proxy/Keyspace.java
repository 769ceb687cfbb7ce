package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.call.BatchCall;
import io.osier.proxy.call.Conversion;
import io.osier.proxy.call.KeyspaceAccess;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.Deadlines;
import io.osier.proxy.objects.ScanRange;
import io.osier.proxy.session.SessionCore;
import io.osier.proxy.transaction.Transactions;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A keyspace as a session sees it: where handles to objects come from. A key's type is fixed by its
 * first write; using it as another type fails with WRONG_TYPE. Cheap; thread-safe.
 */
public final class Keyspace extends ObjectSpace {
  private final SessionCore session;
  private final String name;
  private final KeyspaceAccess access;
  private final Transactions transactions;

  Keyspace(KeyspaceAccess access, Transactions transactions) {
    super(access);
    this.access = access;
    this.transactions = transactions;
    this.session = access.session();
    this.name = access.keyspace();
  }

  /** The keyspace's name, as its datacenters have it. */
  public String name() {
    return name;
  }

  /**
   * Updates an object with any operation, for callers that choose the type at run time.
   *
   * @return completes when the update is done
   */
  public CompletableFuture<Void> updateAsync(Key key, CrdtType type, Operation operation) {
    return access.update(key, type, operation);
  }

  /** Waits for {@link #updateAsync}. */
  public void update(Key key, CrdtType type, Operation operation) {
    Calls.join(updateAsync(key, type, operation));
  }

  /**
   * Updates an object with any operation, and asks something of it in the same moment, at the
   * datacenter that does it: nothing comes between. What is concurrent elsewhere is not in it.
   *
   * @param ask what to know; needs the right to read
   * @return completes when the update is done
   */
  public CompletableFuture<Found> updateAsync(
      Key key, CrdtType type, Operation operation, Request.Ask ask) {
    return access.update(key, type, operation, ask, Function.identity());
  }

  /** Waits for {@link #updateAsync(Key, CrdtType, Operation, Request.Ask)}. */
  public Found update(Key key, CrdtType type, Operation operation, Request.Ask ask) {
    return Calls.join(updateAsync(key, type, operation, ask));
  }

  /**
   * Updates an object with any operation, if a condition holds at the datacenter that does it, in
   * the moment in which it does it: nothing there comes between. Elsewhere something may be done at
   * the same time: two such updates at two datacenters may both be done.
   *
   * @param condition needs the right to read
   * @return completes with whether it held; otherwise nothing was done
   */
  public CompletableFuture<Boolean> updateIfAsync(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return access.updateIf(key, type, operation, condition);
  }

  /** Waits for {@link #updateIfAsync}. */
  public boolean updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return Calls.join(updateIfAsync(key, type, operation, condition));
  }

  /**
   * What a key holds.
   *
   * @param type its type; empty if there is no such object and none was asked for
   * @param reading its value; that of a new object if there is none and a type was asked for
   * @param exists whether it is there and differs from a new object
   * @param age how old this may be, at most; empty if it is current, see {@link #aged}
   */
  public record Found(
      Optional<CrdtType> type, Optional<Reading> reading, boolean exists, Optional<Duration> age) {
    /** What is current. */
    public Found(Optional<CrdtType> type, Optional<Reading> reading, boolean exists) {
      this(type, reading, exists, Optional.empty());
    }
  }

  /**
   * Reads an object with any query.
   *
   * @param type empty for whatever the key holds
   */
  public CompletableFuture<Found> readAsync(Key key, Optional<CrdtType> type, Query query) {
    return access.read(key, type, query, Function.identity());
  }

  /** Waits for {@link #readAsync}. */
  public Found read(Key key, Optional<CrdtType> type, Query query) {
    return Calls.join(readAsync(key, type, query));
  }

  /**
   * Reads several keys, whatever they hold, each for itself: with one request for each partition,
   * side by side. The session's guarantees hold for each key; keys are not read on one snapshot
   * (for that there is {@link #readTogether} in a {@code causal} keyspace).
   *
   * @param keys at most {@link Request#BATCH_MAX}
   * @return what each key holds, in the order of the keys
   * @throws BatchException if some cannot be read; it has what was found of the others
   */
  public Map<String, Found> getAll(Collection<String> keys) {
    return Calls.join(getAllAsync(keys));
  }

  /** As {@link #getAll}. */
  public CompletableFuture<Map<String, Found>> getAllAsync(Collection<String> keys) {
    return BatchCall.read(session, name, keys, BatchException::found);
  }

  /**
   * As {@link #getAll}, with a type and a query for each key.
   *
   * @return what was found, in the order of the reads
   */
  public List<Found> readAll(List<Get> reads) {
    return Calls.join(readAllAsync(reads));
  }

  /** As {@link #readAll}. */
  public CompletableFuture<List<Found>> readAllAsync(List<Get> reads) {
    return BatchCall.read(session, name, reads, false, BatchException::found);
  }

  /**
   * Does several updates, each for itself: with one request for each partition, side by side. Those
   * of one key are done in their order. They become visible one by one, and some may fail while the
   * others are done (for all or nothing there is {@link #updateTogether(List)} in a {@code causal}
   * keyspace). What is wrong with one and can be seen here is said before any is sent. None waits
   * for rights of a bounded counter.
   *
   * @param changes at most {@link Request#BATCH_MAX}, and those of one partition in one request's
   *     65 MiB
   * @throws BatchException if some failed; it says which, and of each whether nothing was done of
   *     it or its outcome is unknown
   */
  public void updateAll(List<Change> changes) {
    Calls.join(updateAllAsync(changes));
  }

  /** As {@link #updateAll(List)}; completes when all have ended. */
  public CompletableFuture<Void> updateAllAsync(List<Change> changes) {
    return BatchCall.update(session, name, changes, BatchException::found).thenApply(none -> null);
  }

  /**
   * As {@link #updateAll(List)}, with updates that are written as calls of handles:
   *
   * <pre>{@code
   * shop.updateAll(batch -> {
   *   batch.counter("likes:42").increment();
   *   batch.set("cart:ada").add("book");
   * });
   * }</pre>
   *
   * @param writes is called at once, in this thread; if it throws, nothing is sent
   */
  public void updateAll(Consumer<Batch> writes) {
    Calls.join(updateAllAsync(writes));
  }

  /** As {@link #updateAll(Consumer)}; completes when all have ended. */
  public CompletableFuture<Void> updateAllAsync(Consumer<Batch> writes) {
    return updateAllAsync(Batch.written(access.values(), present(writes, "what writes a batch")));
  }

  /** A program without calls: what it gets is done in one turn of a partition. */
  public Program program() {
    return new Program(access);
  }

  /** {@link Program#rename}; tells whether the key existed: otherwise nothing was done. */
  public boolean rename(String from, String to) {
    return program().rename(from, to).run().isDone(0);
  }

  /** {@link Program#copy}; tells what {@link #rename} does. */
  public boolean copy(String from, String to) {
    return program().copy(from, to).run().isDone(0);
  }

  /** Changes of one key, whatever it holds. Needs the right to read it. */
  public Watch watch(String key) {
    return Watch.of(session, name, Optional.of(Key.of(key)), false);
  }

  /**
   * Changes of all keys that begin with a text, in UTF-8; of all keys if it is empty. Needs the
   * right to read all of them.
   */
  public Watch watchPrefix(String prefix) {
    return present(prefix, "a prefix").isEmpty()
        ? changes()
        : Watch.of(session, name, Optional.of(Key.of(prefix)), true);
  }

  /** Changes of all keys. */
  public Watch changes() {
    return Watch.of(session, name, Optional.empty(), true);
  }

  /**
   * Begins a transaction at the nearest datacenter, with a time limit of one minute. Its snapshot
   * is the newest there, and contains all that this session has seen. Only in a {@code causal}
   * keyspace; there a session's single reads and writes are transactions of their own.
   *
   * @throws OsierException INVALID_ARGUMENT in a {@code session} keyspace
   */
  public Transaction begin() {
    return begin(TransactionOptions.DEFAULT);
  }

  /** As {@link #begin()}, with options: a clock to start from, the past, another time limit. */
  public Transaction begin(TransactionOptions options) {
    return Calls.join(beginAsync(options));
  }

  /** As {@link #begin(TransactionOptions)}. */
  public CompletableFuture<Transaction> beginAsync(TransactionOptions options) {
    return transactions.begin(name, options).thenApply(Transaction::new);
  }

  /**
   * What this session has seen of the keyspace: a clock from which another session, at any
   * datacenter, can start its transactions so that it sees as much ({@link
   * TransactionOptions#atLeast}).
   */
  public VersionVector clock() {
    return session.past().clock(name);
  }

  /** As {@link Session#token}, of this keyspace alone. */
  public SessionToken token() {
    return new SessionToken(access.seen());
  }

  /** A read of one object; see {@link #readTogether}. */
  public record Get(Key key, Optional<CrdtType> type, Query query) {
    /** Reads an object as a whole. */
    public Get(String key, CrdtType type) {
      this(Key.of(key), Optional.of(type), new Query.Whole());
    }
  }

  /** An update of one object; see {@link #updateTogether(List)}. */
  public record Change(Key key, CrdtType type, Operation operation) {
    /** Updates the object of a key. */
    public Change(String key, CrdtType type, Operation operation) {
      this(Key.of(key), type, operation);
    }

    /** Deletes a key; see {@link ObjectSpace#delete}. */
    public static Change delete(String key) {
      return new Change(key, Operation.ANY_TYPE, new Operation.Delete());
    }

    /** Gives a key a time to live; see {@link ObjectSpace#expireAfter}. */
    public static Change expireAfter(String key, Duration timeToLive) {
      return new Change(key, Operation.ANY_TYPE, Deadlines.after(timeToLive));
    }

    /** The same, which gives its object a time to live, too; see {@link ObjectSpace#expiring}. */
    public Change expiring(Duration timeToLive) {
      return new Change(
          key, type, new Operation.WithDeadline(operation, Deadlines.after(timeToLive)));
    }

    /**
     * The same, which gives the elements that it adds, or the fields that it updates, a time to
     * live of their own; see {@link SetHandle#expiring} and {@link MapHandle#expiring}.
     */
    public Change partsExpiring(Duration timeToLive) {
      return new Change(
          key, type, new Operation.WithPartDeadlines(operation, Deadlines.after(timeToLive)));
    }
  }

  /**
   * Reads several objects on one causally consistent snapshot, in one request. Only in a {@code
   * causal} keyspace.
   *
   * @return what was found, in the order of the reads
   */
  public CompletableFuture<List<Found>> readTogetherAsync(List<Get> reads) {
    return transactions.together(name, reads, List.of()).thenApply(Conversion::found);
  }

  /** Waits for {@link #readTogetherAsync}. */
  public List<Found> readTogether(List<Get> reads) {
    return Calls.join(readTogetherAsync(reads));
  }

  /**
   * Does several updates in one transaction and one request: they become visible together, at every
   * datacenter, or not at all. Only in a {@code causal} keyspace.
   *
   * @return completes when they are committed
   */
  public CompletableFuture<Void> updateTogetherAsync(List<Change> changes) {
    return transactions.together(name, List.of(), changes).thenApply(t -> null);
  }

  /** Waits for {@link #updateTogetherAsync(List)}. */
  public void updateTogether(List<Change> changes) {
    Calls.join(updateTogetherAsync(changes));
  }

  /**
   * As {@link #updateTogetherAsync(List)}, with updates that are written as calls of handles.
   *
   * @param writes is called at once, in this thread; if it throws, nothing is sent
   */
  public CompletableFuture<Void> updateTogetherAsync(Consumer<Batch> writes) {
    return updateTogetherAsync(
        Batch.written(access.values(), present(writes, "what writes a batch")));
  }

  /** Waits for {@link #updateTogetherAsync(Consumer)}. */
  public void updateTogether(Consumer<Batch> writes) {
    Calls.join(updateTogetherAsync(writes));
  }

  /**
   * A page of a scan.
   *
   * @param next where to go on; empty at the end
   */
  public record Page(List<Row> rows, Optional<Key> next) {}

  /** One object of a page. */
  public record Row(Key key, CrdtType type, Reading value) {}

  /**
   * Reads objects in the order of their keys. What is written meanwhile may or may not be seen.
   *
   * @param from the first key; empty for the beginning
   * @param type only objects of this type; empty for all
   * @param limit at most so many rows, 1 to 10,000; a page may end earlier
   */
  public CompletableFuture<Page> scanAsync(
      Optional<Key> from, Optional<CrdtType> type, Query query, int limit) {
    return access.page(new ScanRange(from, Optional.empty(), type, query, limit, limit), limit);
  }

  /**
   * Waits for {@link #scanAsync}.
   *
   * @throws OsierException INVALID_ARGUMENT if the limit is out of range
   */
  public Page scan(Optional<Key> from, Optional<CrdtType> type, Query query, int limit) {
    return Calls.join(scanAsync(from, type, query, limit));
  }
}
