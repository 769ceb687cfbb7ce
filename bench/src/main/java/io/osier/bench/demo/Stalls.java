package io.osier.bench.demo;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * How long this machine lets a thread wait that wants to run: it sleeps and looks how much too late
 * it wakes. A datacenter on the same machine is late for the same reasons. Thread-safe.
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

  /** The longest since this was asked last, in milliseconds. */
  long takeWorstMillis() {
    return worstNanos.getAndSet(0) / 1_000_000;
  }

  @Override
  public void close() {
    closed = true;
  }
}
