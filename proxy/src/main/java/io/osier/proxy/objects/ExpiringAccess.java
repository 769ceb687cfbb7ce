package io.osier.proxy.objects;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.values.Values;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Adds a deadline to each update of an object; see {@link ObjectSpace#expiring}. Thread-safe. */
public record ExpiringAccess(ObjectAccess objects, Operation.Expire deadline)
    implements ObjectAccess {
  public ExpiringAccess {
    if (objects instanceof ExpiringAccess other) { // the newer deadline counts
      objects = other.objects;
    }
  }

  private Operation with(Operation update) {
    return new Operation.WithDeadline(update, deadline);
  }

  @Override
  public Values values() {
    return objects.values();
  }

  @Override
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    return objects.update(key, type, with(operation));
  }

  @Override
  public <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result) {
    return objects.update(key, type, with(operation), ask, result);
  }

  @Override
  public CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return objects.updateIf(key, type, with(operation), condition);
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
