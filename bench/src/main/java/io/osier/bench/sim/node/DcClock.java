package io.osier.bench.sim.node;

import io.osier.core.time.SlewedClock;
import io.osier.datacenter.partition.machine.Now;

/**
 * A datacenter's clock: production's {@code SlewedClock} over a wall clock that jumps and drifts.
 */
final class DcClock {
  private static final long EPOCH_MILLIS = 1_700_000_000_000L;

  private SlewedClock clock = new SlewedClock(EPOCH_MILLIS, 0); // until it starts
  private double driftPerNano;
  private long jumpMillis;

  /** A process begins. */
  void starts(long nanos) {
    clock = new SlewedClock(wall(nanos), nanos);
  }

  private double wall(long nanos) {
    long drift = (long) (nanos * driftPerNano / 1e6);
    return (double) (EPOCH_MILLIS + nanos / 1_000_000 + jumpMillis + drift);
  }

  Now now(long nanos) {
    return new Now(nanos, (long) clock.read(wall(nanos), nanos));
  }

  void jump(long millis) {
    jumpMillis += millis;
  }

  void drift(double perNano) {
    driftPerNano = perNano;
  }
}
