package io.osier.proxy;

import io.osier.crdt.Operation;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ObjectRef;
import java.util.concurrent.CompletableFuture;

/**
 * A counter whose value is a long. Concurrent increments at all datacenters add up. Cheap;
 * thread-safe.
 *
 * <pre>{@code
 * shop.counter("likes:42").increment();
 * long likes = shop.counter("likes:42").incrementAndGet(2);
 * }</pre>
 *
 * <p>Calls fail with OVERFLOW if an addition would leave the range of a long, and with WRONG_TYPE
 * if the key holds another type.
 */
public final class CounterHandle extends CounterCalls {
  CounterHandle(ObjectRef target) {
    super(target);
  }

  @Override
  long addable(long amount) {
    return amount;
  }

  /** Adds 1, as {@link #increment(long)}. */
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
