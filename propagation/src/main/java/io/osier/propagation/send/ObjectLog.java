package io.osier.propagation.send;

import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ObjectProgress.Count;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The part of the {@link OutboundLog} that belongs to one object. Only that class changes it. Not
 * thread-safe.
 */
final class ObjectLog {
  final ObjectId object;

  /** The shipped segments that are kept, oldest first. */
  final ArrayDeque<LogSegment> segments = new ArrayDeque<>(2);

  /** How many bytes the segments take in the heap. */
  long heapBytes;

  /** How many bytes the segments take when they are encoded. */
  long bytes;

  /** Segments up to this tick are no longer kept. */
  long droppedTick;

  /**
   * The number of updates in the dropped segments since every peer last had everything; {@link
   * #droppedNanos} is when the first of them was committed.
   */
  int droppedUpdates;

  long droppedNanos;

  /**
   * The tick of the last shipped segment, which is the object's key in the shipped log; 0 if it is
   * not in the log.
   */
  long tick;

  /** The updates that wait for their round; null if there are none. */
  @Nullable HeldUpdates held;

  int waitingOps;

  ObjectLog(ObjectId object) {
    this.object = object;
  }

  /** Whether some of the object was shipped after a tick, whether or not it is kept. */
  boolean isNewerThan(long position) {
    return Math.max(tick, droppedTick) > position;
  }

  /**
   * Returns the object's shipped updates after a tick, joined; null if some of them are no longer
   * kept, so that the state must be sent instead.
   */
  @Nullable LogSegment since(long position) {
    if (droppedTick > position) {
      return null;
    }
    LogSegment joined = null;
    for (LogSegment s : segments) {
      if (s.tick() > position) {
        joined = joined == null ? s : joined.joined(s);
      }
    }
    return joined;
  }

  /**
   * Counts the updates that were shipped after a tick; an upper bound where some are no longer
   * kept.
   */
  Count countSince(long position, long nowNanos) {
    boolean isDropped = droppedTick > position;
    int updates = isDropped ? droppedUpdates : 0;
    long nanos = isDropped ? nowNanos - droppedNanos : 0;
    for (LogSegment s : segments) {
      if (s.tick() > position) {
        updates += s.updates();
        nanos = Math.max(nanos, nowNanos - s.firstNanos());
      }
    }
    return new Count(updates, nanos);
  }

  /** Counts the updates that wait for their round. */
  Count countHeld(long nowNanos) {
    return held == null
        ? Count.NONE
        : new Count(held.segment.updates(), nowNanos - held.segment.firstNanos());
  }

  /** Whether nothing is kept of the object. */
  boolean isUnused() {
    return tick == 0 && held == null && waitingOps == 0;
  }
}
