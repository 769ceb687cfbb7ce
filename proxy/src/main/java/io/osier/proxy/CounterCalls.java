package io.osier.proxy;

import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ObjectRef;
import java.util.concurrent.CompletableFuture;

/** The calls that all counters share. */
abstract class CounterCalls {
  final ObjectRef target;

  CounterCalls(ObjectRef target) {
    this.target = target;
  }

  /**
   * Returns the amount, or throws INVALID_ARGUMENT if it cannot be added to this type of counter.
   */
  abstract long addable(long amount);

  /**
   * Adds to the counter at this session's datacenter; the others see the increment within the
   * keyspace's staleness bound. A negative amount subtracts; grow-only and bounded counters refuse
   * it.
   *
   * @throws io.osier.core.OsierException NOT_ENOUGH_RIGHTS if the datacenter has too few rights to
   *     add this much to a bounded counter
   */
  public void increment(long amount) {
    Calls.join(incrementAsync(amount));
  }

  /** As {@link #increment}. */
  public CompletableFuture<Void> incrementAsync(long amount) {
    return target.update(new Operation.Increment(addable(amount)));
  }

  /**
   * As {@link #increment(long)}, and returns the new value as this session's datacenter sees it,
   * without concurrent updates elsewhere.
   */
  public long incrementAndGet(long amount) {
    return Calls.join(incrementAndGetAsync(amount));
  }

  /** As {@link #incrementAndGet}. */
  public CompletableFuture<Long> incrementAndGetAsync(long amount) {
    return addAndGet(addable(amount));
  }

  final CompletableFuture<Long> addAndGet(long amount) {
    return target.update(
        new Operation.Increment(amount),
        new Request.Ask(false, new Query.Whole()),
        r -> ((Reading.Count) r).value());
  }

  /**
   * Returns the counter's value as this session's datacenter sees it; 0 if there is no such
   * counter.
   */
  public long get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Long> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Count) r).value());
  }
}
