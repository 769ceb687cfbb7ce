package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace.Change;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ObjectAccess;
import io.osier.proxy.objects.ScanRange;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Collects updates, written as calls of handles, which {@link Keyspace#updateAll(Consumer)} and
 * {@link Keyspace#updateTogether(Consumer)} then send in one request:
 *
 * <pre>{@code
 * shop.updateAll(batch -> {
 *   batch.counter("likes:42").increment();
 *   batch.set("cart:ada").add("book");
 *   batch.expiring(Duration.ofMinutes(30)).register("session:7").assign("ada");
 *   batch.remove("cart:bob");
 * });
 * }</pre>
 *
 * <p>A handle's call only records its update and returns at once; the call that sends the batch
 * tells whether the updates were done. Calls that return something (reads, conditions, {@code
 * incrementAndGet} and the like) fail in a batch with INVALID_ARGUMENT, and so does any call after
 * the batch was sent. Not thread-safe.
 */
public final class Batch extends ObjectSpace {
  private final Collected collected;

  /** Makes an empty batch. */
  Batch(Values values) {
    this(new Collected(values));
  }

  private Batch(Collected collected) {
    super(collected);
    this.collected = collected;
  }

  /** Returns the updates that a function writes into a new batch. */
  static List<Change> written(Values values, Consumer<Batch> by) {
    Batch batch = new Batch(values);
    try {
      by.accept(batch);
    } finally {
      batch.collected.closed = true;
    }
    return batch.collected.changes;
  }

  /** Removes all that a key holds; like {@link ObjectSpace#delete}, but without an answer. */
  public void remove(String key) {
    collected.add(Change.delete(key));
  }

  /** Gives a key a time to live; like {@link ObjectSpace#expireAfter}, but without an answer. */
  public void letExpire(String key, Duration timeToLive) {
    collected.add(Change.expireAfter(key, timeToLive));
  }

  private static final class Collected implements ObjectAccess {
    private final Values values;
    private final List<Change> changes = new ArrayList<>();
    private boolean closed;

    Collected(Values values) {
      this.values = values;
    }

    void add(Change change) {
      if (closed) {
        throw wrong("a batch that was sent takes no more updates; begin another one");
      }
      changes.add(change);
    }

    private static OsierException wrong(String what) {
      return OsierException.of(ErrorCode.INVALID_ARGUMENT, what);
    }

    private static <T> CompletableFuture<T> answered() {
      return CompletableFuture.failedFuture(
          wrong(
              "a batch has updates without an answer; ask the keyspace, or use 'remove' and"
                  + " 'letExpire' of the batch"));
    }

    @Override
    public Values values() {
      return values;
    }

    @Override
    public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
      return Calls.attempt(
          () -> {
            add(new Change(key, type, operation));
            return CallFuture.completed(null);
          });
    }

    @Override
    public <T> CompletableFuture<T> update(
        Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result) {
      return answered();
    }

    @Override
    public CompletableFuture<Boolean> updateIf(
        Key key, CrdtType type, Operation operation, Request.Condition condition) {
      return answered();
    }

    @Override
    public CompletableFuture<Found> updateKey(Key key, Operation operation, Request.Ask ask) {
      return answered();
    }

    @Override
    public <T> CompletableFuture<T> read(
        Key key, Optional<CrdtType> type, Query query, Function<Found, T> result) {
      return answered();
    }

    @Override
    public CompletableFuture<Keyspace.Page> page(ScanRange scan) {
      return answered();
    }

    @Override
    public CompletableFuture<Long> count(ScanRange scan) {
      return answered();
    }
  }
}
