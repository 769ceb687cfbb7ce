package io.osier.propagation.receive;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Holds the received updates of a {@code causal} keyspace that are not visible yet. Updates gather
 * until the sender closes a cut: everything of an origin up to a commit number, with the cut of the
 * others that it depends on. {@link CutAdmission} says which cuts become visible.
 *
 * <p>Pure, not thread-safe.
 */
final class CausalDelivery {
  /**
   * A way by which updates come. A peer may also send states of its own updates, which are
   * requested while its stream stands still; these are another source than its stream, because
   * their last page does not end anything in the stream.
   *
   * @param peer who sends
   * @param of whose updates it sends
   * @param isStream whether they come in the peer's own stream; otherwise in its states of an
   *     origin
   */
  record Source(ReplicaId peer, ReplicaId of, boolean isStream) implements Comparable<Source> {
    static Source stream(ReplicaId peer) {
      return new Source(peer, peer, true);
    }

    static Source states(ReplicaId peer, ReplicaId of) {
      return new Source(peer, of, false);
    }

    @Override
    public int compareTo(Source other) {
      int order = peer.compareTo(other.peer);
      order = order != 0 ? order : of.compareTo(other.of);
      return order != 0 ? order : Boolean.compare(isStream, other.isStream);
    }
  }

  private final Map<Source, CutQueue> queues = new TreeMap<>();

  private CutQueue queue(Source source) {
    return queues.computeIfAbsent(source, s -> new CutQueue());
  }

  /**
   * Takes an update that waits until its cut is closed. An update of a closed cut may come again
   * when its sender restarts the stream; it is ignored, since nothing would close it before the
   * sender's next commit. A state that comes again may show more of others, but their own streams
   * bring that.
   */
  void add(Source source, CutQueue.Arrived update) {
    CutQueue queue = queue(source);
    if (update.shipment().last() > queue.closed) {
      queue.add(update);
    }
  }

  /** Takes a large state that was pulled; otherwise as {@link #add}. */
  void addPulled(Source source, CutQueue.Arrived state) {
    CutQueue queue = queue(source);
    if (state.shipment().last() > queue.closed) {
      queue.addPulled(state);
    }
  }

  /**
   * Returns a pulled state of an object that waits: one with exactly this context, or else the last
   * one of the peer's stream, or else the last one of another source; empty if there is none.
   */
  Optional<CrdtState> pulled(ReplicaId peer, ObjectId object, CausalContext context) {
    Predicate<Shipment> isOfObject = shipment -> shipment.object().equals(object);
    Optional<CrdtState> found = Optional.empty();
    for (CutQueue queue : queues.values()) {
      found =
          found.or(
              () -> queue.lastPulled(isOfObject.and(s -> s.content().context().equals(context))));
    }
    CutQueue stream = queues.get(Source.stream(peer));
    if (stream != null) {
      found = found.or(() -> stream.lastPulled(isOfObject));
    }
    for (CutQueue queue : queues.values()) {
      found = found.or(() -> queue.lastPulled(isOfObject));
    }
    return found;
  }

  /** Whether a pulled state waits. */
  boolean hasPulled() {
    for (CutQueue queue : queues.values()) { // without a stream: it is asked before each tick
      if (queue.hasPulled()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Keeps the pulled states from changing: such a state holds only the difference to the version
   * that was here, and reads the rest from that version (see {@link Decomposition#hold}). If a
   * state's version is gone, as after a long sleep of the process, everything that waits of its
   * source is dropped and must be sent again. Of a peer that has ended, which cannot send again,
   * only the cuts from the lost state on are dropped.
   *
   * @return the sources of which everything was dropped
   */
  List<Source> holdPulled() {
    List<Source> dropped = new ArrayList<>();
    for (Map.Entry<Source, CutQueue> e : queues.entrySet()) {
      Set<CutQueue.Arrived> lost = e.getValue().holdPulled();
      if (lost.isEmpty()) {
        continue;
      }
      if (e.getValue().ended) {
        e.getValue().dropFrom(lost, e.getKey());
      } else {
        dropped.add(e.getKey());
      }
    }
    dropped.forEach(queues::remove);
    return dropped;
  }

  /** Whether a stream's cut up to {@code through} has not been closed before. */
  boolean isNew(Source source, long through) {
    CutQueue queue = queues.get(source);
    return through > (queue == null ? 0 : queue.closed);
  }

  /**
   * Closes a cut of a peer's own updates.
   *
   * @param through every update up to this number was received
   * @param cursor the place in the stream
   */
  void close(
      Source stream,
      long through,
      VersionVector deps,
      Optional<Frame.Cursor> cursor,
      long nowNanos) {
    CutQueue queue = queue(stream);
    List<CutQueue.Arrived> open = queue.takeOpen();
    List<CutQueue.Arrived> later = new ArrayList<>();
    List<CutQueue.Arrived> now = new ArrayList<>(open.size());
    for (CutQueue.Arrived a : open) {
      // It was shipped early: its origin still holds an earlier update.
      (a.shipment().last() > through ? later : now).add(a);
    }
    later.forEach(queue::add);
    queue.closed = through;
    queue.add(
        new CutQueue.Cut(
            stream,
            Optional.of(stream.of),
            through,
            deps,
            now,
            later.isEmpty() ? cursor : Optional.empty(),
            nowNanos));
  }

  /** Closes the cut of an origin's states that a peer has sent. */
  void closeRepaired(Source source, long through, VersionVector deps, long nowNanos) {
    CutQueue queue = queue(source);
    List<CutQueue.Arrived> states = queue.takeOpen();
    queue.add(
        new CutQueue.Cut(
            source, Optional.of(source.of), through, deps, states, Optional.empty(), nowNanos));
  }

  /** Drops the updates of a source that wait for the end of their cut: nothing will close it. */
  void drop(Source source) {
    CutQueue queue = queues.get(source);
    if (queue != null) {
      queue.dropOpen();
    }
  }

  /** Takes states that complete no origin's updates, but depend on other updates. */
  void addWhole(Source source, List<CutQueue.Arrived> states, VersionVector deps, long nowNanos) {
    queue(source)
        .add(
            new CutQueue.Cut(
                source, Optional.empty(), 0, deps, states, Optional.empty(), nowNanos));
  }

  /**
   * Notes that a datacenter has a newer incarnation. Cuts of this one that are open will never be
   * closed and are dropped; its closed cuts may still be admitted.
   */
  void ended(ReplicaId former) {
    for (Map.Entry<Source, CutQueue> e : queues.entrySet()) {
      if (e.getKey().peer.equals(former)) {
        e.getValue().dropOpen();
        e.getValue().ended = true;
      }
    }
  }

  /** Notes that the datacenter of an incarnation that had {@link #ended} is a peer again. */
  void returned(ReplicaId peer) {
    for (Map.Entry<Source, CutQueue> e : queues.entrySet()) {
      if (e.getKey().peer.equals(peer)) {
        e.getValue().ended = false;
      }
    }
  }

  /**
   * Gives up cuts of ended peers that depend on updates which nobody has any more. Only those cuts
   * can be in this case: a running peer has everything that its shipped updates depend on, and
   * gives it to others.
   *
   * <p>Why are they not admitted without those updates? A transaction would be seen without what it
   * had seen, states would show parts of lost transactions, and rights of a bounded counter would
   * be seen used while the update that gave them is lost, so that they could be used again. If some
   * datacenter has those updates and the cut after all, both come from there.
   *
   * @param here the present cut
   * @param lost whether no datacenter has more of an origin's updates than was received here
   */
  void giveUp(VersionVector here, Predicate<ReplicaId> lost) {
    if (leftBytes() == 0) {
      return;
    }
    VersionVector received = here;
    for (CutQueue queue : queues.values()) {
      for (CutQueue.Cut cut : queue.cuts) {
        received = cut.raise(received);
      }
    }
    for (Iterator<Map.Entry<Source, CutQueue>> it = queues.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<Source, CutQueue> e = it.next();
      CutQueue queue = e.getValue();
      // Every cut depends on all that the cuts before it depend on, so the last one is checked
      // first.
      while (queue.ended
          && !queue.cuts.isEmpty()
          && dependsOn(lost, queue.cuts.peekLast().deps().beyond(received))) {
        queue.removeLast(e.getKey());
      }
      if (queue.isEmpty() && queue.closed == 0) {
        it.remove();
      }
    }
  }

  private static boolean dependsOn(Predicate<ReplicaId> lost, VersionVector missing) {
    for (int i = 0; i < missing.size(); i++) {
      if (lost.test(missing.replica(i))) {
        return true;
      }
    }
    return false;
  }

  /** Returns about how many bytes everything that waits takes in the heap. */
  long heapBytes() {
    long bytes = 0;
    for (CutQueue queue : queues.values()) {
      bytes += queue.heapBytes();
    }
    return bytes;
  }

  /** Returns the part of {@link #heapBytes} that former incarnations of peers have left. */
  long leftBytes() {
    long bytes = 0;
    for (CutQueue queue : queues.values()) {
      bytes += queue.ended ? queue.heapBytes() : 0;
    }
    return bytes;
  }

  /** Whether nothing of a stream waits. */
  boolean isEmpty(Source source) {
    CutQueue queue = queues.get(source);
    return queue == null || queue.isEmpty();
  }

  /** Whether a closed cut of any source waits. */
  boolean hasCuts() {
    for (CutQueue queue : queues.values()) {
      if (!queue.cuts.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many updates of a source wait for the end of their cut. */
  int open(Source source) {
    CutQueue queue = queues.get(source);
    return queue == null ? 0 : queue.open();
  }

  /**
   * Whether a closed cut depends on later updates of a stream than were received.
   *
   * @param here the present cut
   */
  boolean isWanted(Source stream, VersionVector here) {
    CutQueue own = queues.get(stream);
    long received = Math.max(own == null ? 0 : own.closed, here.get(stream.of));
    for (CutQueue queue : queues.values()) {
      // The last of a source's cuts depends on all that those before it depend on.
      if (!queue.cuts.isEmpty() && queue.cuts.peekLast().deps().get(stream.of) > received) {
        return true;
      }
    }
    return false;
  }

  /** Whether a source's cut up to a number waits for its dependencies. */
  boolean isWaiting(Source source, long through) {
    CutQueue queue = queues.get(source);
    return queue != null && !queue.cuts.isEmpty() && queue.cuts.peekLast().through() == through;
  }

  /** Whether a closed cut of an origin waits for its dependencies. */
  boolean isWaiting(ReplicaId origin) {
    for (Map.Entry<Source, CutQueue> e : queues.entrySet()) {
      if (e.getKey().of.equals(origin) && !e.getValue().cuts.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many received updates are not visible. */
  int waiting() {
    int waiting = 0;
    for (CutQueue queue : queues.values()) {
      waiting += queue.open();
      for (CutQueue.Cut cut : queue.cuts) {
        waiting += cut.updates().size();
      }
    }
    return waiting;
  }

  /**
   * Takes the cuts that can be admitted, in the order in which they are to be applied.
   *
   * @param here the present cut, this datacenter's own updates included
   * @return all cuts that become visible now, in one step
   */
  List<CutQueue.Cut> take(VersionVector here) {
    List<CutQueue.Cut> taken = CutAdmission.admissible(queues.values(), here);
    for (CutQueue.Cut cut : taken) {
      CutQueue queue = queue(cut.source());
      queue.removed(queue.cuts.remove());
    }
    for (Iterator<CutQueue> it = queues.values().iterator(); it.hasNext(); ) {
      CutQueue queue = it.next();
      if (queue.isEmpty() && queue.closed == 0) {
        it.remove();
      }
    }
    return taken;
  }
}
