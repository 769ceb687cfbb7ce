package io.osier.proxy;

import io.osier.crdt.Operation;
import java.util.concurrent.CompletableFuture;

/** A counter. Cheap; thread-safe. */
public final class CounterHandle extends CounterCalls {
  CounterHandle(ObjectRef target) {
    super(target);
  }

  @Override
  long addable(long amount) {
    return amount;
  }

  /** Adds 1. */
  public void increment() {
    increment(1);
  }

  /** As {@link RegisterHandle#clear}. */
  public void clear() {
    Calls.join(clearAsync());
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return target.update(new Operation.Clear());
  }
}
