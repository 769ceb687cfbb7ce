package io.osier.propagation.pull;

import java.util.function.LongSupplier;

/**
 * A request to a peer that is sent again until it is answered.
 *
 * <p>When is it time for that? An answer that is still on its way must not be asked for again: on a
 * slow link each repeat makes the others later. So the time is measured by what comes from the
 * peer, whose frames come in order: as long as nothing else came, the answer may be the next. And
 * it grows with each repeat, and with the time that the last answer took. Not thread-safe.
 */
public final class RequestRetry {
  private static final int DOUBLINGS_MAX = 4;
  private static final long WAIT_NANOS_MAX = 300_000_000_000L;

  private final LongSupplier numbers;
  private final long leastNanos;
  private long waitNanos;
  private boolean open;
  private long firstNumber;
  private long lastNumber;
  private long firstNanos;
  private long lastNanos;
  private int repeats;

  /** Whether the answer has begun to come. */
  private boolean coming;

  /**
   * @param numbers gives each request of this datacenter a number of its own, growing
   * @param leastNanos how long to wait at least
   */
  public RequestRetry(LongSupplier numbers, long leastNanos) {
    this.numbers = numbers;
    this.leastNanos = leastNanos;
    this.waitNanos = leastNanos;
  }

  /** Something is asked; returns the request's number. */
  public long ask(long nowNanos) {
    open = true;
    coming = false;
    repeats = 0;
    firstNumber = numbers.getAsLong();
    lastNumber = firstNumber;
    firstNanos = nowNanos;
    lastNanos = nowNanos;
    return firstNumber;
  }

  /** The same is asked again; returns the request's number. */
  public long askAgain(long nowNanos) {
    repeats = Math.min(repeats + 1, DOUBLINGS_MAX);
    coming = false;
    lastNumber = numbers.getAsLong();
    lastNanos = nowNanos;
    return lastNumber;
  }

  /** Whether an answer is waited for. */
  public boolean isOpen() {
    return open;
  }

  /**
   * Takes an answer.
   *
   * @return false if it answers something else: it is late, or came twice
   */
  public boolean answered(long number, long nowNanos) {
    if (!isFor(number)) {
      return false;
    }
    open = false;
    if (!coming) {
      noteTime(number, nowNanos);
    }
    return true;
  }

  private void noteTime(long number, long nowNanos) {
    long took = nowNanos - (number == lastNumber ? lastNanos : firstNanos);
    waitNanos = Math.clamp(2 * took, leastNanos, WAIT_NANOS_MAX);
  }

  private boolean isFor(long number) {
    return open && number >= firstNumber && number <= lastNumber;
  }

  /**
   * An answer has come in part, and the rest is brought by other means: it is not asked for again.
   *
   * @return false if it answers something else
   */
  public boolean comes(long number, long nowNanos) {
    if (!isFor(number)) {
      return false;
    }
    noteTime(number, nowNanos); // what the rest takes is no measure for the next
    coming = true;
    repeats = 0;
    return true;
  }

  /** The rest of what {@link #comes} does not come. */
  public void comesNot() {
    coming = false;
  }

  /** Whether to ask again. */
  public boolean isDue(long heardNanos) {
    return open && !coming && heardNanos - lastNanos >= waitNanos << repeats;
  }

  /** The answer will not come. */
  public void cancel() {
    open = false;
  }
}
