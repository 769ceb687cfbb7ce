package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;

/**
 * How an update is written: as an operation, or within a snapshot of its object when enough
 * operations have gathered since the last one. Pure.
 */
final class UpdateRecords {
  /** So many operations since the last snapshot make another one worth its bytes. */
  private static final int OPERATIONS_MAX = 256;

  /** So do operations that take as many bytes as the snapshot, and these. */
  private static final long OPERATION_BYTES_MIN = 512;

  /** An object with fewer operations than this is not worth a snapshot when it is evicted. */
  private static final int EVICTED_OPERATIONS_MIN = 8;

  private UpdateRecords() {}

  /**
   * Adds what is to be written of an update.
   *
   * @param objects what the update's key holds with it
   * @param state the update's object with it
   * @param group the group that the changes belong to
   * @param changes takes what is to be written
   * @return {@code objects} with the new counts
   */
  static KeyObjects add(
      Shipment update, Causal state, KeyObjects objects, long group, List<Change> changes) {
    int operations = objects.operations() + 1;
    long bytes = objects.operationBytes() + update.content().sizeBytes();
    boolean snapshot =
        update.content().isFull()
            || operations >= OPERATIONS_MAX
            || bytes >= OPERATION_BYTES_MIN + state.sizeBytes();
    if (snapshot) {
      addSnapshot(update.object(), state, changes);
      return objects.counting(0, 0, group);
    }
    VersionVector at = update.content().context().toVersionVector();
    changes.add(new Change.PutOperation(update.object(), at, update.content()));
    return objects.counting(operations, bytes, group);
  }

  /** What is worth writing when a key's objects leave the memory: often nothing. */
  static List<Change> ofEvicted(Key key, KeyObjects objects) {
    List<Change> changes = new ArrayList<>();
    if (objects.operations() >= EVICTED_OPERATIONS_MIN) {
      for (Causal state : objects.states()) {
        addSnapshot(new ObjectId(key, state.type()), state, changes);
      }
    }
    return changes;
  }

  private static void addSnapshot(ObjectId object, Causal state, List<Change> changes) {
    changes.add(new Change.PutSnapshot(object, state.context().toVersionVector(), state));
    changes.add(new Change.Prune(object));
  }
}
