package io.osier.propagation.repair;

import io.osier.crdt.ObjectId;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StoredObjects;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Objects in their order, as many as are looked at for one page of a repair or a comparison: the
 * partition does nothing else meanwhile. They are read in small steps, since what is read and does
 * not fit into the page is read once more for the next one. Not thread-safe.
 */
final class ObjectWalk {
  static final int OBJECTS_MAX = 256;

  /** So much is read at most, about, by what it takes in the heap: of large sets that is little. */
  static final long READ_BYTES_MAX = 4L << 20;

  private final StoredObjects stored;
  private final int stepBytes;
  private Optional<ObjectId> last;
  private Iterator<StoredObjects.Entry> step = List.<StoredObjects.Entry>of().iterator();

  /** Whether the step is the last one. */
  private boolean isLast;

  private int objects;
  private long bytes;

  /**
   * @param after the first object is the one after this; empty for the beginning
   */
  ObjectWalk(ReplicationContext around, Optional<ObjectId> after) {
    this.stored = around.replica().stored();
    this.stepBytes = around.settings().frameBytes();
    this.last = after;
  }

  /** The next object; null if there is none, or enough was looked at. */
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

  /** The object that was given last; before that where the walk begins. */
  Optional<ObjectId> last() {
    return last;
  }

  /** Whether there is nothing behind what was given last. */
  boolean isAtEnd() {
    return isLast && !step.hasNext();
  }
}
