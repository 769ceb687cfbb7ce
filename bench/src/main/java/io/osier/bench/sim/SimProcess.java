package io.osier.bench.sim;

/** A process that has connections. */
interface SimProcess {
  /** Whether it runs. */
  boolean isServed();

  /** Whether it is gone. */
  boolean isClosed();
}
