package io.osier.bench.history;

import java.util.List;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Lets two sessions meet that then write the same registers at the same instant, in opposite
 * orders, so that each would win at some register if transactions were not atomic. Thread-safe.
 */
final class Races {
  private static final long WAIT_MILLIS = 200;
  private static final long START_NANOS = 2_000_000;

  /** The registers that a session proposes, and when it came. */
  private record Proposal(List<Integer> keys, long nanos) {}

  private final Exchanger<Proposal> meeting = new Exchanger<>();

  /**
   * Waits for another session, and then for the instant to start.
   *
   * @param keys the registers that this session proposes
   * @return the registers in the order in which this session is to write them; empty if no other
   *     came
   */
  List<Integer> start(List<Integer> keys) {
    Proposal mine = new Proposal(keys, System.nanoTime());
    Proposal other;
    try {
      other = meeting.exchange(mine, WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return List.of();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    }
    boolean first = mine.nanos < other.nanos;
    long start = Math.max(mine.nanos, other.nanos) + START_NANOS;
    while (System.nanoTime() < start) {
      Thread.onSpinWait();
    }
    return first ? mine.keys : other.keys.reversed();
  }
}
