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
 * Sends the peers this partition's status: soon after it has changed, and now and then as a sign of
 * life.
 *
 * <p>While all datacenters are at rest and nothing has changed, statuses become seldom. A lost
 * status is made good by the next one, and a peer that is silent for that long counts as heard as
 * long as nothing is waited for ({@link Quiescence}). Every event that ends the rest is an input,
 * and {@link #dueNanos} is called after each input. Not thread-safe.
 */
final class StatusSender {
  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private final BooleanSupplier atRest;
  private long toldNanos;
  private long toldVersion = -1;

  /** How often the pause is doubled. */
  private int doublings;

  /**
   * Creates a sender whose first status is due at once.
   *
   * @param atRest whether nothing is in flight between this datacenter and any other
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

  /** Makes a status due at once, since a new peer has received none. */
  void toNewcomer(long nowNanos) {
    toldNanos = nowNanos - around.statusNanos();
    toldVersion = -1;
    doublings = 0;
  }

  /**
   * Notes that a peer requested something; it may need signs of life before it repeats the request.
   */
  void asked() {
    doublings = 0;
  }

  /** Whether statuses are sent more seldom than usual. */
  boolean isQuiet() {
    return doublings > 0;
  }

  /** Returns when {@link #announce} is due. */
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

  /** Sends a status to all peers that can be reached. */
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
