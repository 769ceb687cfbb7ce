package io.osier.propagation.heal;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.Replica;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.in.Applier;
import io.osier.propagation.in.Knowledge;
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
 * Answers peers that ask for states: of an origin that they cannot reach, of objects in whose
 * updates something is missing, and of what they may have lost. Not thread-safe.
 */
public final class Answers {
  private final Surroundings around;
  private final Knowledge knowledge;
  private final Applier applier;
  private final RelayLog relays;
  private final BooleanSupplier holding;

  /** Who asks for what of whose. */
  private record Asked(ReplicaId peer, ReplicaId origin) {}

  /** Last pages of healings that wait for a cut to be closed here. */
  private final Map<Asked, Frame.Heal> healsWaiting = new LinkedHashMap<>();

  /**
   * Nobody has asked yet.
   *
   * @param holding whether something that is committed here was not shipped yet
   */
  public Answers(
      Surroundings around,
      Knowledge knowledge,
      Applier applier,
      RelayLog relays,
      BooleanSupplier holding) {
    this.around = around;
    this.knowledge = knowledge;
    this.applier = applier;
    this.relays = relays;
    this.holding = holding;
  }

  public void heal(ReplicaId peer, Frame.Heal heal) {
    ReplicaId origin = heal.origin();
    Frame.Page page = heal.page();
    List<Shipment> shipments = new ArrayList<>();
    if (page.scanned().isPresent() || knowledge.isPruned(origin, page.place(), heal.through())) {
      Optional<ObjectId> scanned = page.scanned();
      Place base = scanned.isPresent() ? page.place() : knowledge.place(origin);
      Walk walk = new Walk(around, scanned);
      int bytes = 0;
      while (bytes < around.settings().frameBytes()) {
        Replica.Entry entry = walk.next();
        if (entry == null) {
          break;
        }
        bytes += addMissing(shipments, entry.object(), entry.state(), heal);
      }
      Frame.Page next = new Frame.Page(base, walk.isAtEnd() ? Optional.empty() : walk.last());
      // At the end of the scan the trail goes on from its base: `after` no longer matters, since
      // what is pruned now was scanned.
      answer(peer, heal, Optional.of(next), shipments);
      return;
    }
    Place place = page.place();
    int bytes = 0;
    long read = 0;
    boolean end = true;
    for (Knowledge.Changed changed : knowledge.changedAfter(origin, place, Walk.OBJECTS_MAX)) {
      if (bytes >= around.settings().frameBytes() || read >= Walk.READ_BYTES_MAX) {
        end = false;
        break;
      }
      place = changed.place();
      Causal state = around.replica().state(changed.object());
      read += state == null ? 0 : state.heapBytes();
      bytes += addMissing(shipments, changed.object(), state, heal);
    }
    end = end && knowledge.changedAfter(origin, place, 1).isEmpty();
    if (end && around.cuts().areWhole() && holding.getAsBoolean()) {
      // The states show what is held here: with the cut that ships it they can be admitted
      // together.
      healsWaiting.put(new Asked(peer, origin), heal);
      return;
    }
    answer(
        peer,
        heal,
        end ? Optional.empty() : Optional.of(new Frame.Page(place, Optional.empty())),
        shipments);
  }

  private int addMissing(
      List<Shipment> shipments, ObjectId object, @Nullable Causal state, Frame.Heal heal) {
    if (state == null) {
      return 0; // dropped, since every datacenter has seen it removed
    }
    ReplicaId origin = heal.origin();
    long last = state.context().through(origin);
    if (last <= heal.through() || relays.isThere(object, origin, heal::has, state)) {
      return 0;
    }
    // Whoever takes nothing but states is new, or was away for long.
    Shipment joined = heal.after() == 0 ? null : relays.missing(object, origin, heal::has, state);
    if (joined == null || joined.content().sizeBytes() >= state.sizeBytes()) {
      return add(shipments, object, origin, last, state);
    }
    shipments.add(joined);
    return around.bytesOf(joined);
  }

  /** Adds a state; returns its bytes. */
  private int add(
      List<Shipment> shipments, ObjectId object, ReplicaId origin, long last, Causal state) {
    Shipment shipment = new Shipment(object, origin, 0, VersionVector.EMPTY, last, 0, 0, state);
    shipments.add(shipment);
    return around.bytesOf(shipment);
  }

  private void answer(
      ReplicaId peer, Frame.Heal heal, Optional<Frame.Page> next, List<Shipment> shipments) {
    ReplicaId origin = heal.origin();
    around
        .sink()
        .send(
            peer,
            new Frame.States(
                heal.request(),
                Optional.of(origin),
                next,
                knowledge.through().get(origin),
                knowledge.place(origin),
                next.isEmpty() ? around.cuts().deps(knowledge.here()) : VersionVector.EMPTY,
                shipments));
  }

  /** Answers the healings that waited for nothing to be held. */
  public void answerHealsWaiting() {
    if (!healsWaiting.isEmpty() && !holding.getAsBoolean()) {
      Map<Asked, Frame.Heal> due = new LinkedHashMap<>(healsWaiting);
      healsWaiting.clear();
      due.forEach((source, heal) -> heal(source.peer(), heal));
    }
  }

  /** Who has asked in a datacenter's name so far waits for no answer any more. */
  public void ended(String dc) {
    healsWaiting.keySet().removeIf(asked -> asked.peer().dc().equals(dc));
  }

  public void fetch(ReplicaId peer, Frame.Fetch fetch) {
    List<Shipment> shipments = new ArrayList<>();
    Optional<Frame.Page> next = Optional.empty();
    Optional<ObjectId> last = Optional.empty();
    int bytes = 0;
    for (ObjectId object : fetch.objects()) {
      if (bytes >= around.settings().frameBytes()) {
        next = Optional.of(new Frame.Page(Place.NONE, last));
        break;
      }
      Causal state = around.replica().state(object);
      if (state != null) {
        long through = state.context().through(around.self());
        bytes += add(shipments, object, around.self(), through, state);
      }
      last = Optional.of(object);
    }
    around
        .sink()
        .send(
            peer,
            new Frame.States(
                fetch.request(),
                Optional.empty(),
                next,
                0,
                Place.NONE,
                VersionVector.EMPTY,
                shipments));
  }

  /** Answers for the objects of which something was forgotten here, in order, up to a page. */
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
      Causal state = around.replica().state(last);
      if (hasForgotten(state, known.through())) {
        Causal whole = state == null ? Causal.bottom(last.type()) : state;
        bytes +=
            add(shipments, last, around.self(), knowledge.here(around.self()), whole.seen(all));
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

  private boolean hasForgotten(@Nullable Causal state, VersionVector known) {
    CausalContext here = state == null ? CausalContext.EMPTY : state.context();
    for (int i = 0; i < known.size(); i++) {
      ReplicaId r = known.replica(i);
      if (known.number(i) > here.through(r) && known.number(i) <= applier.seen(here, r)) {
        return true;
      }
    }
    return false;
  }
}
