package io.osier.proxy.objects;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.ObjectSpace;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Adds a deadline to each update of an object; see {@link ObjectSpace#expiring}. Thread-safe. */
public final class ExpiringAccess extends PassingAccess {
  private final Operation.Expire deadline;

  public ExpiringAccess(ObjectAccess objects, Operation.Expire deadline) {
    // The newer deadline counts.
    super(objects instanceof ExpiringAccess other ? other.objects : objects);
    this.deadline = deadline;
  }

  private Operation with(Operation update) {
    return new Operation.WithDeadline(update, deadline);
  }

  @Override
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    return super.update(key, type, with(operation));
  }

  @Override
  public <T> CompletableFuture<T> update(
      Key key, CrdtType type, Operation operation, Request.Ask ask, Function<Found, T> result) {
    return super.update(key, type, with(operation), ask, result);
  }

  @Override
  public CompletableFuture<Boolean> updateIf(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return super.updateIf(key, type, with(operation), condition);
  }
}
