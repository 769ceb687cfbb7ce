package io.osier.bench.demo;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how long this machine lets a runnable thread wait: a thread sleeps and notes how late it
 * wakes. The datacenters of this machine are late for the same reason. Thread-safe.
 */
final class Stalls implements AutoCloseable {
  private static final long SLEEP_NANOS = 10_000_000;

  private final AtomicLong worstNanos = new AtomicLong();
  private volatile boolean closed;

  Stalls() {
    Thread.ofPlatform().name("demo-stalls").daemon(true).start(this::look);
  }

  private void look() {
    while (!closed) {
      long due = System.nanoTime() + SLEEP_NANOS;
      LockSupport.parkNanos(SLEEP_NANOS);
      worstNanos.accumulateAndGet(System.nanoTime() - due, Math::max);
    }
  }

  /** Returns the longest wait since the last time this was called, in milliseconds. */
  long takeWorstMillis() {
    return worstNanos.getAndSet(0) / 1_000_000;
  }

  @Override
  public void close() {
    closed = true;
  }
}
