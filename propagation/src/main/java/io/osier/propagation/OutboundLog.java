package io.osier.propagation;

import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What this datacenter has committed and has not yet shipped, and what it has shipped and some peer
 * may not yet have.
 *
 * <p>A committed delta first waits: as an operation until the batch of inputs ends, or joined with
 * the object's other ones until the deadline of its round. When it is shipped it becomes a segment,
 * and the count of shipped segments, the <em>tick</em>, places it in the trail: the objects in the
 * order in which each was last shipped. A peer's progress is one tick, and whatever it missed is
 * the trail's tail, so nothing is queued for a peer that is slow or away.
 *
 * <p>Bounds: an object appears once in the trail; its segments are joined when they are many,
 * dropped when the state is smaller or when all of them together exceed {@link
 * #RETAINED_BYTES_MAX}, and then the state is shipped instead. Not thread-safe.
 */
final class OutboundLog {
  /** Segments kept for all objects together, in bytes. */
  static final long RETAINED_BYTES_MAX = 64L << 20;

  /** More segments of one object than this are joined into one. */
  private static final int SEGMENTS_MAX = 16;

  /**
   * Updates of one object, joined.
   *
   * @param predecessor this datacenter's last commit number on the object before them
   * @param needs what else of the object they build on
   * @param last the last one's commit number
   * @param updates how many
   * @param firstNanos when the oldest was committed
   * @param tick its place among all shipped segments; 0 until then
   */
  record Segment(
      long predecessor,
      VersionVector needs,
      long last,
      int updates,
      long firstNanos,
      long tick,
      Causal delta) {

    Segment joined(Segment later) {
      return new Segment(
          predecessor,
          needs.join(later.needs),
          later.last,
          updates + later.updates,
          Math.min(firstNanos, later.firstNanos),
          later.tick,
          delta.join(later.delta));
    }
  }

  /** One object's part of the log. */
  static final class ObjectLog {
    final ObjectId object;

    /** Shipped and kept, oldest first. */
    private final ArrayDeque<Segment> segments = new ArrayDeque<>(2);

    private long bytes;

    /** Segments up to this tick are no longer kept. */
    private long droppedTick;

    /** The last shipped segment's tick: the key in the trail. */
    private long tick;

    /** Joined updates that wait for their round, or null. */
    private Segment dirty;

    /** The number of the first waiting update's first dot: the key in the dirty map. */
    private long dirtyFirst;

    /** The first number of the transaction that it belongs to. */
    private long dirtyFloor;

    private int waitingOps;

    ObjectLog(ObjectId object) {
      this.object = object;
    }

    long tick() {
      return tick;
    }

    /**
     * What was shipped after the tick, joined; null if it is not kept any more and the state must
     * serve.
     */
    Segment since(long position) {
      if (droppedTick > position) {
        return null;
      }
      Segment joined = null;
      for (Segment s : segments) {
        if (s.tick > position) {
          joined = joined == null ? s : joined.joined(s);
        }
      }
      return joined;
    }

    private boolean isUnused() {
      return tick == 0 && dirty == null && waitingOps == 0;
    }
  }

  /**
   * An object's updates on their way out.
   *
   * @param floor the first number of the transaction that the first one belongs to
   * @param wasHeld whether they were held for a round
   */
  record Waiting(ObjectLog log, Segment segment, long floor, boolean wasHeld) {}

  /** Orders held objects: by age, then by number. */
  private record Age(long firstNanos, long first) implements Comparable<Age> {
    @Override
    public int compareTo(Age other) {
      // As nanoTime wants to be compared: by the difference.
      int byAge = Long.signum(firstNanos - other.firstNanos);
      return byAge != 0 ? byAge : Long.compare(first, other.first);
    }
  }

  private final Map<ObjectId, ObjectLog> logs = new HashMap<>();
  private final TreeMap<Long, ObjectLog> trail = new TreeMap<>();
  private final ArrayDeque<Waiting> ops = new ArrayDeque<>();

  /** The least floor of the operations that wait and of those that were taken since none did. */
  private long opsFloor = Long.MAX_VALUE;

  /** How many of the waiting operations were held. */
  private int released;

  private final TreeMap<Long, ObjectLog> dirty = new TreeMap<>();

  /** The same objects by the age of their first update: an update may be older than its number. */
  private final TreeMap<Age, ObjectLog> dirtyByAge = new TreeMap<>();

  private final long retainedBytesMax;
  private long committed;
  private long ticks;
  private long prunedTick;
  private long retainedBytes;

  /** Of the objects that were last shipped up to this tick no segments are kept. */
  private long droppedThrough;

  OutboundLog(long committed) {
    this(committed, RETAINED_BYTES_MAX);
  }

  /** As the other one, with another bound than {@link #RETAINED_BYTES_MAX}. */
  OutboundLog(long committed, long retainedBytesMax) {
    this.committed = committed;
    this.retainedBytesMax = retainedBytesMax;
  }

  /**
   * Takes a committed update: at once out, or held for a round.
   *
   * @param floor the first number of its transaction: no part of one may be claimed to be shipped
   *     before the rest
   */
  void commit(ObjectId object, Segment segment, long floor, boolean hold) {
    long first = committed + 1;
    committed = segment.last;
    ObjectLog log = logs.computeIfAbsent(object, ObjectLog::new);
    if (hold) {
      if (log.dirty == null) {
        log.dirty = segment;
        log.dirtyFirst = first;
        log.dirtyFloor = floor;
        dirty.put(log.dirtyFirst, log);
        dirtyByAge.put(age(log), log);
      } else {
        Age before = age(log);
        log.dirty = log.dirty.joined(segment);
        if (log.dirty.firstNanos != before.firstNanos) {
          dirtyByAge.remove(before);
          dirtyByAge.put(age(log), log);
        }
      }
    } else {
      release(object);
      addOp(new Waiting(log, segment, floor, false));
    }
  }

  /** Takes note of an update that nobody is waiting for: there is no other datacenter. */
  void commitForNobody(long number) {
    committed = number;
  }

  private static Age age(ObjectLog log) {
    return new Age(log.dirty.firstNanos, log.dirtyFirst);
  }

  /** Moves what is held of an object to the operations that leave with this batch. */
  void release(ObjectId object) {
    ObjectLog log = logs.get(object);
    if (log != null && log.dirty != null) {
      released++;
      addOp(undirty(log));
    }
  }

  private void addOp(Waiting waiting) {
    waiting.log.waitingOps++;
    opsFloor = Math.min(opsFloor, waiting.floor);
    ops.add(waiting);
  }

  /** Moves everything that is held to the operations that leave with this batch. */
  void releaseAll() {
    dirtyObjects().forEach(this::release);
  }

  /** Whether what was held of some object leaves with this batch. */
  boolean hasReleased() {
    return released > 0;
  }

  private Waiting undirty(ObjectLog log) {
    Waiting waiting = new Waiting(log, log.dirty, log.dirtyFloor, true);
    dirty.remove(log.dirtyFirst);
    dirtyByAge.remove(age(log));
    log.dirty = null;
    return waiting;
  }

  /** Takes the next waiting operation, or null. */
  Waiting takeOp() {
    Waiting waiting = ops.poll();
    if (waiting != null) {
      waiting.log.waitingOps--;
      released -= waiting.wasHeld ? 1 : 0;
      opsFloor = ops.isEmpty() ? Long.MAX_VALUE : opsFloor;
    }
    return waiting;
  }

  /** Takes the held object whose first update is the oldest, if it is as old as this; or null. */
  Waiting takeDirty(long firstNanosMax) {
    Map.Entry<Age, ObjectLog> first = dirtyByAge.firstEntry();
    if (first == null || first.getValue().dirty.firstNanos > firstNanosMax) {
      return null;
    }
    return undirty(first.getValue());
  }

  /** Notes that the updates are shipped, to whoever is there; returns the segment with its tick. */
  Segment shipped(Waiting waiting, long stateBytes) {
    Segment s = waiting.segment;
    Segment segment =
        new Segment(s.predecessor, s.needs, s.last, s.updates, s.firstNanos, ++ticks, s.delta);
    ObjectLog log = waiting.log;
    if (log.tick != 0) {
      trail.remove(log.tick);
    }
    log.tick = segment.tick;
    trail.put(log.tick, log);
    long bytes = segment.delta.sizeBytes();
    log.segments.add(segment);
    log.bytes += bytes;
    retainedBytes += bytes;
    if (log.bytes > stateBytes) {
      drop(log);
    } else if (log.segments.size() > SEGMENTS_MAX) {
      compact(log);
    }
    while (retainedBytes > retainedBytesMax) {
      dropOldest();
    }
    return segment;
  }

  private void compact(ObjectLog log) {
    Segment joined = log.segments.poll();
    for (Segment s : log.segments) {
      joined = joined.joined(s);
    }
    log.segments.clear();
    log.segments.add(joined);
    retainedBytes -= log.bytes;
    log.bytes = joined.delta.sizeBytes();
    retainedBytes += log.bytes;
  }

  private void drop(ObjectLog log) {
    log.segments.clear();
    retainedBytes -= log.bytes;
    log.bytes = 0;
    log.droppedTick = log.tick;
  }

  private void dropOldest() {
    for (ObjectLog log : trail.tailMap(droppedThrough, false).values()) {
      droppedThrough = log.tick;
      if (log.bytes > 0) {
        drop(log);
        return;
      }
    }
    throw new IllegalStateException("segments are kept of no object, yet take " + retainedBytes);
  }

  /** Forgets what every peer has: everything up to this tick. */
  void prune(long tick) {
    while (!trail.isEmpty() && trail.firstKey() <= tick) {
      ObjectLog log = trail.pollFirstEntry().getValue();
      drop(log);
      prunedTick = log.tick;
      log.tick = 0;
      if (log.isUnused()) {
        logs.remove(log.object);
      }
    }
  }

  /** The objects shipped after the tick, in the order in which they were last shipped. */
  NavigableMap<Long, ObjectLog> after(long tick) {
    return trail.tailMap(tick, false);
  }

  /**
   * Every update up to here has been shipped. While operations wait it may be more: what was taken
   * of them counts when the last one is.
   */
  long through() {
    long first = dirty.isEmpty() ? Long.MAX_VALUE : dirty.firstEntry().getValue().dirtyFloor;
    return Math.min(committed, Math.min(first, opsFloor) - 1);
  }

  /** The last commit number. */
  long committed() {
    return committed;
  }

  /** How many segments were shipped: the end of the trail. */
  long ticks() {
    return ticks;
  }

  /** Of what was shipped up to this tick the trail may not know any more. */
  long prunedTick() {
    return prunedTick;
  }

  /** Whether operations wait for the end of the batch. */
  boolean hasOps() {
    return !ops.isEmpty();
  }

  /** When the oldest held update was committed; Long.MAX_VALUE if none is held. */
  long oldestDirtyNanos() {
    return dirty.isEmpty() ? Long.MAX_VALUE : dirtyByAge.firstKey().firstNanos;
  }

  /** How many objects are held. */
  int dirtyCount() {
    return dirty.size();
  }

  /** The objects that are held. */
  List<ObjectId> dirtyObjects() {
    List<ObjectId> objects = new ArrayList<>(dirty.size());
    dirty.values().forEach(log -> objects.add(log.object));
    return objects;
  }
}
