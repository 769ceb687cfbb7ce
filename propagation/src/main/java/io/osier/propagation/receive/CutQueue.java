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
 * Holds the waiting updates from one source for a {@code causal} keyspace: those of a cut that is
 * still open, and closed cuts. Not thread-safe.
 */
final class CutQueue {
  /** An update that waits. */
  record Arrived(Shipment shipment, boolean outage, long sentMillis) {
    private static final long HEAP_BYTES = HeapSize.object(HeapSize.REFERENCE + Long.BYTES + 1);

    /** Returns about how many bytes the update takes in the heap. */
    long heapBytes() {
      return HEAP_BYTES + shipment.heapBytes();
    }
  }

  /**
   * A closed cut.
   *
   * @param source where it came from
   * @param origin whose updates are complete with it; empty if it only brings back forgotten
   *     updates
   * @param through the origin's updates are complete up to this commit number
   * @param deps what must be visible before the cut, or together with it
   * @param updates in the order in which they came
   * @param cursor the place in the source's stream after the cut; empty if the stream has brought
   *     more
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

    /** Returns about how many bytes the cut takes in the heap, without its updates. */
    private long heapBytes() {
      return HEAP_BYTES + deps.heapBytes();
    }

    /**
     * Whether all that the cut depends on is visible or in the cut itself, as with repaired states.
     */
    boolean isNext(VersionVector cut) {
      return deps.isAtMost(raise(cut));
    }

    VersionVector raise(VersionVector cut) {
      return origin.isPresent() ? cut.raised(origin.get(), through) : cut;
    }
  }

  /** The bytes that an entry of {@link #states} takes in the heap. */
  private static final long STATE_BYTES = HeapSize.object(8 * HeapSize.REFERENCE);

  private List<Arrived> open = new ArrayList<>();

  /** The index in {@link #open} of each object's last state that came by catching up or repair. */
  private final Map<ObjectId, Integer> states = new HashMap<>();

  final ArrayDeque<Cut> cuts = new ArrayDeque<>();

  /** The pulled large states among all that waits, numbered in the order of their arrival. */
  private final IdentityHashMap<Arrived, Long> pulled = new IdentityHashMap<>();

  private long pulledEver;

  long closed;

  /** The heap bytes of all that waits, without {@link #states}. */
  private long heapBytes;

  /** Whether the source's peer has ended, so that no more comes. */
  boolean ended;

  boolean isEmpty() {
    return open.isEmpty() && cuts.isEmpty();
  }

  /**
   * Takes an update. A sender that restarts its stream, for example after a restart of its process,
   * sends a state again; it replaces the former one.
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

  /** Whether a pulled state waits. */
  boolean hasPulled() {
    return !pulled.isEmpty();
  }

  /** Returns how many updates wait for the end of their cut. */
  int open() {
    return open.size();
  }

  void dropOpen() {
    forget(takeOpen());
  }

  /** Forgets that these updates were pulled, since they do not wait any more. */
  private void forget(List<Arrived> updates) {
    if (!pulled.isEmpty()) {
      updates.forEach(pulled::remove);
    }
  }

  /** Returns the wanted state that was pulled last. */
  Optional<CrdtState> lastPulled(Predicate<Shipment> wanted) {
    return pulled.entrySet().stream()
        .filter(e -> wanted.test(e.getKey().shipment))
        .max(Map.Entry.comparingByValue())
        .map(e -> e.getKey().shipment.content());
  }

  /**
   * Returns the pulled states that could not be kept from changing; the others are kept for a time.
   */
  Set<Arrived> holdPulled() {
    Set<Arrived> lost = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Arrived state : pulled.keySet()) {
      if (!Decomposition.hold(state.shipment.content())) {
        lost.add(state);
      }
    }
    return lost;
  }

  /** Drops the first cut that contains any of these updates, and all cuts after it. */
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

  /** Updates the accounts after a cut was removed. */
  void removed(Cut cut) {
    heapBytes -= cut.heapBytes() + heapBytes(cut.updates);
    forget(cut.updates);
  }

  /** Gives up the last cut. If the same incarnation is a peer again, it sends the cut again. */
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
