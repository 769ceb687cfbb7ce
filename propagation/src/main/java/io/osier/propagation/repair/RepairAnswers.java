package io.osier.propagation.repair;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.host.OfferedVersion;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.receive.UpdateApplier;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Place;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers peers that request states: of an origin that they cannot reach, of objects in whose
 * updates something is missing, and of objects that they may have lost. Not thread-safe.
 */
public final class RepairAnswers {
  private final ReplicationContext around;
  private final ReceivedVector knowledge;
  private final UpdateApplier applier;
  private final RelayLog relays;
  private final BooleanSupplier holding;
  private final OfferedAnswers offered;

  private record Asked(ReplicaId peer, ReplicaId origin) {}

  /** Requests for last pages that wait until a cut is closed here. */
  private final Map<Asked, Frame.Heal> repairsWaiting = new LinkedHashMap<>();

  /**
   * @param holding returns whether some update that is committed here was not shipped yet
   */
  public RepairAnswers(
      ReplicationContext around,
      ReceivedVector knowledge,
      UpdateApplier applier,
      RelayLog relays,
      BooleanSupplier holding) {
    this.around = around;
    this.knowledge = knowledge;
    this.applier = applier;
    this.relays = relays;
    this.holding = holding;
    this.offered = new OfferedAnswers(around);
  }

  /**
   * The content of an answer: states and joined updates, and at most one large state to be pulled.
   */
  private final class Brought {
    final List<Shipment> shipments = new ArrayList<>();

    /** The large state that is to be pulled; null if there is none. */
    @Nullable OfferedVersion offered;

    private int bytes;

    boolean hasRoom() {
      return bytes < around.settings().frameBytes() && offered == null;
    }

    void add(Shipment shipment) {
      shipments.add(shipment);
      bytes += around.bytesOf(shipment);
    }

    void add(ObjectId object, ReplicaId origin, long last, CrdtState state) {
      if (state.sizeBytes() > around.settings().pullBytes() && EntryRanges.arePossible(state)) {
        offered = new OfferedVersion(object, state, around);
      } else {
        add(new Shipment(object, origin, 0, VersionVector.EMPTY, last, 0, 0, state));
      }
    }
  }

  public void repair(ReplicaId peer, Frame.Heal asked, long nowNanos) {
    ReplicaId origin = asked.origin();
    Frame.Page page = asked.page();
    Brought brought = new Brought();
    if (page.scanned().isPresent() || knowledge.isPruned(origin, page.place(), asked.through())) {
      Optional<ObjectId> scanned = page.scanned();
      Place base = scanned.isPresent() ? page.place() : knowledge.place(origin);
      ObjectWalk walk = new ObjectWalk(around, scanned);
      while (brought.hasRoom()) {
        StoredObjects.Entry entry = walk.next();
        if (entry == null) {
          break;
        }
        addMissing(brought, entry.object(), entry.state(), asked);
      }
      Frame.Page next = new Frame.Page(base, walk.isAtEnd() ? Optional.empty() : walk.last());
      // At the end of the scan the log goes on from its base: {@code after} no longer matters,
      // since what is pruned now was scanned.
      answer(peer, asked, Optional.of(next), brought, nowNanos);
      return;
    }
    Place place = page.place();
    long read = 0;
    boolean end = true;
    for (ReceivedVector.Changed changed :
        knowledge.changedAfter(origin, place, ObjectWalk.OBJECTS_MAX)) {
      if (!brought.hasRoom() || read >= ObjectWalk.READ_BYTES_MAX) {
        end = false;
        break;
      }
      place = changed.place();
      CrdtState state = around.replica().state(changed.object());
      read += state == null ? 0 : state.heapBytes();
      addMissing(brought, changed.object(), state, asked);
    }
    end = end && knowledge.changedAfter(origin, place, 1).isEmpty();
    if (end && around.cuts().areWhole() && holding.getAsBoolean()) {
      // The states also show what is held here, so they can only be admitted together with the cut
      // that ships it.
      repairsWaiting.put(new Asked(peer, origin), asked);
      return;
    }
    answer(
        peer,
        asked,
        end ? Optional.empty() : Optional.of(new Frame.Page(place, Optional.empty())),
        brought,
        nowNanos);
  }

  private void addMissing(
      Brought brought, ObjectId object, @Nullable CrdtState state, Frame.Heal asked) {
    if (state == null) {
      return; // dropped, since every datacenter has seen the object removed
    }
    ReplicaId origin = asked.origin();
    long last = state.context().through(origin);
    if (last <= asked.through() || relays.isThere(object, origin, asked::has, state)) {
      return;
    }
    // A peer that takes only states is new, or was away for long.
    Shipment joined = asked.after() == 0 ? null : relays.missing(object, origin, asked::has, state);
    if (joined == null || joined.content().sizeBytes() >= state.sizeBytes()) {
      brought.add(object, origin, last, state);
    } else {
      brought.add(joined);
    }
  }

  private void answer(
      ReplicaId peer, Frame.Heal asked, Optional<Frame.Page> next, Brought brought, long nowNanos) {
    ReplicaId origin = asked.origin();
    Frame.States states =
        new Frame.States(
            asked.request(),
            Optional.of(origin),
            next,
            knowledge.through().get(origin),
            knowledge.place(origin),
            next.isEmpty() ? around.cuts().deps(knowledge.here()) : VersionVector.EMPTY,
            brought.shipments);
    send(peer, states, brought, nowNanos);
  }

  private void send(ReplicaId peer, Frame.States states, Brought brought, long nowNanos) {
    offered.answered(peer, states.origin());
    OfferedVersion version = brought.offered;
    if (version == null) {
      around.sink().send(peer, states);
    } else if (version.hold()) {
      Frame.Offer offer = offered.offer(peer, states.origin(), version, nowNanos);
      around.sink().send(peer, new Frame.StatesAndOffer(states, offer));
    } // otherwise the version is just being read again: the peer repeats its request
  }

  /** Takes a peer's request for more of a large state that belongs to an answer. */
  public void pull(ReplicaId peer, Frame.Pull pull, long nowNanos) {
    offered.pull(peer, pull, nowNanos);
  }

  /** Keeps the versions that are being pulled from changing. To be called at least each minute. */
  public void holdOffered(long nowNanos) {
    offered.hold(nowNanos);
  }

  /** Drops the offers to a datacenter that cannot be reached: it asks again. */
  public void interrupted(String dc) {
    offered.interrupted(dc);
  }

  /** Answers the requests that waited until nothing was held, if that is so now. */
  public void answerRepairsWaiting(long nowNanos) {
    if (!repairsWaiting.isEmpty() && !holding.getAsBoolean()) {
      Map<Asked, Frame.Heal> due = new LinkedHashMap<>(repairsWaiting);
      repairsWaiting.clear();
      due.forEach((source, asked) -> repair(source.peer(), asked, nowNanos));
    }
  }

  /**
   * Drops the requests of a datacenter's former incarnation, which waits for no answer any more.
   */
  public void ended(String dc) {
    repairsWaiting.keySet().removeIf(asked -> asked.peer().dc().equals(dc));
    offered.interrupted(dc);
  }

  public void fetch(ReplicaId peer, Frame.Fetch fetch, long nowNanos) {
    Brought brought = new Brought();
    Optional<Frame.Page> next = Optional.empty();
    Optional<ObjectId> last = Optional.empty();
    for (ObjectId object : fetch.objects()) {
      if (!brought.hasRoom()) {
        next = Optional.of(new Frame.Page(Place.NONE, last));
        break;
      }
      CrdtState state = around.replica().state(object);
      if (state != null) {
        brought.add(object, around.self(), state.context().through(around.self()), state);
      }
      last = Optional.of(object);
    }
    Frame.States states =
        new Frame.States(
            fetch.request(),
            Optional.empty(),
            next,
            0,
            Place.NONE,
            VersionVector.EMPTY,
            brought.shipments);
    send(peer, states, brought, nowNanos);
  }

  /**
   * Answers for the objects of which something was forgotten here, in order, up to the size of a
   * page.
   */
  public void verify(ReplicaId peer, Frame.Verify verify) {
    if (verify.objects().isEmpty()) {
      return;
    }
    List<Shipment> shipments = new ArrayList<>();
    ObjectId last = verify.objects().getFirst().object();
    int bytes = 0;
    CausalContext all = CausalContext.EMPTY;
    for (int i = 0; i < knowledge.here().size(); i++) {
      all = all.withRange(knowledge.here().replica(i), 0, knowledge.here().number(i));
    }
    for (Frame.Known known : verify.objects()) {
      if (bytes >= around.settings().frameBytes()) {
        break;
      }
      last = known.object();
      CrdtState state = around.replica().state(last);
      if (hasForgotten(state, known.through())) {
        CrdtState whole = state == null ? CrdtState.bottom(last.type()) : state;
        Shipment shipment =
            new Shipment(
                last,
                around.self(),
                0,
                VersionVector.EMPTY,
                knowledge.here(around.self()),
                0,
                0,
                whole.seen(all));
        shipments.add(shipment);
        bytes += around.bytesOf(shipment);
      }
    }
    around
        .sink()
        .send(
            peer,
            new Frame.Verified(
                verify.request(),
                last,
                shipments,
                shipments.isEmpty() ? VersionVector.EMPTY : around.cuts().deps(knowledge.here())));
  }

  private boolean hasForgotten(@Nullable CrdtState state, VersionVector known) {
    CausalContext here = state == null ? CausalContext.EMPTY : state.context();
    for (int i = 0; i < known.size(); i++) {
      ReplicaId r = known.replica(i);
      if (known.number(i) > here.through(r) && known.number(i) <= applier.seen(here, r)) {
        return true;
      }
    }
    return false;
  }

  /** Drops the relayed updates that every datacenter has. */
  public void prune() {
    relays.prune(knowledge.everywhere());
  }
}
