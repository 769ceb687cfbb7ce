package io.osier.proxy;

import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import java.util.concurrent.CompletableFuture;

/** A counter. Cheap; thread-safe. */
public final class CounterHandle {
  private final Target target;

  CounterHandle(Target target) {
    this.target = target;
  }

  /** Adds to the counter; a negative amount subtracts, except from a grow-only counter. */
  public void increment(long amount) {
    Calls.join(incrementAsync(amount));
  }

  /** As {@link #increment}. */
  public CompletableFuture<Void> incrementAsync(long amount) {
    return target.update(new Operation.Increment(amount));
  }

  /** Adds 1. */
  public void increment() {
    increment(1);
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
    return target.update(
        new Operation.Increment(amount),
        new Request.Ask(false, new Query.Whole()),
        r -> ((Reading.Count) r).value());
  }

  /** The value. */
  public long get() {
    return Calls.join(getAsync());
  }

  /** As {@link #get}. */
  public CompletableFuture<Long> getAsync() {
    return target.read(new Query.Whole(), r -> ((Reading.Count) r).value());
  }

  /**
   * Resets it to a new one, as far as this session's datacenter has seen it: what is concurrent
   * stays.
   */
  public void clear() {
    Calls.join(clearAsync());
  }

  /** As {@link #clear}. */
  public CompletableFuture<Void> clearAsync() {
    return target.update(new Operation.Clear());
  }
}
