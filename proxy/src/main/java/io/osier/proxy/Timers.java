package io.osier.proxy;

import java.util.UUID;

/**
 * A client's only source of time, random numbers and timers, so that a test can drive the client
 * step by step ({@link SteppedClient}). Thread-safe.
 */
public interface Timers extends AutoCloseable {
  /** Returns the time in nanoseconds, from any origin; it never goes back. */
  long nanoTime();

  /** Draws a random pause between half of {@code longest} and {@code longest}, in milliseconds. */
  long pauseMillis(long longest);

  /** Draws an id that is unique and cannot be guessed. */
  UUID newId();

  /** Runs an action after a pause, or when this is closed if that is earlier. */
  void later(Runnable action, long millis);

  /** Runs all waiting actions at once. */
  @Override
  void close();
}
