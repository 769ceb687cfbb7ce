package io.osier.propagation.heal;

import io.osier.core.ReplicaId;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.OfferedVersion;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.wire.Frame;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The large states that belong to answers, kept as they were offered until they have been pulled.
 * Who asked sets the pace, and asks again for what was lost: an answer that is not to be had any
 * more is made anew when all of it is asked for again. Not thread-safe.
 */
final class OfferedAnswers {
  /** An answer has so many at most. */
  static final int OFFERS_MAX = 16;

  /** A peer that pulls nothing for so long has given up. */
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** What a peer has asked for: of each it waits for one answer at a time. */
  private record Asked(ReplicaId peer, Optional<ReplicaId> origin) {}

  private final Surroundings around;
  private final Map<Asked, Map<Long, OfferedVersion>> answers = new LinkedHashMap<>();

  /** When a peer pulled something last, or was given something to pull. */
  private final Map<ReplicaId, Long> pulledNanos = new TreeMap<>();

  /** The number of the last offer. */
  private long number;

  OfferedAnswers(Surroundings around) {
    this.around = around;
    // None is given twice, in no life.
    this.number = around.recovered().life() << 24;
  }

  /**
   * Offers what belongs to an answer; what belonged to the one before is offered no more.
   *
   * @param origin that was asked for; empty for objects
   * @return none at all if something of it cannot be offered now
   */
  Optional<List<Frame.Offer>> offer(
      ReplicaId peer, Optional<ReplicaId> origin, Map<ObjectId, Causal> states, long nowNanos) {
    Asked asked = new Asked(peer, origin);
    answers.remove(asked);
    List<Frame.Offer> offers = new ArrayList<>();
    Map<Long, OfferedVersion> versions = new TreeMap<>();
    for (Map.Entry<ObjectId, Causal> e : states.entrySet()) {
      OfferedVersion version = new OfferedVersion(e.getKey(), e.getValue(), around);
      if (!version.hold()) {
        return Optional.empty();
      }
      number++;
      Frame.Offer offer = version.offer(Frame.Offer.OF_ANSWER, number << Frame.Offer.TIMES_BITS);
      versions.put(offer.number(), version);
      offers.add(offer);
    }
    if (!versions.isEmpty()) {
      answers.put(asked, versions);
      pulledNanos.put(peer, nowNanos);
    }
    return Optional.of(offers);
  }

  /** Answers a request for some of what was offered, unless it is not to be had any more. */
  void pull(ReplicaId peer, Frame.Pull pull, long nowNanos) {
    Map<Long, OfferedVersion> answer = find(peer, pull.number());
    if (answer == null) {
      return;
    }
    pulledNanos.put(peer, nowNanos);
    OfferedVersion version = answer.get(pull.number());
    if (version == null || !version.object().equals(pull.object())) {
      return;
    }
    if (pull.done() || !version.hold()) {
      answer.remove(pull.number());
      answers.values().removeIf(Map::isEmpty);
    } else {
      version.answer(pull).ifPresent(frame -> around.sink().send(peer, frame));
    }
  }

  private @Nullable Map<Long, OfferedVersion> find(ReplicaId peer, long offer) {
    for (Map.Entry<Asked, Map<Long, OfferedVersion>> e : answers.entrySet()) {
      if (e.getKey().peer.equals(peer) && e.getValue().containsKey(offer)) {
        return e.getValue();
      }
    }
    return null;
  }

  /** Keeps what is offered the same for a time, unless nobody pulls it any more. */
  void hold(long nowNanos) {
    pulledNanos.values().removeIf(nanos -> nowNanos - nanos > KEPT_NANOS);
    answers.keySet().removeIf(asked -> !pulledNanos.containsKey(asked.peer));
    answers.values().forEach(versions -> versions.values().removeIf(v -> !v.hold()));
    answers.values().removeIf(Map::isEmpty);
  }

  /** A datacenter cannot be sent anything, or has a newer incarnation: it asks again. */
  void interrupted(String dc) {
    answers.keySet().removeIf(asked -> asked.peer.dc().equals(dc));
    pulledNanos.keySet().removeIf(peer -> peer.dc().equals(dc));
  }
}
