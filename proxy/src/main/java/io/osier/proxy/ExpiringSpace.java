package io.osier.proxy;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.proxy.values.Values;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

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

  @Override
  Target object(String key, CrdtType type) {
    return Target.Expiring.whole(space.object(key, type), deadline);
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
