package io.osier.proxy;

import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ObjectRef;
import java.util.concurrent.CompletableFuture;

/** The calls that all counters have. */
abstract class CounterCalls {
  final ObjectRef target;

  CounterCalls(ObjectRef target) {
    this.target = target;
  }

  /** The amount, if it can be added to such a counter. */
  abstract long addable(long amount);

  /**
   * Adds to the counter at once, at this session's datacenter; others see it within the keyspace's
   * bound of staleness. A negative amount subtracts, except from a grow-only or a bounded counter.
   *
   * @throws io.osier.core.OsierException NOT_ENOUGH_RIGHTS if the datacenter may not add as much to
   *     a bounded counter now
   */
  public void increment(long amount) {
    Calls.join(incrementAsync(amount));
  }

  /** As {@link #increment}. */
  public CompletableFuture<Void> incrementAsync(long amount) {
    return target.update(new Operation.Increment(addable(amount)));
  }

  /**
   * As {@link #increment(long)}, with the value that it has made, as this session's datacenter sees
   * it: what is concurrent elsewhere is not in it.
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

  /** The counter's value, as this session's datacenter sees it; 0 if there is no such counter. */
  public long get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Long> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Count) r).value());
  }
}
