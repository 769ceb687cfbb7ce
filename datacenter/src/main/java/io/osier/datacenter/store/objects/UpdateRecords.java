package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.Change;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides how updates are written. All updates of an object in one group become one record: the
 * object's state, which replaces the one in place, so that nothing must be tidied up later; or, if
 * the object is so large that this would write much more than was changed, one operation. Pure.
 */
final class UpdateRecords {
  /**
   * With fewer operations than this since the object was last written as a whole, it is not written
   * as a whole again, unless the operations are large.
   */
  private static final int OPERATIONS_MIN = 256;

  /**
   * An object is written as a whole once there is an operation for each this many bytes of it. That
   * bounds two costs. At most this many bytes of states are written for each operation, however
   * large the object is. And since reading an operation takes about as long as reading so many
   * bytes of a state (1.5 to 3 µs; 2 to 3 µs), a load takes at most twice as long as without
   * operations.
   */
  private static final long STATE_BYTES_PER_OPERATION = 256;

  /**
   * Operations that take as many bytes as the object, plus this many, also make it written as a
   * whole.
   */
  private static final long OPERATION_BYTES_MIN = 512;

  /**
   * A state is put in place with each group if it is at most this many bytes larger than the
   * changes.
   */
  private static final long IN_PLACE_MORE_MAX = 512;

  /**
   * An evicted object gets a snapshot if it has at least this many operations, and one for each so
   * many bytes: with fewer, the next load is hardly slower.
   */
  private static final int EVICTED_OPERATIONS_MIN = 8;

  private static final long EVICTED_BYTES_PER_OPERATION = 4_096;

  private UpdateRecords() {}

  /**
   * Adds the changes that write a group's updates of one object. Each object has a state in place,
   * whatever other records it has.
   *
   * @param isNew whether the group creates the object
   * @param contents the updates' deltas, or received states; one or more
   * @param state the object with all of them
   * @param before the object before them, if it was decomposed; null otherwise
   * @param objects the objects of the key, with the updates
   * @param group the group that the changes belong to
   * @param changes takes the changes
   * @return {@code objects} with the new counts
   */
  static KeyObjects add(
      ObjectId object,
      boolean isNew,
      List<CrdtState> contents,
      CrdtState state,
      @Nullable CrdtState before,
      KeyObjects objects,
      long group,
      List<Change> changes) {
    if (Decomposition.isDecomposed(state)) {
      boolean isOnly = objects.states().size() == 1;
      changes.add(new Change.PutDecomposed(object, state, contents, before, isOnly));
      addOthers(object, objects, changes);
      return objects.counting(object.type(), KeyObjects.Written.NOTHING, !isOnly, group);
    }
    if (before != null) {
      changes.add(new Change.DropEntries(object));
    }
    KeyObjects.Written written = objects.written(object.type());
    int operations = written.operations() + 1;
    long changed = 0;
    boolean full = false;
    for (CrdtState content : contents) {
      changed += content.sizeBytes();
      full |= content.isFull();
    }
    long bytes = written.bytes() + changed;
    boolean isSmall = state.sizeBytes() <= changed + IN_PLACE_MORE_MAX;
    boolean isOnly = objects.states().size() == 1;
    // The state in place of an object without versions may say that it is alone.
    if (full
        || isNew
        || isSmall
        || before != null
        || !objects.hasVersions()
        || isWorthItsBytes(operations, bytes, state)) {
      boolean isAlone = isSmall && isOnly;
      changes.add(new Change.PutInPlace(object, state, isAlone));
      addOthers(object, objects, changes);
      return objects.counting(object.type(), KeyObjects.Written.NOTHING, !isAlone, group);
    }
    addOperation(object, CrdtState.join(contents), changes);
    return objects.counting(object.type(), new KeyObjects.Written(operations, bytes), true, group);
  }

  /**
   * Adds the changes that accompany a state put in place: the object's versions are pruned, and
   * other objects of its key that say that they are alone stop saying so.
   */
  private static void addOthers(ObjectId object, KeyObjects objects, List<Change> changes) {
    if (objects.hasVersions()) {
      changes.add(new Change.Prune(object));
      return;
    }
    for (CrdtState other : objects.states()) {
      if (other.type() != object.type()) {
        ObjectId id = new ObjectId(object.key(), other.type());
        changes.add(
            Decomposition.isDecomposed(other)
                ? new Change.PutDecomposed(id, other, List.of(), other, false)
                : new Change.PutInPlace(id, other, false));
      }
    }
  }

  private static boolean isWorthItsBytes(int operations, long bytes, CrdtState state) {
    long size = state.sizeBytes();
    return operations >= Math.max(OPERATIONS_MIN, size / STATE_BYTES_PER_OPERATION)
        || bytes >= OPERATION_BYTES_MIN + size;
  }

  /**
   * Returns the changes worth writing when a key's objects leave memory: often none. They write
   * versions, since they may be written after a newer state, whose place they must not take.
   */
  static List<Change> ofEvicted(Key key, KeyObjects objects) {
    List<Change> changes = new ArrayList<>();
    for (CrdtState state : objects.states()) {
      long worthwhile =
          Math.max(EVICTED_OPERATIONS_MIN, state.sizeBytes() / EVICTED_BYTES_PER_OPERATION);
      // A decomposed object has no operations.
      if (objects.written(state.type()).operations() >= worthwhile
          && !Decomposition.isDecomposed(state)) {
        addSnapshot(new ObjectId(key, state.type()), state, changes);
      }
    }
    return changes;
  }

  private static void addOperation(ObjectId object, CrdtState delta, List<Change> changes) {
    VersionVector at = delta.context().toVersionVector();
    changes.add(new Change.PutOperation(object, at, delta));
  }

  private static void addSnapshot(ObjectId object, CrdtState state, List<Change> changes) {
    changes.add(new Change.PutSnapshot(object, state.context().toVersionVector(), state));
    changes.add(new Change.Prune(object));
  }
}
