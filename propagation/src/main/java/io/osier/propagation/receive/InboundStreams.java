package io.osier.propagation.receive;

import static java.util.Objects.requireNonNull;

import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.ObjectProgress;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The streams of all peers, and the accounts of what they bring. Not thread-safe. */
final class InboundStreams {
  private final ReplicationContext around;
  private final Map<String, InboundStream> byDc = new TreeMap<>();

  /** Streams of former incarnations, while updates of them wait for earlier ones. */
  private final List<InboundStream> left = new ArrayList<>();

  /** By datacenter, the last incarnation that has ended after something of it was applied. */
  private final Map<String, ReplicaId> ended = new HashMap<>();

  private long placesChanged;

  InboundStreams(ReplicationContext around) {
    this.around = around;
  }

  /** Returns the stream of a datacenter's last incarnation; null if it was never heard. */
  @Nullable InboundStream get(String dc) {
    return byDc.get(dc);
  }

  /** Returns the stream of a datacenter that was heard. */
  InboundStream of(String dc) {
    return requireNonNull(byDc.get(dc), "nothing was heard of the datacenter");
  }

  /** Adds a stream, which ends the datacenter's former one if there is one. */
  void put(InboundStream in) {
    InboundStream former = byDc.put(in.sender().dc(), in);
    if (former != null && former.position().applied().isPresent()) {
      ended.put(former.sender().dc(), former.sender());
    }
    if (former != null && former.pending().heapBytes() > 0) {
      left.add(former);
    }
  }

  /** Whether an update of an origin's own stream was applied here, in this life or before. */
  boolean haveBrought(ReplicaId origin) {
    InboundStream in = byDc.get(origin.dc());
    return (in != null && in.sender().equals(origin) && in.position().applied().isPresent())
        || origin.equals(ended.get(origin.dc()))
        || around.recovered().cursors().containsKey(origin);
  }

  Collection<InboundStream> all() {
    return byDc.values();
  }

  /**
   * Returns the places in streams up to which everything was applied, in this life or before.
   *
   * @param isNewest whether an incarnation's stream may still go on
   */
  Map<ReplicaId, Frame.Cursor> cursors(Predicate<ReplicaId> isNewest) {
    Map<ReplicaId, Frame.Cursor> cursors = new HashMap<>(around.recovered().cursors());
    cursors.keySet().removeIf(isNewest.negate());
    for (InboundStream in : all()) {
      in.position().applied().ifPresent(cursor -> cursors.put(in.sender(), cursor));
    }
    return cursors;
  }

  /** Returns about how many bytes the states that are being pulled take in the heap. */
  long pulledBytes() {
    long bytes = 0;
    for (InboundStream in : all()) {
      bytes += in.pulledBytes();
    }
    return bytes;
  }

  /** Returns the streams of former incarnations of which something waits. */
  List<InboundStream> left() {
    left.removeIf(in -> in.pending().heapBytes() == 0);
    return left;
  }

  /**
   * Returns the streams of which something may wait: those of all peers, and those that have ended.
   */
  Collection<InboundStream> holding() {
    if (left().isEmpty()) {
      return all();
    }
    List<InboundStream> holding = new ArrayList<>(all());
    holding.addAll(left);
    return holding;
  }

  /** Returns the waiting updates of an object, where each object becomes visible for itself. */
  List<ObjectProgress.Waiting> waiting(ObjectId object, long nowNanos) {
    List<ObjectProgress.Waiting> waiting = new ArrayList<>();
    for (InboundStream in : holding()) {
      PendingUpdates.Pending first = in.pending().first(object);
      if (first != null) {
        int updates = in.pending().of(object).stream().mapToInt(Shipment::updates).sum();
        waiting.add(
            new ObjectProgress.Waiting(
                in.sender().dc(),
                new ObjectProgress.Count(updates, nowNanos - first.sinceNanos()),
                first.missing()));
      }
    }
    return waiting;
  }

  /** Notes that the place may have moved up to which everything of a stream was applied. */
  void placeChanged() {
    placesChanged++;
  }

  long placesChanged() {
    return placesChanged;
  }

  /**
   * Counts an update of a stream that became visible.
   *
   * @param outage whether it waited for a link that was down
   * @param sentMillis when it was sent, by the sender's clock
   * @param waitedNanos how long it waited here for something else
   */
  void visible(
      InboundStream in,
      Shipment shipment,
      boolean outage,
      long sentMillis,
      long waitedNanos,
      long nowMillis) {
    around.stats().applied(shipment.updates());
    if (shipment.updates() > 0) {
      LateCounts.Delay delay =
          new LateCounts.Delay(
              shipment.ageMillis(),
              nowMillis - sentMillis,
              waitedNanos / 1_000_000,
              in.liveness().shortestWayMillis());
      around.stats().visible(in.sender().dc(), delay, outage, around.slaNanos() / 1_000_000);
    }
  }
}
