package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which keys of an {@link ObjectTable} are packed when the unpacked ones take more than
 * their share of bytes: those not used for longest (the CLOCK algorithm: Corbató, "A paging
 * experiment with the Multics system", 1968). Thread-safe; changes of a key need the lock of the
 * key's segment.
 */
final class PackingQueue {
  /**
   * Once the share of unpacked keys is used up, a packed key that is changed is packed again at
   * once, except one in this many. So keys that are changed often come to stay unpacked, and the
   * others need no look long after, when no processor's cache has them any more.
   */
  private static final int ADMITTED = 32;

  static final class Loose extends SegmentTable.Keyed {
    volatile KeyObjects objects;

    /** What the key takes in the heap, with its objects, about; guarded by the segment's lock. */
    long bytes;

    /**
     * What packing the key would free, about; while the key is queued this counts against the
     * share.
     */
    private long looseBytes;

    /** Whether the key is in the queue; guarded by the segment's lock. */
    private boolean isQueued;

    /** Whether the key was used since the last look; without a lock, as it may be seen late. */
    boolean isUsed;

    Loose(Key key, KeyObjects objects) {
      super(key);
      this.objects = objects;
    }
  }

  private final ArrayDeque<Loose> queue = new ArrayDeque<>();
  private final AtomicLong looseBytes = new AtomicLong();
  private final long looseBytesMax;

  /** Counts keys packed again or admitted; inexact, since no lock guards it. */
  private int admissions;

  /**
   * @param looseBytesMax how many bytes may stay unpacked, about
   */
  PackingQueue(long looseBytesMax) {
    this.looseBytesMax = looseBytesMax;
  }

  /** Returns whether too much is unpacked. */
  boolean isOver() {
    return looseBytes.get() > looseBytesMax;
  }

  /** Returns whether a packed key that is changed becomes one more unpacked key. */
  boolean admits() {
    boolean isFull = looseBytes.get() > looseBytesMax - looseBytesMax / 64;
    return !isFull || ++admissions % ADMITTED == 0;
  }

  /** Notes that a key was changed: packing it would free this many bytes, about. */
  void put(Loose loose, long bytes) {
    looseBytes.addAndGet(loose.isQueued ? bytes - loose.looseBytes : bytes);
    loose.looseBytes = bytes;
    if (!loose.isQueued) {
      loose.isQueued = true;
      add(loose);
    }
  }

  /** Notes that a key has left the table: taking it from the queue then frees all of its bytes. */
  void removed(Loose loose) {
    if (loose.isQueued) {
      looseBytes.addAndGet(loose.bytes - loose.looseBytes);
      loose.looseBytes = loose.bytes;
    }
  }

  /** Puts back a key that was taken and not packed, because it has changed meanwhile. */
  void putBack(Loose loose) {
    add(loose);
  }

  /** Stops counting a key that was taken. */
  void done(Loose loose) {
    loose.isQueued = false;
    looseBytes.addAndGet(-loose.looseBytes);
  }

  private void add(Loose loose) {
    synchronized (queue) {
      queue.add(loose);
    }
  }

  /**
   * Takes a key that was not used since the last look; null if other threads have the last ones.
   */
  @Nullable Loose take() {
    synchronized (queue) {
      for (int looked = queue.size(); looked > 0; looked--) {
        Loose oldest = queue.remove();
        if (!oldest.isUsed) {
          return oldest;
        }
        oldest.isUsed = false;
        queue.add(oldest);
      }
      return queue.poll();
    }
  }
}
