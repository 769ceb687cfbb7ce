package io.osier.proxy;

/**
 * A client's time, chance and timers. Calls have them from here and from nowhere else, so that a
 * test can drive them step by step. Thread-safe.
 */
interface Timers extends AutoCloseable {
  /** The time in nanoseconds, of any origin; never goes back. */
  long nanoTime();

  /** A pause between half of the longest and the longest, by chance. */
  long pauseMillis(long longest);

  /** Does something after a pause, at the latest when this is closed. */
  void later(Runnable action, long millis);

  /** Does at once what waits. */
  @Override
  void close();
}
