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
 * How objects are read and updated: in a keyspace, each call for itself, or within a transaction.
 * Thread-safe.
 */
public interface ObjectAccess {
  /** How the client keeps objects. */
  Values values();

  CompletableFuture<Void> update(Key key, CrdtType type, Operation operation);

  /**
   * Updates an object, and asks something of it in the same moment.
   *
   * @param result what is made of the answer
   */
  <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result);

  /** Updates an object if a condition holds; completes with whether it did. */
  CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition);

  /** Updates all that a key holds, and asks something of it as it was before. */
  CompletableFuture<Found> updateKey(Key key, Operation operation, Request.Ask ask);

  /**
   * Reads an object with any query.
   *
   * @param type empty for whatever the key holds
   */
  <T> CompletableFuture<T> read(
      Key key, Optional<CrdtType> type, Query query, Function<Found, T> result);

  /** The first page of a scan. */
  CompletableFuture<Keyspace.Page> page(ScanRange scan);

  /** Reads the pages of one scan, one after the other: each time the first of what is left. */
  default Function<ScanRange, CompletableFuture<Keyspace.Page>> pages() {
    return this::page;
  }

  CompletableFuture<Long> count(ScanRange scan);
}
