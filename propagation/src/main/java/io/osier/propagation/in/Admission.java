package io.osier.propagation.in;

import io.osier.core.CausalContext;
import io.osier.core.HeapSize;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.Decomposition;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
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
 * depends on. A cut is admitted, in one step, when what it depends on is here or is admitted with
 * it.
 *
 * <p>Why with it? An origin that is out of reach is healed by states from a third datacenter, which
 * depend on that one's own updates, and those on the origin's: neither can come first. So, if no
 * cut can be admitted alone, the largest set of cuts that together depend on nothing else is.
 *
 * <p>Pure, not thread-safe.
 */
final class Admission {
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
      Source source,
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

    /** Whether all that it depends on is visible, or part of it: healed states name their own. */
    private boolean isNext(VersionVector cut) {
      return deps.isAtMost(raise(cut));
    }

    private VersionVector raise(VersionVector cut) {
      return origin.isPresent() ? cut.raised(origin.get(), through) : cut;
    }
  }

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

  private static final class Queue {
    /** What an entry of {@link #states} takes in the heap. */
    private static final long STATE_BYTES = HeapSize.object(8 * HeapSize.REFERENCE);

    private List<Arrived> open = new ArrayList<>();

    /** Where among what is open an object's last state is that catches up or heals. */
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
     * Takes an update. A state comes again where its sender begins anew, after a restart for
     * example, however often that is: then it takes the place of the one before.
     */
    void add(Arrived update) {
      heapBytes += update.heapBytes();
      Shipment shipment = update.shipment;
      if (shipment.content().isFull() && shipment.updates() == 0) {
        Integer before = states.get(shipment.object());
        if (before != null && covers(shipment, open.get(before).shipment)) {
          Arrived replaced = open.set(before, update);
          heapBytes -= replaced.heapBytes();
          pulled.remove(replaced);
          return;
        }
        states.put(shipment.object(), open.size());
      }
      open.add(update);
    }

    private static boolean covers(Shipment later, Shipment earlier) {
      return later.content().context().covers(earlier.content().context());
    }

    /** Drops all that is open. */
    void dropOpen() {
      forget(takeOpen());
    }

    /** These do not wait any more. */
    private void forget(List<Arrived> updates) {
      if (!pulled.isEmpty()) {
        updates.forEach(pulled::remove);
      }
    }

    /** An object's last state among what is open, if it was pulled; otherwise one that waits. */
    Optional<Causal> pulled(ObjectId object) {
      Integer at = states.get(object);
      if (at != null && pulled.containsKey(open.get(at))) {
        return Optional.of(open.get(at).shipment.content());
      }
      return lastPulled(shipment -> shipment.object().equals(object));
    }

    /** The state that was pulled last of those that are looked for. */
    Optional<Causal> lastPulled(Predicate<Shipment> wanted) {
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
    void dropFrom(Set<Arrived> lost, Source source) {
      while (cuts.stream().anyMatch(cut -> cut.updates.stream().anyMatch(lost::contains))) {
        removeLast(source);
      }
    }

    /** Takes all that is open. */
    List<Arrived> takeOpen() {
      List<Arrived> taken = open;
      open = new ArrayList<>();
      states.clear();
      heapBytes -= Admission.heapBytes(taken);
      return taken;
    }

    void add(Cut cut) {
      cuts.add(cut);
      heapBytes += cut.heapBytes() + Admission.heapBytes(cut.updates);
    }

    /** A cut is not among them any more. */
    void removed(Cut cut) {
      heapBytes -= cut.heapBytes() + Admission.heapBytes(cut.updates);
      forget(cut.updates);
    }

    /** Gives up the last cut. Should the same incarnation be a peer again, it comes once more. */
    void removeLast(Source source) {
      removed(cuts.removeLast());
      closed = source.isStream && !cuts.isEmpty() ? cuts.getLast().through : 0;
    }

    long heapBytes() {
      return heapBytes + states.size() * STATE_BYTES;
    }
  }

  private final Map<Source, Queue> queues = new TreeMap<>();

  private Queue queue(Source source) {
    return queues.computeIfAbsent(source, s -> new Queue());
  }

  /**
   * Takes an update that waits until its cut is closed. What a closed cut of the stream has may
   * come again, where its sender begins anew: nothing would close it before the sender's next
   * commit. A state that comes again may show more of others, which their own streams bring.
   */
  void add(Source source, Arrived update) {
    Queue queue = queue(source);
    if (update.shipment.last() > queue.closed) {
      queue.add(update);
    }
  }

  /** Takes a large state that was pulled; otherwise as {@link #add}. */
  void addPulled(Source source, Arrived state) {
    Queue queue = queue(source);
    if (state.shipment.last() > queue.closed) {
      queue.pulled.put(state, ++queue.pulledEver);
      queue.add(state);
    }
  }

  /**
   * A state of an object that was pulled and waits: one that has just this context, or otherwise
   * the last one of the peer's stream, or otherwise the last one of another; empty if there is
   * none.
   */
  Optional<Causal> pulled(ReplicaId peer, ObjectId object, CausalContext context) {
    Optional<Causal> found = Optional.empty();
    for (Queue queue : queues.values()) {
      found =
          found.or(
              () ->
                  queue.lastPulled(
                      shipment ->
                          shipment.object().equals(object)
                              && shipment.content().context().equals(context)));
    }
    Queue stream = queues.get(Source.stream(peer));
    if (stream != null) {
      found = found.or(() -> stream.pulled(object));
    }
    for (Queue queue : queues.values()) {
      found = found.or(() -> queue.pulled(object));
    }
    return found;
  }

  /** Whether something waits that was pulled. */
  boolean hasPulled() {
    return queues.values().stream().anyMatch(q -> !q.pulled.isEmpty());
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
    for (Map.Entry<Source, Queue> e : queues.entrySet()) {
      Set<Arrived> lost = e.getValue().holdPulled();
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
    Queue queue = queues.get(source);
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
    Queue queue = queue(stream);
    List<Arrived> open = queue.takeOpen();
    List<Arrived> later = new ArrayList<>();
    List<Arrived> now = new ArrayList<>(open.size());
    for (Arrived a : open) {
      // Shipped early: something before it is still held at its origin.
      (a.shipment.last() > through ? later : now).add(a);
    }
    later.forEach(queue::add);
    queue.closed = through;
    queue.add(
        new Cut(
            stream,
            Optional.of(stream.of),
            through,
            deps,
            now,
            later.isEmpty() ? cursor : Optional.empty(),
            nowNanos));
  }

  /** Closes what a peer's states bring of an origin. */
  void closeHealed(Source source, long through, VersionVector deps, long nowNanos) {
    Queue queue = queue(source);
    List<Arrived> states = queue.takeOpen();
    queue.add(
        new Cut(source, Optional.of(source.of), through, deps, states, Optional.empty(), nowNanos));
  }

  /** What a peer's states have brought of an origin so far will not be closed. */
  void drop(Source source) {
    Queue queue = queues.get(source);
    if (queue != null) {
      queue.dropOpen();
    }
  }

  /** Takes states that complete nothing, but show what else they depend on. */
  void addWhole(Source source, List<Arrived> states, VersionVector deps, long nowNanos) {
    queue(source)
        .add(new Cut(source, Optional.empty(), 0, deps, states, Optional.empty(), nowNanos));
  }

  /**
   * A datacenter has a newer incarnation: what this one had not closed will never be, but what it
   * had may still be admitted.
   */
  void ended(ReplicaId former) {
    for (Map.Entry<Source, Queue> e : queues.entrySet()) {
      if (e.getKey().peer.equals(former)) {
        e.getValue().dropOpen();
        e.getValue().ended = true;
      }
    }
  }

  /** The datacenter of an incarnation that had {@link #ended} is a peer again. */
  void returned(ReplicaId peer) {
    for (Map.Entry<Source, Queue> e : queues.entrySet()) {
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
    for (Queue queue : queues.values()) {
      for (Cut cut : queue.cuts) {
        come = cut.raise(come);
      }
    }
    for (Iterator<Map.Entry<Source, Queue>> it = queues.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<Source, Queue> e = it.next();
      Queue queue = e.getValue();
      // What the last one does not depend on, none before it does.
      while (queue.ended
          && !queue.cuts.isEmpty()
          && dependsOn(lost, queue.cuts.peekLast().deps.beyond(come))) {
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

  private static long heapBytes(List<Arrived> updates) {
    long bytes = 0;
    for (Arrived a : updates) {
      bytes += a.heapBytes();
    }
    return bytes;
  }

  /** What waits takes so much in the heap, about, in bytes. */
  long heapBytes() {
    long bytes = 0;
    for (Queue queue : queues.values()) {
      bytes += queue.heapBytes();
    }
    return bytes;
  }

  /** Of {@link #heapBytes} what former incarnations of peers have left. */
  long leftBytes() {
    long bytes = 0;
    for (Queue queue : queues.values()) {
      bytes += queue.ended ? queue.heapBytes() : 0;
    }
    return bytes;
  }

  /** Whether nothing of a stream waits. */
  boolean isEmpty(Source source) {
    Queue queue = queues.get(source);
    return queue == null || queue.isEmpty();
  }

  /** Whether a closed cut waits, of whatever source. */
  boolean hasCuts() {
    for (Queue queue : queues.values()) {
      if (!queue.cuts.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** How many updates of a source wait for the end of their cut. */
  int open(Source source) {
    Queue queue = queues.get(source);
    return queue == null ? 0 : queue.open.size();
  }

  /**
   * Whether a closed cut depends on more of a stream than has come of it.
   *
   * @param here the present cut
   */
  boolean isWanted(Source stream, VersionVector here) {
    Queue own = queues.get(stream);
    long come = Math.max(own == null ? 0 : own.closed, here.get(stream.of));
    for (Queue queue : queues.values()) {
      // The last of a source's cuts depends on all that those before it depend on.
      if (!queue.cuts.isEmpty() && queue.cuts.peekLast().deps.get(stream.of) > come) {
        return true;
      }
    }
    return false;
  }

  /** Whether a source's cut up to a number waits for what it depends on. */
  boolean isWaiting(Source source, long through) {
    Queue queue = queues.get(source);
    return queue != null && !queue.cuts.isEmpty() && queue.cuts.peekLast().through == through;
  }

  /** Whether a closed cut of an origin waits for what it depends on. */
  boolean isWaiting(ReplicaId origin) {
    for (Map.Entry<Source, Queue> e : queues.entrySet()) {
      if (e.getKey().of.equals(origin) && !e.getValue().cuts.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** How many updates have come and are not visible. */
  int waiting() {
    int waiting = 0;
    for (Queue queue : queues.values()) {
      waiting += queue.open.size();
      for (Cut cut : queue.cuts) {
        waiting += cut.updates.size();
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
  List<Cut> take(VersionVector here) {
    List<Cut> taken = new ArrayList<>();
    VersionVector cut = here;
    boolean waiting = true;
    while (waiting) {
      waiting = false;
      boolean progress = false;
      for (Queue queue : queues.values()) {
        while (!queue.cuts.isEmpty() && queue.cuts.peek().isNext(cut)) {
          Cut next = queue.cuts.poll();
          cut = next.raise(cut);
          taken.add(next);
          progress = true;
        }
        waiting |= !queue.cuts.isEmpty();
      }
      if (waiting && !progress) {
        List<Cut> together = together(cut);
        for (Cut c : together) {
          cut = c.raise(cut);
        }
        if (together.isEmpty()) {
          break;
        }
        taken.addAll(together);
      }
    }
    for (Cut c : taken) {
      queue(c.source).removed(c);
    }
    for (Iterator<Queue> it = queues.values().iterator(); it.hasNext(); ) {
      Queue queue = it.next();
      if (queue.isEmpty() && queue.closed == 0) {
        it.remove();
      }
    }
    return taken;
  }

  /** The largest set of cuts that depend only on the present one and on each other. */
  private List<Cut> together(VersionVector cut) {
    List<Queue> some = new ArrayList<>();
    List<List<Cut>> prefixes = new ArrayList<>();
    for (Queue queue : queues.values()) {
      if (!queue.cuts.isEmpty()) {
        some.add(queue);
        prefixes.add(new ArrayList<>(queue.cuts));
      }
    }
    if (some.size() < 2) {
      return List.of(); // alone it was tried
    }
    boolean shrunk = true;
    while (shrunk) {
      shrunk = false;
      VersionVector all = cut;
      for (List<Cut> prefix : prefixes) {
        for (Cut c : prefix) {
          all = c.raise(all);
        }
      }
      for (List<Cut> prefix : prefixes) {
        while (!prefix.isEmpty() && !isCovered(prefix, all)) {
          prefix.removeLast();
          shrunk = true;
        }
      }
    }
    List<Cut> found = new ArrayList<>();
    for (int i = 0; i < some.size(); i++) {
      for (Cut c : prefixes.get(i)) {
        some.get(i).cuts.poll();
        found.add(c);
      }
    }
    return found;
  }

  private static boolean isCovered(List<Cut> prefix, VersionVector all) {
    return prefix.getLast().deps.isAtMost(all);
  }
}
