package io.osier.bench.sim.world;

/** A process that has connections. */
public interface SimProcess {
  /** Whether it runs. */
  boolean isServed();

  /** Since when it runs; Long.MAX_VALUE if it does not. */
  default long servedSinceNanos() {
    return isServed() ? 0 : Long.MAX_VALUE;
  }

  /** Whether it is gone. */
  boolean isClosed();
}
