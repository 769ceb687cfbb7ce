package io.osier.proxy.call;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.objects.ObjectAccess;
import io.osier.proxy.objects.ScanRange;
import io.osier.proxy.values.Values;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** The objects of a keyspace, as a session reads and updates them. */
public record KeyspaceAccess(SessionRequests session, String keyspace) implements ObjectAccess {
  @Override
  public Values values() {
    return session.values();
  }

  @Override
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    return session.update(keyspace, key, type, operation);
  }

  @Override
  public <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result) {
    return session.update(
        keyspace, key, type, operation, ask, answer -> result.apply(Conversion.found(answer)));
  }

  @Override
  public CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return session.updateIf(keyspace, key, type, operation, condition);
  }

  @Override
  public CompletableFuture<Found> updateKey(Key key, Operation operation, Request.Ask ask) {
    return session.update(keyspace, key, Operation.ANY_TYPE, operation, ask, Conversion::found);
  }

  @Override
  public <T> CompletableFuture<T> read(
      Key key, Optional<CrdtType> type, Query query, Function<Found, T> result) {
    return session.read(
        keyspace, key, type, query, answer -> result.apply(Conversion.found(answer)));
  }

  @Override
  public CompletableFuture<Keyspace.Page> page(ScanRange scan) {
    return page(scan.request(keyspace, scan.query(), scan.nextRows(), Request.Want.ROWS));
  }

  public CompletableFuture<Keyspace.Page> page(Request.Scan scan) {
    return session.scan(scan, reply -> Conversion.page((Reply.Page) reply));
  }

  @Override
  public CompletableFuture<Long> count(ScanRange scan) {
    return session.count(keyspace, scan);
  }
}
