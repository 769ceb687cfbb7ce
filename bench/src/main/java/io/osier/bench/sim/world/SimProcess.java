package io.osier.bench.sim.world;

/** A simulated process at the end of connections, which stand still while it does. */
public interface SimProcess {
  /** Whether it reads, writes and keeps time: it is neither stopped for a while nor gone. */
  boolean isServed();

  /** Since when it has done so without a stop; Long.MAX_VALUE while it does not. */
  default long servedSinceNanos() {
    return isServed() ? 0 : Long.MAX_VALUE;
  }

  /** Whether it has ended, for good. */
  boolean isClosed();
}
