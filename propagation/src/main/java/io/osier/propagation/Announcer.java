package io.osier.propagation;

import io.osier.core.VersionVector;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.in.Inbound;
import io.osier.propagation.in.Knowledge;
import io.osier.propagation.out.Outbound;
import io.osier.propagation.out.PeerStream;
import io.osier.propagation.wire.Frame;

/**
 * Tells the peers what is here: soon where that has changed, and now and then as a sign of life.
 * Not thread-safe.
 */
final class Announcer {
  private final Surroundings around;
  private final Knowledge knowledge;
  private final Outbound outbound;
  private final Inbound inbound;
  private long toldNanos;
  private long toldVersion = -1;

  /** Nothing was told yet: it is due at once. */
  Announcer(
      Surroundings around, Knowledge knowledge, Outbound outbound, Inbound inbound, long nowNanos) {
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
  }

  /** When {@link #announce} is due. */
  long dueNanos() {
    boolean soon = version() != toldVersion;
    for (PeerStream stream : outbound.streams()) {
      soon |= stream.wantsResume();
    }
    return toldNanos + (soon ? around.statusNanos() : around.retryNanos() / 2);
  }

  /** Tells all who can be reached. */
  void announce(long nowNanos, long nowMillis) {
    VersionVector through = knowledge.through().raised(around.self(), outbound.through());
    VersionVector changes = knowledge.changes();
    for (PeerStream stream : outbound.streams()) {
      if (stream.linkUp()) {
        around
            .sink()
            .send(
                stream.dc(),
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
    toldNanos = nowNanos;
    toldVersion = version();
  }

  private long version() {
    return knowledge.version() + outbound.through();
  }
}
