package io.osier.propagation.repair;

import io.osier.core.ReplicaId;
import io.osier.propagation.host.OfferedVersion;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Frame;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Keeps the large states that belong to answers, as they were offered, until they have been pulled.
 * The asking peer sets the pace, and repeats requests whose answers were lost. For each kind of
 * request of a peer only the last answer counts. Not thread-safe.
 */
final class OfferedAnswers {
  /** A peer that pulls nothing for this long has given up. */
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /**
   * A kind of request of a peer: for an origin's updates, or for objects if {@code origin} is
   * empty.
   */
  private record Asked(ReplicaId peer, Optional<ReplicaId> origin) {}

  private record Offered(long number, OfferedVersion version) {}

  private final ReplicationContext around;
  private final Map<Asked, Offered> offers = new HashMap<>();

  /**
   * When a peer last pulled something or was offered something: its other offers wait meanwhile.
   */
  private final Map<ReplicaId, Long> pulledNanos = new HashMap<>();

  /** The number of the last offer, without the bits that count its repetitions. */
  private long number;

  OfferedAnswers(ReplicationContext around) {
    this.around = around;
    this.number = around.recovered().life() << 24; // no number is given twice, in any life
  }

  /** Drops the offer of the former answer to a peer, since a new answer is sent. */
  void answered(ReplicaId peer, Optional<ReplicaId> origin) {
    offers.remove(new Asked(peer, origin));
  }

  Frame.Offer offer(
      ReplicaId peer, Optional<ReplicaId> origin, OfferedVersion version, long nowNanos) {
    number++;
    Frame.Offer offer = version.offer(Frame.Offer.OF_ANSWER, number << Frame.Offer.TIMES_BITS);
    offers.put(new Asked(peer, origin), new Offered(offer.number(), version));
    pulledNanos.put(peer, nowNanos);
    return offer;
  }

  /** Answers a peer's request for a part of an offered state. */
  void pull(ReplicaId peer, Frame.Pull pull, long nowNanos) {
    for (Map.Entry<Asked, Offered> e : offers.entrySet()) {
      Offered offered = e.getValue();
      if (e.getKey().peer.equals(peer)
          && offered.number == pull.number()
          && offered.version.object().equals(pull.object())) {
        if (pull.done()) {
          offers.remove(e.getKey());
          return;
        }
        if (offered.version.hold()) {
          pulledNanos.put(peer, nowNanos);
          offered.version.answer(pull).ifPresent(frame -> around.sink().send(peer, frame));
          return;
        }
      }
    }
    if (!pull.done()) {
      around.sink().send(peer, new Frame.Withdrawn(pull.number()));
    }
  }

  /** Keeps the offered versions from changing for a time, unless their peer has stopped pulling. */
  void hold(long nowNanos) {
    pulledNanos.values().removeIf(nanos -> nowNanos - nanos > KEPT_NANOS);
    offers.keySet().removeIf(asked -> !pulledNanos.containsKey(asked.peer));
    offers.values().removeIf(offered -> !offered.version.hold());
  }

  /**
   * Drops the offers to a datacenter that cannot be reached or has a newer incarnation: it asks
   * again.
   */
  void interrupted(String dc) {
    offers.keySet().removeIf(asked -> asked.peer.dc().equals(dc));
    pulledNanos.keySet().removeIf(peer -> peer.dc().equals(dc));
  }
}
