package io.osier.bench.sim.app;

import io.osier.bench.sim.node.SimDc;
import io.osier.core.ReplicaId;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A connection of an application, from its greeting to its end.
 *
 * @param <S> a sending
 */
final class AppWire<S> {
  final SimDc dc;
  final ReplicaId to;
  final long life;

  /** Who waits for answers, in the order of their sendings. */
  final Set<S> open = new LinkedHashSet<>();

  /** What has come to partitions and is not answered. */
  final Set<S> arrived = new LinkedHashSet<>();

  long takesNanos;
  boolean lost;

  /** How much later than otherwise comes what had left before it was lost; -1 for never. */
  long lateNanos = -1;

  AppWire(SimDc dc) {
    this.dc = dc;
    this.to = dc.self();
    this.life = dc.life();
  }

  boolean isServed() {
    return dc.isUp() && dc.life() == life;
  }
}
