package io.osier.proxy;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.values.Values;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A space whose updates give their objects a deadline, too. See {@link ObjectSpace#expiring}. */
final class ExpiringSpace extends ObjectSpace {
  private final ObjectSpace space;
  private final Operation.Expire deadline;

  ExpiringSpace(ObjectSpace space, Operation.Expire deadline) {
    this.space = space instanceof ExpiringSpace other ? other.space : space;
    this.deadline = deadline;
  }

  @Override
  Values values() {
    return space.values();
  }

  private Operation with(Operation update) {
    return new Operation.WithDeadline(update, deadline);
  }

  @Override
  CompletableFuture<Void> updateObject(Key key, CrdtType type, Operation operation) {
    return space.updateObject(key, type, with(operation));
  }

  @Override
  <T> CompletableFuture<T> updateObject(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Reading, T> result) {
    return space.updateObject(key, type, with(operation), ask, result);
  }

  @Override
  CompletableFuture<Boolean> updateIfAsync(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return space.updateIfAsync(key, type, with(operation), condition);
  }

  @Override
  <T> CompletableFuture<T> readObject(
      Key key, CrdtType type, Query query, Function<Reading, T> result) {
    return space.readObject(key, type, query, result);
  }

  @Override
  CompletableFuture<Keyspace.Found> readAsync(Key key, Optional<CrdtType> type, Query query) {
    return space.readAsync(key, type, query);
  }

  @Override
  CompletableFuture<Keyspace.Found> updateKeyAsync(Key key, Operation operation, Request.Ask ask) {
    return space.updateKeyAsync(key, operation, ask);
  }

  @Override
  CompletableFuture<Keyspace.Page> firstPage(Scan scan) {
    return space.firstPage(scan);
  }

  @Override
  CompletableFuture<Long> countAll(Scan scan) {
    return space.countAll(scan);
  }
}
