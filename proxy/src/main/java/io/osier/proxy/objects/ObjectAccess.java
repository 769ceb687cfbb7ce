package io.osier.proxy.objects;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.values.Values;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Reads and updates objects: of a keyspace, where each call stands for itself, or within a
 * transaction. Thread-safe.
 */
public interface ObjectAccess {
  /** Returns the client's encoding of objects. */
  Values values();

  CompletableFuture<Void> update(Key key, CrdtType type, Operation operation);

  /**
   * Updates an object, and queries it in the same step.
   *
   * @param result converts the answer
   */
  <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result);

  /** Updates an object if a condition holds; completes with whether it held. */
  CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition);

  /** Updates all that a key holds, and queries it as it was before. */
  CompletableFuture<Found> updateKey(Key key, Operation operation, Request.Ask ask);

  /**
   * Reads an object with any query.
   *
   * @param type the object's type; empty for whatever the key holds
   */
  <T> CompletableFuture<T> read(
      Key key, Optional<CrdtType> type, Query query, Function<Found, T> result);

  /** Reads the first page of a scan. */
  CompletableFuture<Keyspace.Page> page(ScanRange scan);

  /**
   * Returns a reader for the pages of one scan: each call reads the first page of the remaining
   * range.
   */
  default Function<ScanRange, CompletableFuture<Keyspace.Page>> pages() {
    return this::page;
  }

  CompletableFuture<Long> count(ScanRange scan);
}
