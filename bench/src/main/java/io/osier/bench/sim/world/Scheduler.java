package io.osier.bench.sim.world;

import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Virtual time: runs events in the order of their times; at equal times as they were planned. */
public final class Scheduler {
  public static final long MILLI = 1_000_000;
  public static final long SECOND = 1_000 * MILLI;

  /** Not zero, so that a zero somewhere is seen as the mistake that it is. */
  private static final long START_NANOS = 1_000 * SECOND;

  private record Event(long nanos, long order, Runnable action) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.nanos != b.nanos ? Long.compare(a.nanos, b.nanos) : Long.compare(a.order, b.order));
  private long nanos = START_NANOS;
  private long order;
  private @Nullable RuntimeException failure;

  /** The present time, in nanoseconds. */
  public long nanos() {
    return nanos;
  }

  /** How much virtual time has passed, in nanoseconds. */
  public long elapsedNanos() {
    return nanos - START_NANOS;
  }

  /** Plans an action; actions of one time are run in the order of these calls. */
  public void in(long afterNanos, Runnable action) {
    if (afterNanos < 0) {
      throw new IllegalArgumentException("that is past: " + afterNanos + " ns");
    }
    events.add(new Event(nanos + afterNanos, ++order, action));
  }

  /**
   * Ends the run after the present event: for an exception that a caller would catch. The run fails
   * with the first one that is reported here, whatever the rest of the event throws.
   */
  public void fail(RuntimeException e) {
    failure = failure == null ? e : failure;
  }

  /** Throws the exception that was reported by {@link #fail}, if there is one. */
  public void throwFailure() {
    if (failure != null) {
      throw failure;
    }
  }

  /** Lets time pass, and runs the events that are due. */
  public void runFor(long durationNanos) {
    long until = nanos + durationNanos;
    while (!events.isEmpty() && events.peek().nanos <= until) {
      Event event = events.poll();
      nanos = event.nanos;
      try {
        event.action.run();
      } catch (RuntimeException e) {
        fail(e);
      }
      throwFailure();
    }
    nanos = until;
  }
}
