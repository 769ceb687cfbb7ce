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

/** Delegates every call to another access; subclasses override some. */
abstract class PassingAccess implements ObjectAccess {
  final ObjectAccess objects;

  PassingAccess(ObjectAccess objects) {
    this.objects = objects;
  }

  @Override
  public Values values() {
    return objects.values();
  }

  @Override
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    return objects.update(key, type, operation);
  }

  @Override
  public <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result) {
    return objects.update(key, type, operation, ask, result);
  }

  @Override
  public CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return objects.updateIf(key, type, operation, condition);
  }

  @Override
  public CompletableFuture<Found> updateKey(Key key, Operation operation, Request.Ask ask) {
    return objects.updateKey(key, operation, ask);
  }

  @Override
  public <T> CompletableFuture<T> read(
      Key key, Optional<CrdtType> type, Query query, Function<Found, T> result) {
    return objects.read(key, type, query, result);
  }

  @Override
  public CompletableFuture<Keyspace.Page> page(ScanRange scan) {
    return objects.page(scan);
  }

  @Override
  public Function<ScanRange, CompletableFuture<Keyspace.Page>> pages() {
    return objects.pages();
  }

  @Override
  public CompletableFuture<Long> count(ScanRange scan) {
    return objects.count(scan);
  }
}
