package io.osier.propagation.send;

import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ObjectProgress.Count;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** One object's part of the {@link OutboundLog}, which changes it. Not thread-safe. */
final class ObjectLog {
  final ObjectId object;

  /** Shipped and kept, oldest first. */
  final ArrayDeque<LogSegment> segments = new ArrayDeque<>(2);

  /** What the segments take in the heap. */
  long heapBytes;

  /** What they take encoded. */
  long bytes;

  /** Segments up to this tick are no longer kept. */
  long droppedTick;

  /** So many updates were in those since every peer had everything, and when the first was made. */
  int droppedUpdates;

  long droppedNanos;

  /** The last shipped segment's tick: the key in the shipped log. */
  long tick;

  /** What waits for its round, or null. */
  @Nullable HeldUpdates held;

  int waitingOps;

  ObjectLog(ObjectId object) {
    this.object = object;
  }

  /** Whether something was shipped after the tick, be it kept or not. */
  boolean isNewerThan(long position) {
    return Math.max(tick, droppedTick) > position;
  }

  /**
   * What was shipped after the tick, joined; null if it is not kept any more and the state must
   * serve.
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

  /** What was shipped after the tick; at most, where it is not all kept any more. */
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

  /** What waits for its round. */
  Count countHeld(long nowNanos) {
    return held == null
        ? Count.NONE
        : new Count(held.segment.updates(), nowNanos - held.segment.firstNanos());
  }

  /** Whether nothing is kept of it. */
  boolean isUnused() {
    return tick == 0 && held == null && waitingOps == 0;
  }
}
