package io.osier.proxy;

import java.util.UUID;

/**
 * A client's time, chance and timers. It has them from here and from nowhere else, so that a test
 * can drive it step by step ({@link SteppedClient}). Thread-safe.
 */
public interface Timers extends AutoCloseable {
  /** The time in nanoseconds, of any origin; never goes back. */
  long nanoTime();

  /** A pause between half of the longest and the longest, by chance. */
  long pauseMillis(long longest);

  /** An id that nobody else draws, and nobody can guess. */
  UUID newId();

  /** Does something after a pause, at the latest when this is closed. */
  void later(Runnable action, long millis);

  /** Does at once what waits. */
  @Override
  void close();
}
