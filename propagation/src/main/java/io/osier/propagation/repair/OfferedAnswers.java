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
 * The large states that belong to answers, kept as they were offered until they have been pulled.
 * Who asked sets the pace, and asks again for what was lost. Of what a peer has asked for, an
 * answer is the last one. Not thread-safe.
 */
final class OfferedAnswers {
  /** A peer that pulls nothing for so long has given up. */
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** What a peer has asked for: of an origin, or objects. */
  private record Asked(ReplicaId peer, Optional<ReplicaId> origin) {}

  private record Offered(long number, OfferedVersion version) {}

  private final ReplicationContext around;
  private final Map<Asked, Offered> offers = new HashMap<>();

  /** When a peer pulled something last, or was offered something: others wait meanwhile. */
  private final Map<ReplicaId, Long> pulledNanos = new HashMap<>();

  /** The number of the last offer, without how often it was made. */
  private long number;

  OfferedAnswers(ReplicationContext around) {
    this.around = around;
    this.number = around.recovered().life() << 24; // none is given twice, in no life
  }

  /** A peer is answered: what was offered with the answer before is offered no more. */
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

  /** Answers a request for some of what was offered. */
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

  /** Keeps what is offered the same for a time, unless nobody pulls it any more. */
  void hold(long nowNanos) {
    pulledNanos.values().removeIf(nanos -> nowNanos - nanos > KEPT_NANOS);
    offers.keySet().removeIf(asked -> !pulledNanos.containsKey(asked.peer));
    offers.values().removeIf(offered -> !offered.version.hold());
  }

  /** A datacenter cannot be sent anything, or has a newer incarnation: it asks again. */
  void interrupted(String dc) {
    offers.keySet().removeIf(asked -> asked.peer.dc().equals(dc));
    pulledNanos.keySet().removeIf(peer -> peer.dc().equals(dc));
  }
}
