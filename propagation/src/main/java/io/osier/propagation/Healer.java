package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.Frame.Place;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Fetches from third datacenters what they have of an origin that cannot be reached: one that is
 * cut off, or a former incarnation that lost its memory and will never ship again.
 *
 * <p>A peer's status counts the changes of each origin there. While an origin is out of reach, a
 * count that differs from the one at the last healing means that there may be something to fetch.
 * At most one healing an origin is under way, page by page, so that the one who asks sets the pace.
 * Not thread-safe.
 */
final class Healer {
  private record Source(ReplicaId peer, ReplicaId origin) {}

  private static final class UnderWay {
    final ReplicaId peer;
    final long after;
    final Asking asking;
    Frame.Page page;

    UnderWay(ReplicaId peer, long after, Frame.Page page, Asking asking) {
      this.peer = peer;
      this.after = after;
      this.page = page;
      this.asking = asking;
    }
  }

  private final Knowledge knowledge;
  private final FrameSink sink;
  private final LongSupplier numbers;
  private final long retryNanos;
  private final Map<Source, Place> healed = new HashMap<>();
  private final Map<ReplicaId, UnderWay> underWay = new TreeMap<>();

  /**
   * Nothing is under way.
   *
   * @param numbers of requests
   */
  Healer(Knowledge knowledge, FrameSink sink, LongSupplier numbers, long retryNanos) {
    this.knowledge = knowledge;
    this.sink = sink;
    this.numbers = numbers;
    this.retryNanos = retryNanos;
  }

  /**
   * Starts or repeats what is due.
   *
   * @param peer one that can be asked
   * @param heardNanos when something last came from it
   * @param reachable whether an origin ships its updates itself
   */
  void check(ReplicaId peer, long heardNanos, Predicate<ReplicaId> reachable, long nowNanos) {
    Frame.Status status = knowledge.status(peer.dc());
    if (status == null) {
      return;
    }
    VersionVector changes = status.changes();
    for (int i = 0; i < changes.size(); i++) {
      ReplicaId origin = changes.replica(i);
      if (!underWay.containsKey(origin)
          && !reachable.test(origin)
          && isBehind(peer, origin, status)) {
        Place place = healed.getOrDefault(new Source(peer, origin), Place.NONE);
        UnderWay started =
            new UnderWay(
                peer,
                knowledge.through().get(origin),
                new Frame.Page(place, Optional.empty()),
                new Asking(numbers, retryNanos));
        underWay.put(origin, started);
        ask(origin, started, started.asking.ask(nowNanos));
      }
    }
    for (Map.Entry<ReplicaId, UnderWay> e : underWay.entrySet()) {
      UnderWay healing = e.getValue();
      if (healing.peer.equals(peer) && healing.asking.isDue(heardNanos)) {
        ask(e.getKey(), healing, healing.asking.askAgain(nowNanos));
      }
    }
  }

  private boolean isBehind(ReplicaId peer, ReplicaId origin, Frame.Status status) {
    Place there = new Place(status.life(), status.changes().get(origin));
    return there.change() > 0 && !there.equals(healed.get(new Source(peer, origin)));
  }

  /** Whether everything that the peer has of the origin was fetched, as far as its status tells. */
  boolean isDone(ReplicaId peer, ReplicaId origin) {
    Frame.Status status = knowledge.status(peer.dc());
    return status != null && !isBehind(peer, origin, status);
  }

  private void ask(ReplicaId origin, UnderWay healing, long request) {
    sink.send(healing.peer.dc(), new Frame.Heal(request, origin, healing.after, healing.page));
  }

  /** Goes on after a page was applied. Returns whether it was the one that was waited for. */
  boolean received(ReplicaId peer, Frame.States states, long nowNanos) {
    ReplicaId origin = states.origin().orElseThrow();
    UnderWay healing = underWay.get(origin);
    if (healing == null
        || !healing.peer.equals(peer)
        || !healing.asking.answered(states.request(), nowNanos)) {
      return false;
    }
    if (states.next().isPresent()) {
      healing.page = states.next().get();
      ask(origin, healing, healing.asking.ask(nowNanos));
    } else {
      underWay.remove(origin);
      healed.put(new Source(peer, origin), states.changes());
    }
    return true;
  }

  /** The peer cannot be asked any more. */
  void down(String dc) {
    for (Iterator<UnderWay> it = underWay.values().iterator(); it.hasNext(); ) {
      if (it.next().peer.dc().equals(dc)) {
        it.remove();
      }
    }
  }

  /**
   * Whether {@link #check} has something to repeat.
   *
   * @param heardNanos when something last came from the peer
   */
  boolean isDue(ReplicaId peer, long heardNanos) {
    for (UnderWay healing : underWay.values()) {
      if (healing.peer.equals(peer) && healing.asking.isDue(heardNanos)) {
        return true;
      }
    }
    return false;
  }
}
