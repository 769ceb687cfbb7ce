package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.time.TimeLimit;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.BoundedCounter;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ObjectRef;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A counter that never leaves its bounds, wherever it is updated: stocks, seats, credit. Each
 * datacenter holds rights to subtract and to add, and updates the counter within its rights without
 * asking the others. Rights move by themselves to the datacenters that use them, or by {@link
 * #transfer}.
 *
 * <p>An update for which its datacenter lacks rights fails with NOT_ENOUGH_RIGHTS, whose message
 * says how many are left; the forms with a {@code Duration} wait for rights instead. Cheap;
 * thread-safe.
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
   * @param lower the lower bound, at most 0; {@link BoundedCounter#NO_LOWER} for none
   * @param upper the upper bound, at least 0; {@link BoundedCounter#NO_UPPER} for none
   */
  public void create(long lower, long upper) {
    Calls.join(createAsync(lower, upper));
  }

  /** As {@link #create(long, long)}. */
  public CompletableFuture<Void> createAsync(long lower, long upper) {
    return target.update(new Operation.Bound(lower, upper, List.of()));
  }

  /**
   * Creates the counter with a first value unless it exists, so a program may call this each time
   * that it starts, and at several datacenters at the same time. An existing counter keeps its
   * value, and its bounds are widened where these are wider.
   *
   * <pre>{@code
   * shop.boundedCounter("stock:42").create(0, 1_000, 250);    // 250 pieces, however often this runs
   * }</pre>
   *
   * <p>The first rights to subtract and to add are divided among the datacenters. If concurrent
   * creations differ, the counter starts at the largest of their first values and has the lowest of
   * their lower bounds; above the first value there is as much room as the creation with the most
   * room gave, so that the upper bound may be above every one that was asked for.
   *
   * @param lower the lower bound, at most {@code first}; {@link BoundedCounter#NO_LOWER} for none
   * @param upper the upper bound, at least {@code first}; {@link BoundedCounter#NO_UPPER} for none
   * @param first the value of a new counter
   * @throws OsierException INVALID_ARGUMENT if {@code first} is outside the bounds; UNAVAILABLE,
   *     unless {@code first} is 0, while a datacenter runs a version that knows no first values
   */
  public void create(long lower, long upper, long first) {
    Calls.join(createAsync(lower, upper, first));
  }

  /** As {@link #create(long, long, long)}. */
  public CompletableFuture<Void> createAsync(long lower, long upper, long first) {
    return target.update(new Operation.Bound(lower, upper, List.of(), first));
  }

  /**
   * As {@link #increment(long)}, but waits until the datacenter has the rights, at most a minute.
   */
  public void increment(long amount, Duration atMost) {
    Calls.join(incrementAsync(amount, atMost));
  }

  /** As {@link #increment(long, Duration)}. */
  public CompletableFuture<Void> incrementAsync(long amount, Duration atMost) {
    return target.update(new Operation.IncrementWithin(positive(amount), millis(atMost)));
  }

  /**
   * Subtracts from the counter at this session's datacenter.
   *
   * <pre>{@code
   * try {
   *   bank.boundedCounter("stock:42").decrement(1);
   * } catch (TransientException e) { // NOT_ENOUGH_RIGHTS: sold out, or others hold the rights
   *   showSoldOut();
   * }
   * }</pre>
   *
   * @param amount at least 0
   * @throws OsierException NOT_ENOUGH_RIGHTS if the datacenter may not subtract as much now
   */
  public void decrement(long amount) {
    Calls.join(decrementAsync(amount));
  }

  /** As {@link #decrement}. */
  public CompletableFuture<Void> decrementAsync(long amount) {
    return target.update(new Operation.Increment(-positive(amount)));
  }

  /**
   * As {@link #decrement(long)}, but waits until the datacenter has the rights, at most a minute.
   */
  public void decrement(long amount, Duration atMost) {
    Calls.join(decrementAsync(amount, atMost));
  }

  /** As {@link #decrement(long, Duration)}. */
  public CompletableFuture<Void> decrementAsync(long amount, Duration atMost) {
    return target.update(new Operation.IncrementWithin(-positive(amount), millis(atMost)));
  }

  /**
   * As {@link #decrement(long)}, and returns the new value as this session's datacenter sees it.
   */
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
   * @throws OsierException NOT_ENOUGH_RIGHTS if this session's datacenter has fewer
   */
  public void transfer(String toDatacenter, long amount) {
    Calls.join(transferAsync(toDatacenter, amount, false));
  }

  /**
   * Gives rights to another datacenter.
   *
   * @param upward true to give rights to add, false to give rights to subtract
   */
  public CompletableFuture<Void> transferAsync(String toDatacenter, long amount, boolean upward) {
    return target.update(new Operation.Transfer(toDatacenter, positive(amount), upward));
  }

  /**
   * Reads the value, the bounds and each datacenter's rights, as far as this session's datacenter
   * knows them.
   */
  public Reading.Rights rights() {
    return Calls.join(rightsAsync());
  }

  /** As {@link #rights}. */
  public CompletableFuture<Reading.Rights> rightsAsync() {
    return target.read(new Query.Rights(), r -> (Reading.Rights) r);
  }

  private static long positive(long amount) {
    if (amount < 0) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "the amount must be at least 0, not " + amount);
    }
    return amount;
  }

  private static int millis(Duration wait) {
    return TimeLimit.intMillis(present(wait, "a time limit"));
  }
}
