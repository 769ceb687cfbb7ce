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
 * What has come for a {@code causal} keyspace and is not visible yet. Updates gather until the
 * sender closes a cut: everything of an origin up to a commit number, and the cut of others that it
 * depends on. {@link CutAdmission} says which cuts become visible.
 *
 * <p>Pure, not thread-safe.
 */
final class CausalDelivery {
  /**
   * A way by which updates come. What a peer's states bring of its own updates, which is asked for
   * while its stream stands still, does not come by its stream: that they end says nothing of it.
   *
   * @param peer who sends
   * @param of whose updates
   * @param isStream whether by the peer's own stream; otherwise by its states of an origin
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
   * Takes an update that waits until its cut is closed. What a closed cut of the stream has may
   * come again, where its sender begins anew: nothing would close it before the sender's next
   * commit. A state that comes again may show more of others, which their own streams bring.
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
   * A state of an object that was pulled and waits: one that has just this context, or otherwise
   * the last one of the peer's stream, or otherwise the last one of another; empty if there is
   * none.
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

  /** Whether something waits that was pulled. */
  boolean hasPulled() {
    for (CutQueue queue : queues.values()) { // without a stream: it is asked before each tick
      if (queue.hasPulled()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Sees to it that what was pulled stays as it is: it has only what differs from the version that
   * was here, and reads the rest of that (see {@link Decomposition#hold}). If one has not, as after
   * a long sleep of the process, everything that waits of its source is dropped: it must come once
   * more. What nobody can send once more is dropped from the lost state on.
   *
   * @return the sources of which it was dropped
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

  /** Whether a stream's cut up to there is new. */
  boolean isNew(Source source, long through) {
    CutQueue queue = queues.get(source);
    return through > (queue == null ? 0 : queue.closed);
  }

  /**
   * Closes a cut of a peer's own updates.
   *
   * @param through every update up to this number has come
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
      // Shipped early: something before it is still held at its origin.
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

  /** Closes what a peer's states bring of an origin. */
  void closeRepaired(Source source, long through, VersionVector deps, long nowNanos) {
    CutQueue queue = queue(source);
    List<CutQueue.Arrived> states = queue.takeOpen();
    queue.add(
        new CutQueue.Cut(
            source, Optional.of(source.of), through, deps, states, Optional.empty(), nowNanos));
  }

  /** What a peer's states have brought of an origin so far will not be closed. */
  void drop(Source source) {
    CutQueue queue = queues.get(source);
    if (queue != null) {
      queue.dropOpen();
    }
  }

  /** Takes states that complete nothing, but show what else they depend on. */
  void addWhole(Source source, List<CutQueue.Arrived> states, VersionVector deps, long nowNanos) {
    queue(source)
        .add(
            new CutQueue.Cut(
                source, Optional.empty(), 0, deps, states, Optional.empty(), nowNanos));
  }

  /**
   * A datacenter has a newer incarnation: what this one had not closed will never be, but what it
   * had may still be admitted.
   */
  void ended(ReplicaId former) {
    for (Map.Entry<Source, CutQueue> e : queues.entrySet()) {
      if (e.getKey().peer.equals(former)) {
        e.getValue().dropOpen();
        e.getValue().ended = true;
      }
    }
  }

  /** The datacenter of an incarnation that had {@link #ended} is a peer again. */
  void returned(ReplicaId peer) {
    for (Map.Entry<Source, CutQueue> e : queues.entrySet()) {
      if (e.getKey().peer.equals(peer)) {
        e.getValue().ended = false;
      }
    }
  }

  /**
   * Gives up the cuts of peers that have ended which depend on what nobody has any more. Only those
   * can: of what a peer that runs has shipped it has all that it depends on, and gives it to
   * others.
   *
   * <p>Why are they not admitted without it? A transaction would be seen without what it had seen,
   * states would show parts of transactions that are lost, and rights of a bounded counter would be
   * seen used of which it was lost who gave them, so that they could be used again. If somebody has
   * it all the same, and the cut, both come from there.
   *
   * @param here the present cut
   * @param lost whether nobody has more of an origin's updates than has come here
   */
  void giveUp(VersionVector here, Predicate<ReplicaId> lost) {
    if (leftBytes() == 0) {
      return;
    }
    VersionVector come = here;
    for (CutQueue queue : queues.values()) {
      for (CutQueue.Cut cut : queue.cuts) {
        come = cut.raise(come);
      }
    }
    for (Iterator<Map.Entry<Source, CutQueue>> it = queues.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<Source, CutQueue> e = it.next();
      CutQueue queue = e.getValue();
      // What the last one does not depend on, none before it does.
      while (queue.ended
          && !queue.cuts.isEmpty()
          && dependsOn(lost, queue.cuts.peekLast().deps().beyond(come))) {
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

  /** What waits takes so much in the heap, about, in bytes. */
  long heapBytes() {
    long bytes = 0;
    for (CutQueue queue : queues.values()) {
      bytes += queue.heapBytes();
    }
    return bytes;
  }

  /** Of {@link #heapBytes} what former incarnations of peers have left. */
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

  /** Whether a closed cut waits, of whatever source. */
  boolean hasCuts() {
    for (CutQueue queue : queues.values()) {
      if (!queue.cuts.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** How many updates of a source wait for the end of their cut. */
  int open(Source source) {
    CutQueue queue = queues.get(source);
    return queue == null ? 0 : queue.open();
  }

  /**
   * Whether a closed cut depends on more of a stream than has come of it.
   *
   * @param here the present cut
   */
  boolean isWanted(Source stream, VersionVector here) {
    CutQueue own = queues.get(stream);
    long come = Math.max(own == null ? 0 : own.closed, here.get(stream.of));
    for (CutQueue queue : queues.values()) {
      // The last of a source's cuts depends on all that those before it depend on.
      if (!queue.cuts.isEmpty() && queue.cuts.peekLast().deps().get(stream.of) > come) {
        return true;
      }
    }
    return false;
  }

  /** Whether a source's cut up to a number waits for what it depends on. */
  boolean isWaiting(Source source, long through) {
    CutQueue queue = queues.get(source);
    return queue != null && !queue.cuts.isEmpty() && queue.cuts.peekLast().through() == through;
  }

  /** Whether a closed cut of an origin waits for what it depends on. */
  boolean isWaiting(ReplicaId origin) {
    for (Map.Entry<Source, CutQueue> e : queues.entrySet()) {
      if (e.getKey().of.equals(origin) && !e.getValue().cuts.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** How many updates have come and are not visible. */
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
   * @return all that become visible now, in one step
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
