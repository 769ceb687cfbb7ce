package io.osier.propagation;

import io.osier.core.VersionVector;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.receive.Inbound;
import io.osier.propagation.receive.Quiescence;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.send.Outbound;
import io.osier.propagation.send.PeerStream;
import io.osier.propagation.wire.Frame;
import java.util.function.BooleanSupplier;

/**
 * Tells the peers what is here: soon where that has changed, and now and then as a sign of life.
 *
 * <p>Where all are at rest, and what is told was told before, it is told ever more seldom: what was
 * lost is made good by the next one, and whoever is silent for that long counts as heard as long as
 * nothing is waited for ({@link Quiescence}). Everything that ends the rest is an input, and after
 * each one {@link #dueNanos} is asked. Not thread-safe.
 */
final class StatusSender {
  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private final BooleanSupplier atRest;
  private long toldNanos;
  private long toldVersion = -1;

  /** The pause is doubled so often. */
  private int doublings;

  /**
   * Nothing was told yet: it is due at once.
   *
   * @param atRest whether nothing is under way between this datacenter and any other
   */
  StatusSender(
      ReplicationContext around,
      ReceivedVector knowledge,
      Outbound outbound,
      Inbound inbound,
      BooleanSupplier atRest,
      long nowNanos) {
    this.atRest = atRest;
    this.around = around;
    this.knowledge = knowledge;
    this.outbound = outbound;
    this.inbound = inbound;
    this.toldNanos = nowNanos - around.statusNanos();
  }

  /** Somebody has come who was told nothing: it is due at once. */
  void toNewcomer(long nowNanos) {
    toldNanos = nowNanos - around.statusNanos();
    toldVersion = -1;
    doublings = 0;
  }

  /** A peer asked for something, and may wait for signs of life to ask again. */
  void asked() {
    doublings = 0;
  }

  /** Whether it tells more seldom than otherwise. */
  boolean isQuiet() {
    return doublings > 0;
  }

  /** When {@link #announce} is due. */
  long dueNanos() {
    boolean soon = version() != toldVersion;
    for (PeerStream stream : outbound.streams()) {
      soon |= stream.wantsResume();
    }
    if (soon) {
      return toldNanos + around.statusNanos();
    }
    if (doublings > 0 && !atRest.getAsBoolean()) {
      doublings = 0;
    }
    return Quiescence.nextNanos(around, toldNanos, doublings);
  }

  /** Tells all who can be reached. */
  void announce(long nowNanos, long nowMillis) {
    VersionVector through = knowledge.through().raised(around.self(), outbound.through());
    VersionVector changes = knowledge.changes();
    for (PeerStream stream : outbound.streams()) {
      if (stream.linkUp()) {
        stream.send(
            new Frame.Status(
                stream.wantsResume(),
                stream.epoch(),
                stream.wantsResume() ? 0 : stream.sequence(),
                through,
                knowledge.life(),
                changes,
                outbound.committed(),
                inbound.waiting() > 0,
                nowMillis));
      }
    }
    boolean again = toldVersion == version() && atRest.getAsBoolean();
    doublings = again ? Math.min(doublings + 1, Quiescence.DOUBLINGS_MAX) : 0;
    toldNanos = nowNanos;
    toldVersion = version();
  }

  private long version() {
    return knowledge.version() + outbound.through();
  }
}
