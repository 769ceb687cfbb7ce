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

  /** The requests whose senders wait for answers, in the order of their sending. */
  final Set<S> open = new LinkedHashSet<>();

  /** The requests that have come to the datacenter and are not answered. */
  final Set<S> arrived = new LinkedHashSet<>();

  long takesNanos;
  boolean lost;

  /** By how much requests are late that had left before the connection was lost; -1 for lost. */
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
