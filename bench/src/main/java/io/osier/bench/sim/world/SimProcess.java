package io.osier.bench.sim.world;

/** A process that has connections. */
public interface SimProcess {
  /** Whether it runs. */
  boolean isServed();

  /** Whether it is gone. */
  boolean isClosed();
}
