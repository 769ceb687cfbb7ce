package io.osier.propagation.repair;

import static java.util.Objects.requireNonNull;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.pull.ObjectFetcher;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.pull.RequestRetry;
import io.osier.propagation.receive.PendingUpdates;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.receive.RepairBuffer;
import io.osier.propagation.receive.UpdateApplier;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Place;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Fetches from third datacenters what they have of an origin that cannot be reached: one that is
 * cut off, or a former incarnation that lost its memory and will never ship again.
 *
 * <p>A peer's status counts the changes of each origin there. While an origin is out of reach, a
 * count that differs from the one at the last repair means that there may be something to fetch. At
 * most one repair an origin is under way, page by page, so that the one who asks sets the pace. Not
 * thread-safe.
 */
public final class Repairer implements RepairBuffer {
  /** From so many origins a peer is asked before it is known what a page of it weighs. */
  private static final int FIRST_AT_ONCE = 4;

  /** With each lighter page what the heaviest counts is less by this part of it. */
  private static final int FADING = 8;

  /** So many ranges of what is here of an origin besides are told: a few bytes each. */
  private static final int BESIDES_MAX = 2_048;

  private record Source(ReplicaId peer, ReplicaId origin) {}

  /** How much a peer had of an origin when it was last repaired from there. */
  private record Repaired(Place place, long through) {
    static final Repaired NOTHING = new Repaired(Place.NONE, 0);
  }

  private final ReceivedVector knowledge;
  private final ReplicationContext around;
  private final LongSupplier numbers;
  private final UpdateApplier applier;
  private final Predicate<ReplicaId> streamed;
  private final Map<Source, Repaired> repaired = new HashMap<>();

  /** What a page of a peer weighs, by the heaviest of late, in bytes. */
  private final Map<String, Long> pageBytes = new HashMap<>();

  /** When the last repair from a peer began. */
  private final Map<Source, Long> begunNanos = new HashMap<>();

  private final Map<ReplicaId, Repair> underWay = new TreeMap<>();

  /**
   * @param streamed whether something of an origin's own stream was applied here: who never did may
   *     lack what the origin's updates take for known everywhere, and is given states, of what is
   *     not here
   */
  public Repairer(
      ReplicationContext around,
      ReceivedVector knowledge,
      UpdateApplier applier,
      LongSupplier numbers,
      Predicate<ReplicaId> streamed) {
    this.knowledge = knowledge;
    this.applier = applier;
    this.around = around;
    this.numbers = numbers;
    this.streamed = streamed;
  }

  /**
   * Starts or repeats what is due.
   *
   * @param peer one that can be asked
   * @param heardNanos when something last came from it
   * @param reachable whether an origin ships its updates itself
   */
  public void check(
      ReplicaId peer, long heardNanos, Predicate<ReplicaId> reachable, long nowNanos) {
    Frame.Status status = knowledge.status(peer.dc());
    if (status == null) {
      return;
    }
    List<ReplicaId> wanted = wanted(peer, status, reachable, nowNanos);
    if (wanted.isEmpty() && underWay.isEmpty()) {
      return; // as nearly always
    }
    int open = (int) underWay.values().stream().filter(u -> u.peer.equals(peer)).count();
    int more = Math.min(wanted.size(), Math.max(0, atOnce(peer.dc()) - open));
    for (ReplicaId origin : wanted.subList(0, more)) {
      Place place = repaired.getOrDefault(new Source(peer, origin), Repaired.NOTHING).place;
      begunNanos.put(new Source(peer, origin), nowNanos);
      Repair started =
          new Repair(
              peer,
              streamed.test(origin) ? knowledge.through().get(origin) : 0,
              streamed.test(origin)
                  ? knowledge.besides(origin, BESIDES_MAX)
                  : knowledge.there(origin, BESIDES_MAX),
              new Frame.Page(place, Optional.empty()),
              new RequestRetry(numbers, around.retryNanos()));
      underWay.put(origin, started);
      ask(origin, started, started.asking.ask(nowNanos));
    }
    for (Map.Entry<ReplicaId, Repair> e : underWay.entrySet()) {
      Repair repair = e.getValue();
      if (repair.peer.equals(peer)) {
        repair.needless(reachable.test(e.getKey()), nowNanos);
        if (repair.mustAsk(heardNanos)) {
          ask(e.getKey(), repair, repair.asking.askAgain(nowNanos));
        }
        repair.goesOn();
      }
    }
  }

  /** Whether no repair is under way. */
  public boolean isIdle() {
    return underWay.isEmpty();
  }

  /** The origins of which a peer has more, those first whose turn was longest ago. */
  private List<ReplicaId> wanted(
      ReplicaId peer, Frame.Status status, Predicate<ReplicaId> reachable, long nowNanos) {
    List<ReplicaId> wanted = new ArrayList<>();
    VersionVector known = status.changes().join(status.through());
    for (int i = 0; i < known.size(); i++) {
      ReplicaId origin = known.replica(i);
      if (!underWay.containsKey(origin)
          && !reachable.test(origin)
          && isBehind(peer, origin, status)
          && isTime(new Source(peer, origin), nowNanos)) {
        wanted.add(origin);
      }
    }
    // Long.MIN_VALUE: never. Times may be negative, and this process does not live for 292 years.
    wanted.sort(
        Comparator.comparingLong(
            origin -> begunNanos.getOrDefault(new Source(peer, origin), Long.MIN_VALUE)));
    return wanted;
  }

  /**
   * From so many origins a peer is asked at once: their pages together are about what the streams
   * may have under way, or on a narrow link they would keep everything else waiting. A page may be
   * one object, however large.
   */
  private int atOnce(String dc) {
    Long seen = pageBytes.get(dc);
    long page = Math.max(around.settings().frameBytes(), seen == null ? 0 : seen);
    int all = (int) Math.max(1, around.settings().windowBytes() / page);
    return seen == null ? Math.min(all, FIRST_AT_ONCE) : all;
  }

  /** Notes what a page weighs: the heaviest counts less with each that is lighter. */
  private void notePage(String dc, long bytes) {
    long before = pageBytes.getOrDefault(dc, 0L);
    pageBytes.put(dc, Math.max(bytes, before - before / FADING));
  }

  /** Repairs of one origin from one peer begin apart: what changes all the time comes joined. */
  private boolean isTime(Source source, long nowNanos) {
    Long begun = begunNanos.get(source);
    return begun == null || nowNanos - begun >= around.healNanos();
  }

  /**
   * Whether the peer may have something of the origin. Where all that the origin did was undone
   * before it was shipped nothing of it changed there, and others' updates depend on it all the
   * same: then only the peer's word is missing that there is nothing.
   */
  private boolean isBehind(ReplicaId peer, ReplicaId origin, Frame.Status status) {
    Repaired last = repaired.getOrDefault(new Source(peer, origin), Repaired.NOTHING);
    Place there = new Place(status.life(), status.changes().get(origin));
    long through = status.through().get(origin);
    return (there.change() > 0 && !there.equals(last.place))
        || (through > last.through && through > knowledge.through().get(origin));
  }

  /** Whether everything that the peer has of the origin was fetched, as far as its status tells. */
  public boolean isDone(ReplicaId peer, ReplicaId origin) {
    Frame.Status status = knowledge.status(peer.dc());
    return status != null && !isBehind(peer, origin, status);
  }

  private void ask(ReplicaId origin, Repair repair, long request) {
    around
        .sink()
        .send(
            repair.peer,
            new Frame.Heal(request, origin, repair.after, repair.besides, repair.page));
  }

  /** Keeps what came and builds on something that is not here. */
  @Override
  public void keepEarly(ReplicaId peer, ReplicaId origin, Shipment unready) {
    Repair repair = underWay.get(origin);
    if (repair != null && repair.peer.equals(peer)) {
      repair.keep(unready);
    }
  }

  @Override
  public long earlyBytes() {
    return underWay.values().stream().mapToLong(repair -> repair.unreadyBytes).sum();
  }

  /** What is kept of an object: of each origin by itself. */
  @Override
  public List<List<Shipment>> early(ObjectId object) {
    List<List<Shipment>> early = new ArrayList<>();
    for (Repair repair : underWay.values()) {
      Shipment unready = repair.unready.get(object);
      if (unready != null) {
        early.add(List.of(unready));
      }
    }
    return early;
  }

  /** Objects whose states are to be fetched from a peer: what they build on has not come. */
  public List<ObjectId> toFetch(ReplicaId peer, long nowNanos) {
    for (Repair repair : underWay.values()) {
      boolean waits = repair.last != null || repair.paused;
      if (waits && repair.peer.equals(peer) && nowNanos >= repair.fetchNanos) {
        repair.fetchNanos = nowNanos + around.retryNanos();
        return repair.unready.keySet().stream().limit(ObjectFetcher.OBJECTS_MAX).toList();
      }
    }
    return List.of();
  }

  /** Whether a page that has come in part is waited for: then it is not asked for again. */
  public boolean comes(ReplicaId peer, Frame.States states, long nowNanos) {
    Repair repair = underWay.get(states.origin().orElseThrow());
    return repair != null
        && repair.peer.equals(peer)
        && repair.last == null
        && repair.asking.comes(states.request(), nowNanos);
  }

  /** The rest of a page does not come: it is asked for again. */
  public void comesNot(ReplicaId peer, ReplicaId origin) {
    Repair repair = underWay.get(origin);
    if (repair != null && repair.peer.equals(peer)) {
      repair.asking.comesNot();
    }
  }

  /** What a peer has given of an origin was lost here: all of it is asked for again. */
  public void lost(ReplicaId peer, ReplicaId origin) {
    repaired.remove(new Source(peer, origin));
    Repair repair = underWay.get(origin);
    if (repair != null && repair.peer.equals(peer)) {
      underWay.remove(origin);
    }
  }

  /** Goes on after a page was applied or held. Returns whether it was the one waited for. */
  public boolean received(ReplicaId peer, PeerAnswer answer, long nowNanos) {
    Frame.States states = answer.states();
    ReplicaId origin = states.origin().orElseThrow();
    Repair repair = underWay.get(origin);
    if (repair == null
        || !repair.peer.equals(peer)
        || repair.last != null
        || !repair.asking.answered(states.request(), nowNanos)) {
      return false;
    }
    notePage(peer.dc(), answer.frameBytes());
    if (states.next().isPresent()) {
      repair.page = states.next().get();
      repair.paused = true;
      goOn(origin, repair, nowNanos);
    } else {
      repair.last = states;
    }
    // What is not ready builds on what is on its way, most often; otherwise it is fetched.
    repair.fetchNanos = nowNanos + PendingUpdates.COMING_NANOS;
    return true;
  }

  /**
   * Asks for the next page, unless what is not ready takes too much. Then its objects' states are
   * fetched, which wait for nothing.
   */
  private void goOn(ReplicaId origin, Repair repair, long nowNanos) {
    if (earlyBytes() <= around.settings().memory().waiting()) {
      repair.paused = false;
      ask(origin, repair, repair.asking.ask(nowNanos));
    }
  }

  /**
   * Goes on with repairs that wait for what they brought too early, and ends those of which
   * everything has come and is applied; returns their last pages.
   */
  public List<Frame.States> takeDone(long nowNanos) {
    if (underWay.isEmpty()) {
      return List.of();
    }
    for (Map.Entry<ReplicaId, Repair> e : underWay.entrySet()) {
      if (e.getValue().paused) {
        e.getValue().dropUnready(applier::isKnown);
        goOn(e.getKey(), e.getValue(), nowNanos);
      }
    }
    List<Frame.States> done = new ArrayList<>();
    for (Iterator<Repair> it = underWay.values().iterator(); it.hasNext(); ) {
      Repair repair = it.next();
      if (repair.last != null) {
        repair.dropUnready(applier::isKnown);
        if (repair.unready.isEmpty()) {
          it.remove();
          ReplicaId origin = repair.last.origin().orElseThrow();
          repaired.put(
              new Source(repair.peer, origin),
              new Repaired(repair.last.changes(), repair.last.through()));
          done.add(repair.last);
        }
      }
    }
    return done;
  }

  /**
   * The peer cannot be asked at present. A repair goes on where it was if it soon can be: on a link
   * that is cut again and again one that began anew each time would not come to its end.
   */
  public void interrupted(String dc, long nowNanos) {
    for (Repair repair : underWay.values()) {
      if (repair.peer.dc().equals(dc)) {
        repair.interrupted(nowNanos);
      }
    }
  }

  /**
   * Gives repairs up that have been interrupted for so long that others are to be asked, and those
   * of origins that have shipped by themselves for as long: what they give once more would keep
   * others waiting on a narrow link.
   *
   * @param givenUp hears who was asked, and for which origin
   */
  public void giveUp(long nowNanos, BiConsumer<ReplicaId, ReplicaId> givenUp) {
    for (ReplicaId origin : List.copyOf(underWay.keySet())) {
      Repair repair = requireNonNull(underWay.get(origin));
      if (repair.isGivenUp(nowNanos, around.healNanos())) {
        underWay.remove(origin);
        givenUp.accept(repair.peer, origin);
      }
    }
  }

  /** A datacenter has a newer incarnation than the one that was asked. */
  public void ended(String dc) {
    underWay.values().removeIf(repair -> repair.peer.dc().equals(dc));
  }

  /**
   * Whether {@link #check} has something to repeat.
   *
   * @param heardNanos when something last came from the peer
   */
  public boolean isDue(ReplicaId peer, long heardNanos) {
    if (underWay.isEmpty() || knowledge.status(peer.dc()) == null) {
      return false;
    }
    for (Repair repair : underWay.values()) {
      if (repair.peer.equals(peer) && repair.mustAsk(heardNanos)) {
        return true;
      }
    }
    return false;
  }
}
