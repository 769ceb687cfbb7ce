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
 * A keyspace as a session sees it; makes handles of its objects. A key's first write fixes its
 * type; using it as another type fails with WRONG_TYPE. Cheap; thread-safe.
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

  /** Returns the keyspace's name. */
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
   * Updates an object with any operation and queries it, in one step at this session's datacenter:
   * no other update there comes between. Concurrent updates elsewhere are not in the answer.
   *
   * @param ask the query, before or after the update; needs the right to read
   * @return completes with the answer when the update is done
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
   * Updates an object with any operation if a condition holds at this session's datacenter, in one
   * step: no other update there comes between. It is no lock across datacenters: two such updates
   * at two datacenters may both be done.
   *
   * @param condition needs the right to read
   * @return completes with whether the condition held; otherwise nothing was done
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
   * What a read found in a key.
   *
   * @param type the object's type; empty if there is no object and the request named no type
   * @param reading the answer to the query; that of a new object if there is no object and the
   *     request named a type
   * @param exists whether there is an object that differs from a new one
   * @param age how old this may be, at most; empty if it is current, see {@link #aged}
   */
  public record Found(
      Optional<CrdtType> type, Optional<Reading> reading, boolean exists, Optional<Duration> age) {
    /** Creates what a current read found. */
    public Found(Optional<CrdtType> type, Optional<Reading> reading, boolean exists) {
      this(type, reading, exists, Optional.empty());
    }
  }

  /**
   * Reads an object with any query.
   *
   * @param type the object's type; empty for whatever the key holds
   */
  public CompletableFuture<Found> readAsync(Key key, Optional<CrdtType> type, Query query) {
    return access.read(key, type, query, Function.identity());
  }

  /** Waits for {@link #readAsync}. */
  public Found read(Key key, Optional<CrdtType> type, Query query) {
    return Calls.join(readAsync(key, type, query));
  }

  /**
   * Reads several keys of any types, with one request for each partition, side by side. The
   * session's guarantees hold for each key, but the keys are not read on one snapshot (in a {@code
   * causal} keyspace {@link #readTogether} does that).
   *
   * @param keys at most {@link Request#BATCH_MAX}
   * @return what each key holds, in the order of the keys
   * @throws BatchException if some keys cannot be read; it holds what the others contain
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
   * Does several independent updates, with one request for each partition, side by side. Updates of
   * one key are done in their order. They become visible one by one, and some may fail while the
   * others are done (for all or nothing there is {@link #updateTogether(List)} in a {@code causal}
   * keyspace). If the client can see that one of them is invalid, none is sent. None waits for
   * rights of a bounded counter.
   *
   * @param changes at most {@link Request#BATCH_MAX}; those of one partition must fit into a
   *     request of 65 MiB
   * @throws BatchException if some failed; it says which, and for each whether it was not done or
   *     its outcome is unknown
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
    return updateAllAsync(Batch.written(access.values(), present(writes, "a batch's writer")));
  }

  /** Starts an empty program, whose calls a partition then does in one turn. */
  public Program program() {
    return new Program(access);
  }

  /**
   * Runs {@link Program#rename}, and returns whether the key existed; otherwise nothing was done.
   */
  public boolean rename(String from, String to) {
    return program().rename(from, to).run().isDone(0);
  }

  /** Runs {@link Program#copy}, and returns whether the key existed; otherwise nothing was done. */
  public boolean copy(String from, String to) {
    return program().copy(from, to).run().isDone(0);
  }

  /** Watches one key, whatever it holds. Needs the right to read it. */
  public Watch watch(String key) {
    return Watch.of(session, name, Optional.of(Key.of(key)), false);
  }

  /**
   * Watches all keys that begin with a text, in UTF-8; all keys if the text is empty. Needs the
   * right to read all of them.
   */
  public Watch watchPrefix(String prefix) {
    return present(prefix, "a prefix").isEmpty()
        ? changes()
        : Watch.of(session, name, Optional.of(Key.of(prefix)), true);
  }

  /** Watches all keys. Needs the right to read all of them. */
  public Watch changes() {
    return Watch.of(session, name, Optional.empty(), true);
  }

  /**
   * Begins a transaction at the nearest datacenter, with a time limit of one minute. Its snapshot
   * is the newest there and contains all that this session has seen. Only in a {@code causal}
   * keyspace; there each read or write outside of a transaction is a transaction of its own.
   *
   * @throws OsierException INVALID_ARGUMENT in a {@code session} keyspace
   */
  public Transaction begin() {
    return begin(TransactionOptions.DEFAULT);
  }

  /** As {@link #begin()}, with options: the least or the oldest snapshot, another time limit. */
  public Transaction begin(TransactionOptions options) {
    return Calls.join(beginAsync(options));
  }

  /** As {@link #begin(TransactionOptions)}. */
  public CompletableFuture<Transaction> beginAsync(TransactionOptions options) {
    return transactions.begin(name, options).thenApply(Transaction::new);
  }

  /**
   * Returns the version vector of what this session has seen of the keyspace. A transaction of
   * another session, at any datacenter, that starts from it sees at least as much ({@link
   * TransactionOptions#atLeast}).
   */
  public VersionVector clock() {
    return session.past().clock(name);
  }

  /** As {@link Session#token}, for this keyspace alone. */
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

    /**
     * Returns this update, extended by a time to live for its object; see {@link
     * ObjectSpace#expiring}.
     */
    public Change expiring(Duration timeToLive) {
      return new Change(
          key, type, new Operation.WithDeadline(operation, Deadlines.after(timeToLive)));
    }

    /**
     * Returns this update, extended by a time to live for each element that it adds or field that
     * it updates; see {@link SetHandle#expiring} and {@link MapHandle#expiring}.
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
   * @return completes with what the reads found, in their order
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
    return updateTogetherAsync(Batch.written(access.values(), present(writes, "a batch's writer")));
  }

  /** Waits for {@link #updateTogetherAsync(Consumer)}. */
  public void updateTogether(Consumer<Batch> writes) {
    Calls.join(updateTogetherAsync(writes));
  }

  /**
   * A page of a scan.
   *
   * @param next the key at which the next page begins; empty at the end
   */
  public record Page(List<Row> rows, Optional<Key> next) {}

  /** One object of a page. */
  public record Row(Key key, CrdtType type, Reading value) {}

  /**
   * Reads objects in the order of their keys. It may or may not show updates that are done
   * meanwhile.
   *
   * @param from the first key; empty for the beginning
   * @param type the type of the wanted objects; empty for all types
   * @param limit the most rows of the page, 1 to 10,000; the page may have fewer
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
