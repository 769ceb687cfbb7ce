package io.osier.datacenter.trace;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.TraceId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Traces updates of one partition: its own until they are shipped to every peer, those of other
 * datacenters from their arrival until they are visible.
 *
 * <p>For the thread that runs the partition, except {@link #noted} and {@link #names}.
 */
final class PartitionTraces implements UpdateObserver {
  /** Most traced peers, as peers are bits of a long; updates to further ones are not traced. */
  private static final int PEERS_MAX = Long.SIZE;

  /** An own update that was not yet sent to all peers. */
  private static final class Leaving {
    final long number;
    final boolean held;
    final String why;
    final long committedNanos;

    /** When it was released for shipping, if {@link #left}; until then it is held. */
    long leftNanos;

    boolean left;

    /** The peers to which it was not sent yet, one bit each. */
    long peers;

    Leaving(long number, boolean held, String why, long committedNanos, long peers) {
      this.number = number;
      this.held = held;
      this.why = why;
      this.committedNanos = committedNanos;
      this.peers = peers;
    }
  }

  /** How a shipment has come. */
  private record Way(ReplicaId from, String via, boolean outage, long sentMillis) {}

  /** An update of another datacenter that has come and is not visible yet. */
  private static final class Arrival {
    final ReplicaId origin;
    final long number;
    final Way way;
    final int joined;

    /** The update's age when it was sent. */
    final long ageMillis;

    final long arrivedNanos;
    String waitsFor = "";
    VersionVector missing = VersionVector.EMPTY;

    Arrival(Shipment shipment, long number, long ageMillis, Way way, long arrivedNanos) {
      this.origin = shipment.origin();
      this.number = number;
      this.way = way;
      this.joined = shipment.updates();
      this.ageMillis = ageMillis;
      this.arrivedNanos = arrivedNanos;
    }

    boolean isIn(Shipment shipment) {
      return number <= shipment.last() && origin.equals(shipment.origin());
    }

    void waits(VersionVector forThem, String words) {
      missing = forThem;
      waitsFor = words;
    }
  }

  private final Traces traces;
  private final UpdateNames names;
  private final ReplicaId self;
  private final List<String> peers;

  /** By object, in the order in which the objects were added. */
  private final Map<ObjectId, List<Leaving>> leaving = new LinkedHashMap<>();

  private final Map<ObjectId, List<Arrival>> arrivals = new LinkedHashMap<>();
  private final NotedUpdates noted = new NotedUpdates();

  PartitionTraces(
      Traces traces, KeyspacePolicy policy, int partition, ReplicaId self, List<String> peers) {
    this.traces = traces;
    this.names = new UpdateNames(traces.settings(), policy, partition, self);
    this.self = self;
    this.peers = peers.size() <= PEERS_MAX ? List.copyOf(peers) : peers.subList(0, PEERS_MAX);
  }

  UpdateNames names() {
    return names;
  }

  /** Returns what peers have told of updates in shipments that follow. */
  NotedUpdates noted() {
    return noted;
  }

  @Override
  public void configured(KeyspacePolicy changed) {
    names.configured(changed);
  }

  @Override
  public boolean follows(long number) {
    return names.follows(number);
  }

  @Override
  public boolean isOn() {
    return true;
  }

  // ---------------------------------------------------------------- own updates

  @Override
  public void committed(
      ObjectId object,
      long number,
      boolean held,
      Supplier<String> why,
      long sinceNanos,
      boolean answered) {
    if (!follows(number)) {
      return;
    }
    TraceId trace = names.ownId(number);
    if (!answered && traces.sink().hasRoom(1)) {
      // No answer will end the span: acknowledged before, in a transaction, or a transfer of
      // rights.
      traces.root(trace, sinceNanos, traces.nanos(), names.says(self, number, object).build());
    }
    if (!peers.isEmpty() && hasPlace()) {
      long all = peers.size() == PEERS_MAX ? -1 : (1L << peers.size()) - 1;
      leaving
          .computeIfAbsent(object, o -> new ArrayList<>(1))
          .add(new Leaving(number, held, why.get(), sinceNanos, all));
    }
  }

  @Override
  public void left(Frame.Kind kind, Shipment updates, long coordinationNanos) {
    long now = traces.nanos();
    for (Leaving u : leaving.getOrDefault(updates.object(), List.of())) {
      if (u.left || u.number > updates.last()) {
        continue;
      }
      u.left = true;
      u.leftNanos = now;
      if (u.held && traces.sink().hasRoom(1)) {
        Attributes says =
            names
                .says(self, u.number, updates.object())
                .put(SpanAttributes.MODE, "state")
                .put(SpanAttributes.WHY, u.why)
                .put(SpanAttributes.JOINED, (long) updates.updates())
                .put(SpanAttributes.COORDINATION_MILLIS, coordinationNanos / 1e6)
                // An object that goes back to operations does not wait for its round.
                .put(SpanAttributes.VIA, SpanAttributes.word(kind))
                .build();
        traces.part(names.ownId(u.number), "hold", u.committedNanos, now, says);
      }
    }
  }

  @Override
  public void shipped(
      String peer, Frame.Kind kind, boolean outage, List<Shipment> shipments, long nowNanos) {
    int index = leaving.isEmpty() ? -1 : peers.indexOf(peer);
    if (index < 0) {
      return;
    }
    List<TraceNote.Joined> joined = new ArrayList<>(0);
    long now = traces.nanos();
    for (Shipment shipment : shipments) {
      List<Leaving> waiting = leaving.get(shipment.object());
      if (waiting == null || !shipment.origin().equals(self)) {
        continue;
      }
      for (Iterator<Leaving> it = waiting.iterator(); it.hasNext(); ) {
        Leaving u = it.next();
        if (u.number > shipment.last() || (u.peers & (1L << index)) == 0) {
          continue;
        }
        if (shipment.updates() != 1) {
          long ageMillis = Math.max(0, (nowNanos - u.committedNanos) / 1_000_000);
          joined.add(new TraceNote.Joined(shipment.last(), u.number, ageMillis));
        }
        ship(u, peer, kind, outage, shipment, now);
        u.peers &= ~(1L << index);
        if (u.peers == 0) {
          it.remove();
          traces.givePlace();
        }
      }
      if (waiting.isEmpty()) {
        leaving.remove(shipment.object());
      }
    }
    for (int from = 0; from < joined.size(); from += TraceNote.JOINED_MAX) {
      int to = Math.min(joined.size(), from + TraceNote.JOINED_MAX);
      traces.tell(peer, names.note(joined.subList(from, to)));
    }
  }

  private void ship(
      Leaving u, String peer, Frame.Kind kind, boolean outage, Shipment shipment, long now) {
    if (!traces.sink().hasRoom(1)) {
      return;
    }
    Attributes says =
        names
            .says(self, u.number)
            .put(SpanAttributes.PEER, peer)
            .put(SpanAttributes.MODE, u.held ? "state" : "op")
            .put(SpanAttributes.WHY, u.why)
            .put(SpanAttributes.VIA, SpanAttributes.word(kind))
            .put(SpanAttributes.JOINED, (long) shipment.updates())
            .put(SpanAttributes.OUTAGE, outage)
            .build();
    traces.part(names.ownId(u.number), "ship", u.left ? u.leftNanos : u.committedNanos, now, says);
  }

  // ---------------------------------------------------------------- others' updates

  @Override
  public void arrived(ReplicaId peer, Frame.Updates frame) {
    Way way = new Way(peer, SpanAttributes.word(frame.kind()), frame.outage(), frame.sentMillis());
    frame.shipments().forEach(shipment -> arrived(shipment, way));
  }

  @Override
  public void brought(ReplicaId peer, List<Shipment> shipments) {
    long nowMillis = traces.epochNanos(traces.nanos()) / 1_000_000;
    Way way = new Way(peer, "healing", true, nowMillis);
    shipments.forEach(shipment -> arrived(shipment, way));
  }

  private void arrived(Shipment shipment, Way way) {
    ReplicaId origin = shipment.origin();
    if (origin.equals(self)) {
      return;
    }
    boolean lastTold = false;
    for (TraceNote.Joined j : noted.take(origin, shipment.last())) {
      lastTold |= j.number() == shipment.last();
      arrived(shipment, j.number(), j.ageMillis(), way);
    }
    if (!lastTold && names.follows(origin, shipment.last())) {
      arrived(shipment, shipment.last(), shipment.ageMillis(), way);
    }
  }

  private void arrived(Shipment shipment, long number, long ageMillis, Way way) {
    for (Arrival a : arrivals.getOrDefault(shipment.object(), List.of())) {
      if (a.number == number && a.origin.equals(shipment.origin())) {
        return; // it has also come another way
      }
    }
    if (hasPlace()) {
      arrivals
          .computeIfAbsent(shipment.object(), o -> new ArrayList<>(1))
          .add(new Arrival(shipment, number, ageMillis, way, traces.nanos()));
    }
  }

  @Override
  public void waits(Shipment shipment, VersionVector missing) {
    for (Arrival a : arrivals.getOrDefault(shipment.object(), List.of())) {
      if (a.isIn(shipment)) {
        a.waits(
            missing,
            missing.isEmpty()
                ? "an earlier update of " + a.origin.dc() + " on the object"
                : SpanAttributes.words(missing));
      }
    }
  }

  @Override
  public void cutWaits(ReplicaId origin, long through, VersionVector missing) {
    for (List<Arrival> here : arrivals.values()) {
      for (Arrival a : here) {
        if (a.number <= through && a.way.from.equals(origin) && a.waitsFor.isEmpty()) {
          a.waits(missing, "its cut: " + SpanAttributes.words(missing));
        }
      }
    }
  }

  @Override
  public void visible(Shipment shipment) {
    take(shipment.object(), a -> shipment.content().context().last(a.origin) >= a.number)
        .forEach(a -> visible(a, shipment.object(), traces.nanos()));
  }

  @Override
  public void known(Shipment shipment) {
    take(shipment.object(), a -> a.isIn(shipment));
  }

  /** Removes and returns the arrivals whose tracing ends. */
  private List<Arrival> take(ObjectId object, Predicate<Arrival> which) {
    List<Arrival> here = arrivals.isEmpty() ? null : arrivals.get(object);
    if (here == null) {
      return List.of();
    }
    List<Arrival> taken = here.stream().filter(which).toList();
    here.removeAll(taken);
    taken.forEach(a -> traces.givePlace());
    if (here.isEmpty()) {
      arrivals.remove(object);
    }
    return taken;
  }

  private void visible(Arrival a, ObjectId object, long nowNanos) {
    if (!traces.sink().hasRoom(3)) {
      return;
    }
    TraceId trace = names.id(a.origin, a.number);
    long now = traces.epochNanos(nowNanos);
    long arrived = now - (nowNanos - a.arrivedNanos);
    // Times by the sender's clock, which may be ahead of this one.
    long sent = Math.min(a.way.sentMillis * 1_000_000, arrived);
    long committed = sent - a.ageMillis * 1_000_000;
    long delayMillis = (now - committed) / 1_000_000;
    boolean late = names.isLate(delayMillis);
    AttributesBuilder says =
        names
            .says(a.origin, a.number, object)
            .put(SpanAttributes.VIA, a.way.via)
            .put(SpanAttributes.PEER, a.way.from.dc())
            .put(SpanAttributes.JOINED, (long) a.joined)
            .put(SpanAttributes.OUTAGE, a.way.outage);
    if (a.joined > 0) { // a state does not tell its updates' age
      says.put(SpanAttributes.DELAY_MILLIS, delayMillis).put(SpanAttributes.LATE, late);
    }
    Attributes which = names.says(a.origin, a.number).build();
    long id = Traces.newId();
    SpanSink sink = traces.sink();
    sink.add(trace, Traces.newId(), id, "receive", SpanKind.INTERNAL, sent, arrived, which);
    if (!a.waitsFor.isEmpty()) {
      Attributes waited =
          which.toBuilder()
              .put(SpanAttributes.WAITS_FOR, a.waitsFor)
              .put(SpanAttributes.HELD_BACK_BY, SpanAttributes.origins(a.missing))
              .build();
      sink.add(trace, Traces.newId(), id, "wait", SpanKind.INTERNAL, arrived, now, waited);
    }
    // Last, so that a reader who sees it has all spans of this datacenter.
    sink.add(trace, id, trace.root(), "visible", SpanKind.CONSUMER, committed, now, says.build());
  }

  // ---------------------------------------------------------------- the bound

  /** Takes a place for one more update; if there is none, gives up the oldest update here. */
  private boolean hasPlace() {
    if (traces.takePlace()) {
      return true;
    }
    traces.sink().givenUp(1);
    return (giveUpOldestOf(leaving) || giveUpOldestOf(arrivals)) && traces.takePlace();
  }

  private <T> boolean giveUpOldestOf(Map<ObjectId, List<T>> objects) {
    Iterator<List<T>> it = objects.values().iterator();
    if (!it.hasNext()) {
      return false;
    }
    List<T> oldest = it.next();
    oldest.removeFirst();
    traces.givePlace();
    if (oldest.isEmpty()) {
      it.remove();
    }
    return true;
  }
}
