package io.osier.propagation.pull;

import java.util.function.LongSupplier;

/**
 * A request to a peer that is repeated until it is answered.
 *
 * <p>When is a repetition due? An answer that is still on its way must not be requested again: on a
 * slow link each repetition delays the others. So the time is measured by what comes from the peer,
 * whose frames come in order: as long as nothing else has come, the answer may be next. The time
 * grows with each repetition, and with the time that the last answer took. Not thread-safe.
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

  /** Whether a part of the answer was received. */
  private boolean coming;

  /**
   * @param numbers returns a new, larger number for each request of this datacenter
   * @param leastNanos how long to wait at least
   */
  public RequestRetry(LongSupplier numbers, long leastNanos) {
    this.numbers = numbers;
    this.leastNanos = leastNanos;
    this.waitNanos = leastNanos;
  }

  /** Opens a new request; returns its number. */
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

  /** Repeats the request; returns the number of the repetition. */
  public long askAgain(long nowNanos) {
    repeats = Math.min(repeats + 1, DOUBLINGS_MAX);
    coming = false;
    lastNumber = numbers.getAsLong();
    lastNanos = nowNanos;
    return lastNumber;
  }

  /** Whether an answer is expected. */
  public boolean isOpen() {
    return open;
  }

  /**
   * Takes an answer.
   *
   * @return false if it answers another request: it is late, or came twice
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
   * Notes that a part of an answer was received, and that the rest comes by other means, so that
   * the request is not repeated.
   *
   * @return false if it answers another request
   */
  public boolean comes(long number, long nowNanos) {
    if (!isFor(number)) {
      return false;
    }
    noteTime(number, nowNanos); // the time that the rest takes is no measure for the next answer
    coming = true;
    repeats = 0;
    return true;
  }

  /** Notes that the rest of an answer that {@link #comes} will not come. */
  public void comesNot() {
    coming = false;
  }

  /** Whether to repeat the request. */
  public boolean isDue(long heardNanos) {
    return open && !coming && heardNanos - lastNanos >= waitNanos << repeats;
  }

  /** Ends the request: the answer will not come. */
  public void cancel() {
    open = false;
  }
}
