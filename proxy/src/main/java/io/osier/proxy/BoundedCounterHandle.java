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

  /** As {@link #create(long, long)}. */
  public CompletableFuture<Void> createAsync(long lower, long upper) {
    return target.update(new Operation.Bound(lower, upper, List.of()));
  }

  /**
   * Creates the counter at a first value, once: a program may ask for it each time that it starts,
   * and at several datacenters at the same time. Of a counter that is there the value stays, and
   * the bounds are widened where these are wider.
   *
   * <pre>{@code
   * shop.boundedCounter("stock:42").create(0, 1_000, 250);    // 250 pieces, whoever says so how often
   * }</pre>
   *
   * <p>What may be subtracted and added at first is divided among the datacenters. If creations
   * that do not know of each other differ, the largest first value counts, once, the lower bound is
   * the lowest of them, and so much may be added as the one let that lets most be added: the upper
   * bound then is above the one that was asked for.
   *
   * @param lower at most {@code first}; {@link BoundedCounter#NO_LOWER} for none
   * @param upper at least {@code first}; {@link BoundedCounter#NO_UPPER} for none
   * @param first what the value starts at
   * @throws OsierException INVALID_ARGUMENT if the bounds do not include it; UNAVAILABLE while a
   *     datacenter runs a version that knows no first value, unless it is 0
   */
  public void create(long lower, long upper, long first) {
    Calls.join(createAsync(lower, upper, first));
  }

  /** As {@link #create(long, long, long)}. */
  public CompletableFuture<Void> createAsync(long lower, long upper, long first) {
    return target.update(new Operation.Bound(lower, upper, List.of(), first));
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
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "the amount must be at least 0, not " + amount);
    }
    return amount;
  }

  private static int millis(Duration wait) {
    return TimeLimit.intMillis(present(wait, "a time limit"));
  }
}
