package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Says which keys of an {@link ObjectTable} are to be packed when those that are not take more than
 * their share of bytes: those that were longest not used (the CLOCK algorithm: Corbató, "A paging
 * experiment with the Multics system", 1968). Thread-safe; what it changes of a key is for whoever
 * has the lock of the key's segment.
 */
final class PackingQueue {
  /**
   * Once the share of what is not packed is spent, a packed key that is changed is packed again at
   * once, but for one in so many: what is changed often comes to be kept as objects, and what is
   * not costs no look at it long after, when no processor's cache has it any more.
   */
  private static final int ADMITTED = 32;

  static final class Loose extends SegmentTable.Keyed {
    volatile KeyObjects objects;

    /** What it takes in the heap, with its objects, about; for the segment's lock. */
    long bytes;

    /** What of that packing would free, about; while it is queued it counts against the share. */
    private long looseBytes;

    /** Whether it is in the queue, for its segment's lock. */
    private boolean isQueued;

    /** Whether it was used since it was last looked at; seen soon enough without a lock. */
    boolean isUsed;

    Loose(Key key, KeyObjects objects) {
      super(key);
      this.objects = objects;
    }
  }

  private final ArrayDeque<Loose> queue = new ArrayDeque<>();
  private final AtomicLong looseBytes = new AtomicLong();
  private final long looseBytesMax;

  /** How many were packed again or admitted; about, since it is not shared by locks. */
  private int admissions;

  /**
   * @param looseBytesMax so many bytes need not be packed, about
   */
  PackingQueue(long looseBytesMax) {
    this.looseBytesMax = looseBytesMax;
  }

  /** Whether there is too much that is not packed. */
  boolean isOver() {
    return looseBytes.get() > looseBytesMax;
  }

  /** Whether a packed key that is changed comes to be one more that is not packed. */
  boolean admits() {
    boolean isFull = looseBytes.get() > looseBytesMax - looseBytesMax / 64;
    return !isFull || ++admissions % ADMITTED == 0;
  }

  /** A key was changed: packing it would free so many bytes, about. */
  void put(Loose loose, long bytes) {
    looseBytes.addAndGet(loose.isQueued ? bytes - loose.looseBytes : bytes);
    loose.looseBytes = bytes;
    if (!loose.isQueued) {
      loose.isQueued = true;
      add(loose);
    }
  }

  /** A key has left the table: only the queue has it, so taking it from there frees all of it. */
  void removed(Loose loose) {
    if (loose.isQueued) {
      looseBytes.addAndGet(loose.bytes - loose.looseBytes);
      loose.looseBytes = loose.bytes;
    }
  }

  /** A key that was taken and is not packed, since it has changed meanwhile, comes back. */
  void putBack(Loose loose) {
    add(loose);
  }

  /** A key that was taken counts no more. */
  void done(Loose loose) {
    loose.isQueued = false;
    looseBytes.addAndGet(-loose.looseBytes);
  }

  private void add(Loose loose) {
    synchronized (queue) {
      queue.add(loose);
    }
  }

  /** Takes one that was not used since it was last looked at; null if others have the last ones. */
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
