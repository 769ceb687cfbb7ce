package io.osier.propagation.repair;

import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StoredObjects;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Walks over objects in their order, as many as may be looked at for one page of a repair or a
 * comparison, since the partition does nothing else meanwhile. It reads objects in small steps,
 * because what does not fit into the page is read again for the next one. Not thread-safe.
 */
final class ObjectWalk {
  static final int OBJECTS_MAX = 256;

  /**
   * The walk ends after about this many bytes, as the objects take in the heap: little for large
   * sets.
   */
  static final long READ_BYTES_MAX = 4L << 20;

  private final StoredObjects stored;
  private final int stepBytes;
  private Optional<ObjectId> last;
  private Iterator<StoredObjects.Entry> step = List.<StoredObjects.Entry>of().iterator();

  /** Whether the current step is the last one. */
  private boolean isLast;

  private int objects;
  private long bytes;

  /**
   * @param after the walk begins behind this object; empty for the first one
   */
  ObjectWalk(ReplicationContext around, Optional<ObjectId> after) {
    this.stored = around.replica().stored();
    this.stepBytes = around.settings().frameBytes();
    this.last = after;
  }

  /** Returns the next object; null at the end, or when enough was looked at. */
  StoredObjects.@Nullable Entry next() {
    if (!step.hasNext()) {
      if (isLast || objects >= OBJECTS_MAX || bytes >= READ_BYTES_MAX) {
        return null;
      }
      StoredObjects.Page page = stored.pageNow(last, OBJECTS_MAX - objects, stepBytes);
      step = page.entries().iterator();
      isLast = page.end();
      if (!step.hasNext()) {
        return null; // an empty page is the last one
      }
    }
    StoredObjects.Entry entry = step.next();
    last = Optional.of(entry.object());
    objects++;
    bytes += entry.state().heapBytes();
    return entry;
  }

  /**
   * Returns the object that was returned last; before the first, the one behind which the walk
   * begins.
   */
  Optional<ObjectId> last() {
    return last;
  }

  /** Whether no object follows the one that was returned last. */
  boolean isAtEnd() {
    return isLast && !step.hasNext();
  }
}
