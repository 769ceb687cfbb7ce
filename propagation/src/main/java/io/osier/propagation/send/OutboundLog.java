package io.osier.propagation.send;

import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.CompactedLog;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what this datacenter has committed and not yet shipped, and what it has shipped and some
 * peer may not have yet.
 *
 * <p>A committed delta first waits: as an operation until the batch of inputs ends, or joined with
 * the object's other ones until the deadline of its round. When it is shipped it becomes a segment,
 * and the count of shipped segments, the <em>tick</em>, places it in the shipped log: the objects
 * in the order in which each was last shipped. A peer's progress is one tick, and whatever it
 * missed is the shipped log's tail, so nothing is queued for a peer that is slow or away.
 *
 * <p>Bounds: an object appears once in the shipped log. Its segments are joined when they are many,
 * and dropped when the state is smaller, which is then shipped instead. The oldest segments are
 * also dropped when the budget is spent. If the places of the shipped log alone take more than the
 * budget, the oldest places go, and a peer that has not come so far is caught up by a scan. Not
 * thread-safe.
 */
final class OutboundLog {
  /**
   * About how many bytes an object's place takes in the heap besides its name: its log, its entries
   * in the maps, and the queue of its segments.
   */
  private static final long PLACE_BYTES = 288;

  /** If an object has more segments than this, they are joined into one. */
  private static final int SEGMENTS_MAX = 16;

  /**
   * An object's updates as they are taken to be shipped.
   *
   * @param floor the first commit number of the transaction to which the first update belongs
   * @param wasHeld whether they were held for a round
   */
  record Leaving(ObjectLog log, LogSegment segment, long floor, boolean wasHeld) {}

  private final Map<ObjectId, ObjectLog> logs = new HashMap<>();
  private final CompactedLog<ObjectLog> shipped = new CompactedLog<>(0);
  private final ArrayDeque<Leaving> ops = new ArrayDeque<>();

  /**
   * The least floor of the operations that wait, and of those that were taken since the queue was
   * last empty.
   */
  private long opsFloor = Long.MAX_VALUE;

  /** How many of the waiting operations were held before. */
  private int released;

  /** The objects that wait for a round, by the number of their first update's first dot. */
  private final TreeMap<Long, HeldUpdates> dirty = new TreeMap<>();

  /** The same by the age of the first update: an update may be older than its number. */
  private final TreeMap<HeldUpdates.Age, HeldUpdates> dirtyByAge = new TreeMap<>();

  private final Budget budget;
  private long committed;

  /** Other datacenters may have updates up to this commit number, and none after it. */
  private long told;

  private long prunedTick;

  /** How many bytes all shipped segments take in the heap. */
  private long keptBytes;

  /** No segments are kept of the objects that were last shipped up to this tick. */
  private long droppedUpTo;

  OutboundLog(long committed, Budget budget) {
    this.committed = committed;
    this.told = committed;
    this.budget = budget;
  }

  /**
   * Takes a committed update: it leaves at once, or is held for a round.
   *
   * @param floor the first commit number of its transaction: no part of a transaction may be said
   *     to be shipped before the rest
   */
  void commit(ObjectId object, LogSegment segment, long floor, boolean hold) {
    long first = committed + 1;
    committed = segment.last();
    ObjectLog log = logs.get(object);
    if (log == null) {
      log = new ObjectLog(object);
      logs.put(object, log);
      budget.take(placeBytes(object));
    }
    if (hold) {
      hold(log, segment, first, floor);
    } else {
      release(object);
      addOp(new Leaving(log, segment, floor, false));
    }
  }

  private void hold(ObjectLog log, LogSegment segment, long first, long floor) {
    HeldUpdates held = log.held;
    if (held == null) {
      budget.take(segment.heapBytes());
      held = new HeldUpdates(log, first, floor, segment);
      log.held = held;
      dirty.put(first, held);
      dirtyByAge.put(held.age(), held);
      return;
    }
    HeldUpdates.Age before = held.age();
    budget.give(held.segment.heapBytes());
    held.segment = held.segment.joined(segment);
    budget.take(held.segment.heapBytes());
    if (held.segment.firstNanos() != before.firstNanos()) {
      dirtyByAge.remove(before);
      dirtyByAge.put(held.age(), held);
    }
  }

  /** Notes an update that nobody waits for, since there is no other datacenter. */
  void commitForNobody(long number) {
    committed = number;
  }

  /** Moves an object's held updates to the operations that leave with this batch. */
  void release(ObjectId object) {
    ObjectLog log = logs.get(object);
    if (log != null && log.held != null) {
      released++;
      addOp(undirty(log.held));
    }
  }

  private static long placeBytes(ObjectId object) {
    return PLACE_BYTES + object.heapBytes();
  }

  private void addOp(Leaving leaving) {
    budget.take(leaving.segment.heapBytes());
    leaving.log.waitingOps++;
    opsFloor = Math.min(opsFloor, leaving.floor);
    ops.add(leaving);
  }

  /** Moves all held updates to the operations that leave with this batch. */
  void releaseAll() {
    dirtyObjects().forEach(this::release);
  }

  /** Whether updates that were held leave with this batch. */
  boolean hasReleased() {
    return released > 0;
  }

  private Leaving undirty(HeldUpdates held) {
    budget.give(held.segment.heapBytes());
    dirty.remove(held.first);
    dirtyByAge.remove(held.age());
    held.log.held = null;
    return new Leaving(held.log, held.segment, held.floor, true);
  }

  /** Takes the next waiting operation; null if there is none. */
  @Nullable Leaving takeOp() {
    Leaving leaving = ops.poll();
    if (leaving != null) {
      budget.give(leaving.segment.heapBytes());
      leaving.log.waitingOps--;
      released -= leaving.wasHeld ? 1 : 0;
      opsFloor = ops.isEmpty() ? Long.MAX_VALUE : opsFloor;
    }
    return leaving;
  }

  /**
   * Takes the held object whose first update is the oldest; null if that update was committed after
   * {@code firstNanosMax} or nothing is held.
   */
  @Nullable Leaving takeDirty(long firstNanosMax) {
    Map.Entry<HeldUpdates.Age, HeldUpdates> first = dirtyByAge.firstEntry();
    if (first == null || first.getKey().firstNanos() > firstNanosMax) {
      return null;
    }
    return undirty(first.getValue());
  }

  /**
   * Notes that updates are shipped to the peers that are connected; returns the segment with its
   * tick.
   */
  LogSegment shipped(Leaving leaving, long stateBytes) {
    LogSegment s = leaving.segment;
    ObjectLog log = leaving.log;
    if (log.tick != 0) {
      shipped.remove(log.tick);
    }
    log.tick = shipped.add(log);
    LogSegment segment =
        new LogSegment(
            s.predecessor(), s.needs(), s.last(), s.updates(), s.firstNanos(), log.tick, s.delta());
    log.segments.add(segment);
    log.bytes += segment.delta().sizeBytes();
    kept(log, segment.heapBytes());
    if (log.bytes > stateBytes) {
      drop(log);
    } else if (log.segments.size() > SEGMENTS_MAX) {
      compact(log);
    }
    shrink();
    return segment;
  }

  private void kept(ObjectLog log, long heapBytes) {
    log.heapBytes += heapBytes;
    keptBytes += heapBytes;
    budget.take(heapBytes);
  }

  private void shrink() {
    while (budget.isOver() && shipped.size() > 0) {
      budget.noteSpent();
      if (keptBytes > 0) {
        dropOldest();
      } else {
        prune(shipped.next(0));
      }
    }
  }

  private void compact(ObjectLog log) {
    LogSegment joined = log.segments.poll();
    for (LogSegment s : log.segments) {
      joined = joined.joined(s);
    }
    log.segments.clear();
    log.segments.add(joined);
    log.bytes = joined.delta().sizeBytes();
    kept(log, joined.heapBytes() - log.heapBytes);
  }

  private void drop(ObjectLog log) {
    for (LogSegment s : log.segments) {
      log.droppedNanos = log.droppedUpdates == 0 ? s.firstNanos() : log.droppedNanos;
      log.droppedUpdates =
          (int) Math.min(Integer.MAX_VALUE, (long) log.droppedUpdates + s.updates());
    }
    log.segments.clear();
    log.bytes = 0;
    kept(log, -log.heapBytes);
    log.droppedTick = log.tick;
  }

  private void dropOldest() {
    for (long tick = shipped.next(droppedUpTo); tick != 0; tick = shipped.next(tick)) {
      droppedUpTo = tick;
      ObjectLog log = shipped.get(tick);
      if (log.heapBytes > 0) {
        drop(log);
        return;
      }
    }
    throw new IllegalStateException("segments are kept of no object, yet take " + keptBytes);
  }

  /** Drops what every peer has: everything that was shipped up to this tick. */
  void prune(long tick) {
    for (long first = shipped.next(0); first != 0 && first <= tick; first = shipped.next(first)) {
      ObjectLog log = shipped.get(first);
      shipped.remove(first);
      drop(log);
      prunedTick = first;
      log.tick = 0;
      log.droppedUpdates = 0;
      if (log.isUnused()) {
        logs.remove(log.object);
        budget.give(placeBytes(log.object));
      }
    }
  }

  /** Drops everything, since there is no other datacenter any more. */
  void end() {
    while (takeDirty(Long.MAX_VALUE) != null || takeOp() != null) {
      // no peer waits for it
    }
    prune(ticks());
    logs.keySet().forEach(object -> budget.give(placeBytes(object)));
    logs.clear();
  }

  /** Returns the kept updates of an object; null if there are none. */
  @Nullable ObjectLog find(ObjectId object) {
    return logs.get(object);
  }

  /** Returns the objects in the order in which they were last shipped. */
  CompactedLog<ObjectLog> shipped() {
    return shipped;
  }

  /**
   * Returns the commit number up to which every update has been shipped. While operations wait it
   * may be too low: those that were taken count only when the last one has been taken.
   */
  long through() {
    long first = dirty.isEmpty() ? Long.MAX_VALUE : dirty.firstEntry().getValue().floor;
    return Math.min(committed, Math.min(first, opsFloor) - 1);
  }

  /**
   * Notes that updates are sent to a peer: from now on other datacenters may have all updates that
   * are committed by now.
   */
  void tells() {
    told = committed;
  }

  /**
   * Returns a commit number such that nobody else can have later ones: no update was sent since
   * they were given.
   */
  long told() {
    return told;
  }

  /** Returns the last commit number. */
  long committed() {
    return committed;
  }

  /**
   * Returns a tick after which nothing was shipped yet, and which no peer has reached. It is 0
   * where nothing was committed in this life: a datacenter that becomes a peer now has missed
   * nothing of it. That is so at each start, when other datacenters name the peers that the
   * configuration does not.
   *
   * @param former the last commit number of former lives
   */
  long mark(long former) {
    return committed == former && shipped.last() == 0 ? 0 : shipped.skip();
  }

  /** Returns the tick at the end of the shipped log. */
  long ticks() {
    return shipped.last();
  }

  /** Returns the tick up to which the shipped log may have dropped objects. */
  long prunedTick() {
    return prunedTick;
  }

  /** Whether operations wait for the end of the batch. */
  boolean hasOps() {
    return !ops.isEmpty();
  }

  /** Whether the budget is spent while updates wait for their round: then the round leaves now. */
  boolean isOver() {
    return budget.isOver() && !dirty.isEmpty();
  }

  /** Changes the budget to this many bytes; see {@link Budget#setLimit}. */
  void setLimit(long bytes) {
    budget.setLimit(bytes);
  }

  Budget.Usage usage() {
    return budget.usage();
  }

  /** Returns when the oldest held update was committed; Long.MAX_VALUE if none is held. */
  long oldestDirtyNanos() {
    return dirty.isEmpty() ? Long.MAX_VALUE : dirtyByAge.firstKey().firstNanos();
  }

  /** Returns how many objects are held. */
  int dirtyCount() {
    return dirty.size();
  }

  List<ObjectId> dirtyObjects() {
    List<ObjectId> objects = new ArrayList<>(dirty.size());
    dirty.values().forEach(held -> objects.add(held.log.object));
    return objects;
  }
}
