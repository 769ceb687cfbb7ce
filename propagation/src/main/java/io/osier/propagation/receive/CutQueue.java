package io.osier.propagation.receive;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What has come by one way for a {@code causal} keyspace and waits: updates of a cut that is still
 * open, and closed cuts. Not thread-safe.
 */
final class CutQueue {
  /** An update that waits. */
  record Arrived(Shipment shipment, boolean outage, long sentMillis) {
    private static final long HEAP_BYTES = HeapSize.object(HeapSize.REFERENCE + Long.BYTES + 1);

    /** What it takes in the heap, about, in bytes. */
    long heapBytes() {
      return HEAP_BYTES + shipment.heapBytes();
    }
  }

  /**
   * A closed cut.
   *
   * @param source where it came from
   * @param origin whose updates are complete with it; empty if it only brings what was forgotten
   * @param through up to which commit number of the origin
   * @param deps what must be visible before it, or with it
   * @param updates in the order in which they came
   * @param cursor the place in the source's stream with it; empty if the stream has brought more
   * @param closedNanos when it was closed
   */
  record Cut(
      CausalDelivery.Source source,
      Optional<ReplicaId> origin,
      long through,
      VersionVector deps,
      List<Arrived> updates,
      Optional<Frame.Cursor> cursor,
      long closedNanos) {

    private static final long HEAP_BYTES = HeapSize.object(5 * HeapSize.REFERENCE + 2 * Long.BYTES);

    /** What it takes in the heap without its updates, about, in bytes. */
    private long heapBytes() {
      return HEAP_BYTES + deps.heapBytes();
    }

    /** Whether all that it depends on is visible, or part of it: repaired states name their own. */
    boolean isNext(VersionVector cut) {
      return deps.isAtMost(raise(cut));
    }

    VersionVector raise(VersionVector cut) {
      return origin.isPresent() ? cut.raised(origin.get(), through) : cut;
    }
  }

  /** What an entry of {@link #states} takes in the heap. */
  private static final long STATE_BYTES = HeapSize.object(8 * HeapSize.REFERENCE);

  private List<Arrived> open = new ArrayList<>();

  /** Where among what is open an object's last state is that catches up or repairs. */
  private final Map<ObjectId, Integer> states = new HashMap<>();

  final ArrayDeque<Cut> cuts = new ArrayDeque<>();

  /** Of all that waits, the large states that were pulled, each with its number among them. */
  private final IdentityHashMap<Arrived, Long> pulled = new IdentityHashMap<>();

  private long pulledEver;

  long closed;

  /** What waits takes so much, without {@link #states}. */
  private long heapBytes;

  /** Whether its peer has ended: no more comes. */
  boolean ended;

  boolean isEmpty() {
    return open.isEmpty() && cuts.isEmpty();
  }

  /**
   * Takes an update. A state comes again where its sender begins anew, after a restart for example,
   * however often that is: then it takes the place of the one before.
   */
  void add(Arrived update) {
    heapBytes += update.heapBytes();
    Shipment shipment = update.shipment;
    if (shipment.content().isFull() && shipment.updates() == 0) {
      Integer before = states.get(shipment.object());
      if (before != null
          && shipment.content().context().covers(open.get(before).shipment.content().context())) {
        Arrived replaced = open.set(before, update);
        heapBytes -= replaced.heapBytes();
        pulled.remove(replaced);
        return;
      }
      states.put(shipment.object(), open.size());
    }
    open.add(update);
  }

  /** Takes a large state that was pulled. */
  void addPulled(Arrived state) {
    pulled.put(state, ++pulledEver);
    add(state);
  }

  /** Whether something waits that was pulled. */
  boolean hasPulled() {
    return !pulled.isEmpty();
  }

  /** How many updates wait for the end of their cut. */
  int open() {
    return open.size();
  }

  void dropOpen() {
    forget(takeOpen());
  }

  /** These do not wait any more. */
  private void forget(List<Arrived> updates) {
    if (!pulled.isEmpty()) {
      updates.forEach(pulled::remove);
    }
  }

  /** The state that was pulled last of those that are looked for. */
  Optional<CrdtState> lastPulled(Predicate<Shipment> wanted) {
    return pulled.entrySet().stream()
        .filter(e -> wanted.test(e.getKey().shipment))
        .max(Map.Entry.comparingByValue())
        .map(e -> e.getKey().shipment.content());
  }

  /** Of what was pulled, what has not stayed as it is; the rest will for some time more. */
  Set<Arrived> holdPulled() {
    Set<Arrived> lost = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Arrived state : pulled.keySet()) {
      if (!Decomposition.hold(state.shipment.content())) {
        lost.add(state);
      }
    }
    return lost;
  }

  /** Drops the first cut that has any of some updates, and what builds on it. */
  void dropFrom(Set<Arrived> lost, CausalDelivery.Source source) {
    while (cuts.stream().anyMatch(cut -> cut.updates.stream().anyMatch(lost::contains))) {
      removeLast(source);
    }
  }

  List<Arrived> takeOpen() {
    List<Arrived> taken = open;
    open = new ArrayList<>();
    states.clear();
    heapBytes -= heapBytes(taken);
    return taken;
  }

  void add(Cut cut) {
    cuts.add(cut);
    heapBytes += cut.heapBytes() + heapBytes(cut.updates);
  }

  /** A cut is not among them any more. */
  void removed(Cut cut) {
    heapBytes -= cut.heapBytes() + heapBytes(cut.updates);
    forget(cut.updates);
  }

  /** Gives up the last cut. Should the same incarnation be a peer again, it comes once more. */
  void removeLast(CausalDelivery.Source source) {
    removed(cuts.removeLast());
    closed = source.isStream() && !cuts.isEmpty() ? cuts.getLast().through : 0;
  }

  long heapBytes() {
    return heapBytes + states.size() * STATE_BYTES;
  }

  private static long heapBytes(List<Arrived> updates) {
    long bytes = 0;
    for (Arrived a : updates) {
      bytes += a.heapBytes();
    }
    return bytes;
  }
}
