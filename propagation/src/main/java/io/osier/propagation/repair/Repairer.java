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
 * Fetches from third datacenters the updates of an origin that cannot be reached: one that is cut
 * off, or a former incarnation that lost its memory and will never ship again.
 *
 * <p>A peer's status counts the changes of each origin there. While an origin is out of reach, a
 * count that differs from the one at the last repair means that there may be something to fetch. At
 * most one repair for each origin is in progress, page by page, so that the asking side sets the
 * pace. Not thread-safe.
 */
public final class Repairer implements RepairBuffer {
  /** The most origins for which a peer is asked at once before the size of its pages is known. */
  private static final int FIRST_AT_ONCE = 4;

  /** With each smaller page, the size of the largest one fades by one part in this many. */
  private static final int FADING = 8;

  /** The most ranges of an origin's updates that a request says are here: a few bytes each. */
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

  /** By peer, the size of its largest page of late, in bytes. */
  private final Map<String, Long> pageBytes = new HashMap<>();

  /** When the last repair from a peer began. */
  private final Map<Source, Long> begunNanos = new HashMap<>();

  private final Map<ReplicaId, Repair> underWay = new TreeMap<>();

  /**
   * @param streamed whether an update of an origin's own stream was applied here. If none ever was,
   *     this datacenter may lack updates that the origin's updates assume to be everywhere; then it
   *     asks for states of whatever is not here
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
   * Starts the repairs that are due, and repeats requests.
   *
   * @param peer a peer that can be asked
   * @param heardNanos when the peer was last heard
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
      return; // the usual case
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

  /** Whether no repair is in progress. */
  public boolean isIdle() {
    return underWay.isEmpty();
  }

  /** Returns the origins of which a peer has more, those first whose repair began longest ago. */
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
    // Long.MIN_VALUE stands for never: times may be negative, but no process runs for 292 years.
    wanted.sort(
        Comparator.comparingLong(
            origin -> begunNanos.getOrDefault(new Source(peer, origin), Long.MIN_VALUE)));
    return wanted;
  }

  /**
   * Returns for how many origins a peer is asked at once. Their pages together are about as large
   * as what the streams may have in flight; more would delay everything else on a narrow link. A
   * page may be one object, however large.
   */
  private int atOnce(String dc) {
    Long seen = pageBytes.get(dc);
    long page = Math.max(around.settings().frameBytes(), seen == null ? 0 : seen);
    int all = (int) Math.max(1, around.settings().windowBytes() / page);
    return seen == null ? Math.min(all, FIRST_AT_ONCE) : all;
  }

  /** Notes the size of a page; the largest size fades with each smaller page. */
  private void notePage(String dc, long bytes) {
    long before = pageBytes.getOrDefault(dc, 0L);
    pageBytes.put(dc, Math.max(bytes, before - before / FADING));
  }

  /** Whether the next repair of an origin from a peer may begin: a pause joins frequent changes. */
  private boolean isTime(Source source, long nowNanos) {
    Long begun = begunNanos.get(source);
    return begun == null || nowNanos - begun >= around.healNanos();
  }

  /**
   * Whether the peer may have something of the origin. If everything that the origin did was undone
   * before it was shipped, the peer counts no change of it, and yet others' updates depend on it:
   * then the peer need only confirm that there is nothing.
   */
  private boolean isBehind(ReplicaId peer, ReplicaId origin, Frame.Status status) {
    Repaired last = repaired.getOrDefault(new Source(peer, origin), Repaired.NOTHING);
    Place there = new Place(status.life(), status.changes().get(origin));
    long through = status.through().get(origin);
    return (there.change() > 0 && !there.equals(last.place))
        || (through > last.through && through > knowledge.through().get(origin));
  }

  /** Whether everything that the peer has of the origin was fetched, as far as its status says. */
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

  /** Keeps a received update that builds on something which is not here. */
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

  /** Returns the kept updates of an object, one list for each origin. */
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

  /** Returns objects to fetch from a peer, since what their kept updates build on has not come. */
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

  /**
   * Notes that a part of a page was received. Returns whether it was expected and is not repeated.
   */
  public boolean comes(ReplicaId peer, Frame.States states, long nowNanos) {
    Repair repair = underWay.get(states.origin().orElseThrow());
    return repair != null
        && repair.peer.equals(peer)
        && repair.last == null
        && repair.asking.comes(states.request(), nowNanos);
  }

  /** Notes that the rest of a page will not come, so that it is requested again. */
  public void comesNot(ReplicaId peer, ReplicaId origin) {
    Repair repair = underWay.get(origin);
    if (repair != null && repair.peer.equals(peer)) {
      repair.asking.comesNot();
    }
  }

  /** Notes that all that a peer had sent of an origin was lost here: it is requested again. */
  public void lost(ReplicaId peer, ReplicaId origin) {
    repaired.remove(new Source(peer, origin));
    Repair repair = underWay.get(origin);
    if (repair != null && repair.peer.equals(peer)) {
      underWay.remove(origin);
    }
  }

  /** Goes on after a page was applied or kept. Returns whether it was the expected one. */
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
    // Most often, what unready updates build on is on its way; otherwise it is fetched.
    repair.fetchNanos = nowNanos + PendingUpdates.COMING_NANOS;
    return true;
  }

  /**
   * Requests the next page, unless unready updates take too much memory. Then the states of their
   * objects are fetched, which wait for nothing.
   */
  private void goOn(ReplicaId origin, Repair repair, long nowNanos) {
    if (earlyBytes() <= around.settings().memory().waiting()) {
      repair.paused = false;
      ask(origin, repair, repair.asking.ask(nowNanos));
    }
  }

  /**
   * Goes on with repairs that wait for their unready updates, and ends those of which everything
   * was received and applied; returns the last pages of these.
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
   * Notes that a peer cannot be asked at present. If it soon can be, its repairs go on where they
   * were: on a link that is cut again and again, a repair that began anew each time would never
   * finish.
   */
  public void interrupted(String dc, long nowNanos) {
    for (Repair repair : underWay.values()) {
      if (repair.peer.dc().equals(dc)) {
        repair.interrupted(nowNanos);
      }
    }
  }

  /**
   * Gives up repairs that have been interrupted for so long that other peers are to be asked, and
   * repairs of origins that have shipped their updates themselves for as long: a second copy would
   * delay others on a narrow link.
   *
   * @param givenUp is called with the peer that was asked and the origin
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

  /** Drops the repairs from a datacenter's former incarnation. */
  public void ended(String dc) {
    underWay.values().removeIf(repair -> repair.peer.dc().equals(dc));
  }

  /**
   * Whether {@link #check} has something to repeat.
   *
   * @param heardNanos when the peer was last heard
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
