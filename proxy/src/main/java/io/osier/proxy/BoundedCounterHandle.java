package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.TimeLimit;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.BoundedCounter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A counter that never leaves its bounds, wherever it is updated: stocks, seats, credit. Each
 * datacenter holds rights to subtract and to add, and updates within them without asking anybody.
 * They move to where they are used by themselves, or by {@link #transfer}.
 *
 * <p>An update for which its datacenter lacks rights fails with NOT_ENOUGH_RIGHTS, whose message
 * says how many are left, or waits for rights if it is given time. Cheap; thread-safe.
 */
public final class BoundedCounterHandle extends CounterCalls {
  BoundedCounterHandle(ObjectRef target) {
    super(target);
  }

  @Override
  long addable(long amount) {
    return positive(amount);
  }

  /**
   * Creates the counter at 0, or widens its bounds; bounds are never narrowed.
   *
   * @param lower at most 0; {@link BoundedCounter#NO_LOWER} for none
   * @param upper at least 0; {@link BoundedCounter#NO_UPPER} for none
   */
  public void create(long lower, long upper) {
    Calls.join(createAsync(lower, upper));
  }

  /** As {@link #create}. */
  public CompletableFuture<Void> createAsync(long lower, long upper) {
    return target.update(new Operation.Bound(lower, upper, List.of()));
  }

  /** As {@link #increment(long)}, but waits for rights, a minute at most. */
  public void increment(long amount, Duration atMost) {
    Calls.join(incrementAsync(amount, atMost));
  }

  /** As {@link #increment(long, Duration)}. */
  public CompletableFuture<Void> incrementAsync(long amount, Duration atMost) {
    return target.update(new Operation.IncrementWithin(positive(amount), millis(atMost)));
  }

  /**
   * Subtracts.
   *
   * @throws OsierException NOT_ENOUGH_RIGHTS if the datacenter may not subtract as much now
   */
  public void decrement(long amount) {
    Calls.join(decrementAsync(amount));
  }

  /** As {@link #decrement}. */
  public CompletableFuture<Void> decrementAsync(long amount) {
    return target.update(new Operation.Increment(-positive(amount)));
  }

  /** As {@link #decrement(long)}, but waits for rights, a minute at most. */
  public void decrement(long amount, Duration atMost) {
    Calls.join(decrementAsync(amount, atMost));
  }

  /** As {@link #decrement(long, Duration)}. */
  public CompletableFuture<Void> decrementAsync(long amount, Duration atMost) {
    return target.update(new Operation.IncrementWithin(-positive(amount), millis(atMost)));
  }

  /** As {@link #decrement(long)}, with the value that it has made. */
  public long decrementAndGet(long amount) {
    return Calls.join(decrementAndGetAsync(amount));
  }

  /** As {@link #decrementAndGet}. */
  public CompletableFuture<Long> decrementAndGetAsync(long amount) {
    return addAndGet(-positive(amount));
  }

  /**
   * Gives rights to subtract to another datacenter.
   *
   * @throws OsierException NOT_ENOUGH_RIGHTS if this session's datacenter has not as many
   */
  public void transfer(String toDatacenter, long amount) {
    Calls.join(transferAsync(toDatacenter, amount, false));
  }

  /**
   * Gives rights to another datacenter.
   *
   * @param upward whether rights to add; otherwise to subtract
   */
  public CompletableFuture<Void> transferAsync(String toDatacenter, long amount, boolean upward) {
    return target.update(new Operation.Transfer(toDatacenter, positive(amount), upward));
  }

  /** Value, bounds, and who holds which rights, as far as this session's datacenter knows. */
  public Reading.Rights rights() {
    return Calls.join(rightsAsync());
  }

  /** As {@link #rights}. */
  public CompletableFuture<Reading.Rights> rightsAsync() {
    return target.read(new Query.Rights(), r -> (Reading.Rights) r);
  }

  private static long positive(long amount) {
    if (amount < 0) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "the amount must be at least 0, not " + amount);
    }
    return amount;
  }

  private static int millis(Duration wait) {
    return TimeLimit.intMillis(present(wait, "a time limit"));
  }
}
