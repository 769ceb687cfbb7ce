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
 * How updates are written: those of one object in one group are one record, its state, which is put
 * in place of the one before, so that nothing is left to be tidied up; or, while the object is so
 * large that this would write much more than was changed, one operation. Pure.
 */
final class UpdateRecords {
  /**
   * Fewer operations than this since the object was written as a whole do not make it worth its
   * bytes, unless they are large.
   */
  private static final int OPERATIONS_MIN = 256;

  /**
   * An object is written as a whole once there is an operation for so many of its bytes. That
   * bounds both: of an object's states so many bytes are written for each operation at most,
   * however large it is; and reading an operation takes about as long as reading so many bytes of a
   * state (1.5 to 3 µs; 2 to 3), so that a load takes twice as long as without operations, not
   * more.
   */
  private static final long STATE_BYTES_PER_OPERATION = 256;

  /** Operations that take as many bytes as the object, and these, make it worth it, too. */
  private static final long OPERATION_BYTES_MIN = 512;

  /** A state is put in place with each group if that is at most so much more than what changed. */
  private static final long IN_PLACE_MORE_MAX = 512;

  /**
   * Objects are worth snapshots when they are evicted if there are so many operations, and one for
   * so many bytes: otherwise the next load is hardly slower with them.
   */
  private static final int EVICTED_OPERATIONS_MIN = 8;

  private static final long EVICTED_BYTES_PER_OPERATION = 4_096;

  private UpdateRecords() {}

  /**
   * Adds what is to be written of a group's updates of one object. Each object has a state in its
   * place, whatever else there is of it.
   *
   * @param isNew whether the group makes the object
   * @param contents the updates' deltas, or states that came; one or more
   * @param state the object with all of them
   * @param before the object before them, if it was decomposed; null otherwise
   * @param objects what the object's key holds with them
   * @param group the group that the changes belong to
   * @param changes takes what is to be written
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
    // What stands in the place of one that has no versions may say that it is alone.
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
   * Adds what else is to be done where a state is put in its place: versions of it are tidied up,
   * and other objects of its key that have said that they are alone do not say so any more.
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
   * What is worth writing when a key's objects leave the memory: often nothing. A version, since it
   * may be written after a newer one, in whose place it must not be put.
   */
  static List<Change> ofEvicted(Key key, KeyObjects objects) {
    List<Change> changes = new ArrayList<>();
    for (CrdtState state : objects.states()) {
      long worthwhile =
          Math.max(EVICTED_OPERATIONS_MIN, state.sizeBytes() / EVICTED_BYTES_PER_OPERATION);
      // One that is decomposed has no operations.
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
