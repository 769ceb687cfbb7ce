package io.osier.propagation.receive;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ObjectAccess;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Joins received updates to their objects: says when an update can be joined, keeps the order, and
 * restores what a dropped object has forgotten. Not thread-safe.
 */
public final class UpdateApplier {
  private final ReceivedVector knowledge;
  private final ObjectAccess replica;
  private final Consumer<Shipment> applied;
  private final UpdateObserver observer;

  /**
   * @param applied is called with every update of others that was applied
   * @param observer is told of the updates that are followed
   */
  public UpdateApplier(
      ReceivedVector knowledge,
      ObjectAccess replica,
      Consumer<Shipment> applied,
      UpdateObserver observer) {
    this.knowledge = knowledge;
    this.replica = replica;
    this.applied = applied;
    this.observer = observer;
  }

  /**
   * Applies updates that build on each other, from cuts that are admitted together. The store
   * relies on a state's context having no gap. So each update is applied after those that it builds
   * on, and joined updates of two origins that build on each other are applied as one.
   */
  void applyInOrder(List<Shipment> waiting) {
    boolean progress = true;
    while (progress && !waiting.isEmpty()) {
      progress = false;
      for (Iterator<Shipment> it = waiting.iterator(); it.hasNext(); ) {
        Shipment shipment = it.next();
        if (isNext(shipment)) {
          apply(shipment);
          it.remove();
          progress = true;
        }
      }
    }
    Map<ObjectId, List<Shipment>> byObject = new TreeMap<>();
    waiting.forEach(s -> byObject.computeIfAbsent(s.object(), o -> new ArrayList<>()).add(s));
    byObject.values().forEach(this::applyTogether);
  }

  /** Whether an update leaves no gap in its object's context. */
  boolean isNext(Shipment shipment) {
    CausalContext here = context(shipment.object());
    if (shipment.content().isFull()) {
      // The clearing of a large set has not seen the updates since its transaction began.
      return seen(here, shipment.origin()) >= shipment.predecessor();
    }
    CausalContext content = shipment.content().context();
    for (int i = 0; i < content.size(); i++) {
      ReplicaId r = content.replica(i);
      long builtOn = r.equals(shipment.origin()) ? shipment.predecessor() : content.last(r);
      if (seen(here, r) < builtOn) {
        return false;
      }
    }
    return true;
  }

  /** Applies updates of one object that build on each other, as one. */
  void applyTogether(List<Shipment> shipments) {
    ObjectId object = shipments.getFirst().object();
    CrdtState state = replica.state(object);
    CrdtState before = state == null ? CrdtState.bottom(object.type()) : state;
    CrdtState after = before;
    for (Shipment s : shipments) {
      after = remembering(after, s).join(s.content());
    }
    replica.apply(whole(shipments.getLast(), after), after);
    knowledge.changed(shipments.getLast(), before.context(), after.context());
    shipments.forEach(applied);
    shipments.forEach(observer::visible);
  }

  /** Whether everything that the shipment builds on is here; a full state brings it along. */
  boolean isReady(Shipment shipment) {
    if (shipment.content().isFull()) {
      return true;
    }
    CausalContext here = context(shipment.object());
    if (seen(here, shipment.origin()) < shipment.predecessor()) {
      return false;
    }
    return missing(shipment).isEmpty();
  }

  /**
   * Returns the updates that the shipment's origin had seen of the object and that are not here.
   */
  VersionVector missing(Shipment shipment) {
    VersionVector needs = shipment.needs();
    if (needs.isEmpty()) {
      return needs;
    }
    CausalContext here = context(shipment.object());
    VersionVector missing = VersionVector.EMPTY;
    for (int i = 0; i < needs.size(); i++) {
      if (seen(here, needs.replica(i)) < needs.number(i)) {
        missing = missing.with(needs.replica(i), needs.number(i));
      }
    }
    return missing;
  }

  public boolean isKnown(Shipment shipment) {
    CausalContext here = context(shipment.object());
    CausalContext content = shipment.content().context();
    if (!shipment.content().isFull()) {
      return seen(here, shipment.origin()) >= shipment.last();
    }
    if (here.covers(content)) {
      return true;
    }
    for (int i = 0; i < content.size(); i++) {
      if (seen(here, content.replica(i)) < content.last(content.replica(i))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns up to which commit number of a replica all its updates on an object were seen here. An
   * object that was dropped after its removal does not remember them, but this datacenter has seen
   * all updates of a replica that are complete here.
   */
  public long seen(CausalContext object, ReplicaId replica) {
    return Math.max(object.through(replica), knowledge.here(replica));
  }

  CausalContext context(ObjectId object) {
    CrdtState state = replica.state(object);
    return state == null ? CausalContext.EMPTY : state.context();
  }

  /** Joins a shipment to its object. Returns false if the object contains it already. */
  boolean apply(Shipment shipment) {
    if (isKnown(shipment)) {
      observer.known(shipment);
      return false;
    }
    CrdtState before = replica.state(shipment.object());
    if (before == null) {
      before = CrdtState.bottom(shipment.object().type());
    }
    CrdtState remembering = remembering(before, shipment);
    CrdtState after = remembering.join(shipment.content());
    replica.apply(remembering == before ? shipment : whole(shipment, after), after);
    knowledge.changed(shipment, before.context(), after.context());
    applied.accept(shipment);
    if (observer.isOn()) {
      observer.visible(shipment);
    }
    return true;
  }

  /**
   * Returns a shipment of the object's new state in place of the received one: a journal may also
   * lack what the object has forgotten.
   */
  private static Shipment whole(Shipment received, CrdtState after) {
    return new Shipment(
        received.object(),
        received.origin(),
        0,
        VersionVector.EMPTY,
        received.last(),
        received.updates(),
        received.ageMillis(),
        after);
  }

  /**
   * Returns the object with the part of its context that it forgot when it was dropped after its
   * removal, so that an old shipment cannot bring back what was removed. All updates that are
   * complete here were seen, and those that are not in the object were removed.
   */
  private CrdtState remembering(CrdtState object, Shipment shipment) {
    CausalContext content = shipment.content().context();
    if (!shipment.content().isFull() && !mayHaveForgotten(object.context(), shipment)) {
      return object;
    }
    CausalContext seen = CausalContext.EMPTY;
    for (int i = 0; i < content.size(); i++) {
      ReplicaId r = content.replica(i);
      long number = Math.min(content.last(r), seen(object.context(), r));
      if (number > object.context().through(r)) {
        seen = seen.withRange(r, 0, number);
      }
    }
    return object.seen(seen);
  }

  /**
   * Whether a delta builds on something that the object does not remember, or may repeat some of
   * it. An object that was never dropped remembers everything that a ready delta builds on.
   */
  private static boolean mayHaveForgotten(CausalContext object, Shipment shipment) {
    CausalContext content = shipment.content().context();
    for (int i = 0; i < content.size(); i++) {
      long remembered = object.through(content.replica(i));
      // Its first ranges are those that it replaces; it builds on the updates before its last
      // range.
      long after = content.rangeAfter(i, content.rangeCount(i) - 1);
      boolean wholePast = content.rangeAfter(i, 0) == 0;
      if (after > remembered || (wholePast && remembered == 0 && shipment.updates() != 1)) {
        return true;
      }
    }
    return false;
  }
}
