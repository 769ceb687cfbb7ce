package io.osier.datacenter.store;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A change that is written to a {@link VersionStore}; the changes of a group are written all or
 * none.
 */
public sealed interface Change {
  /**
   * Puts an operation.
   *
   * @param at the operation's time: the version vector of its context
   */
  record PutOperation(ObjectId object, VersionVector at, CrdtState delta) implements Change {}

  /** Puts a snapshot: an object with all updates that were applied to it up to a time. */
  record PutSnapshot(ObjectId object, VersionVector at, CrdtState state) implements Change {}

  /**
   * Puts an object's state in place: the object with all updates that were applied to it. It
   * replaces the state that was put so before, so an object has one such record. Versions of the
   * object stay until they are pruned.
   *
   * @param isAlone whether this record is all that there is of its key: the key has no other
   *     object, and no version that is not contained in this state. The record is written anew
   *     before that changes
   */
  record PutInPlace(ObjectId object, CrdtState state, boolean isAlone) implements Change {}

  /**
   * Puts a decomposed object in place: its head as one record, and each changed entry as one.
   *
   * @param updates the updates since it was written last; none if only the head is written
   * @param before the state written last; null if that was not decomposed, so that all entries must
   *     be written
   * @param isAlone as in {@link PutInPlace}
   */
  record PutDecomposed(
      ObjectId object,
      CrdtState state,
      List<CrdtState> updates,
      @Nullable CrdtState before,
      boolean isAlone)
      implements Change {
    public PutDecomposed {
      updates = List.copyOf(updates);
    }

    /**
     * Gives the entries that must be written.
     *
     * @param replicas the replicas whose index in this list dots refer to
     * @return false if all entries must be written, after dropping the former ones: then none is
     *     given
     */
    public boolean giveChanged(List<ReplicaId> replicas, Decomposition.Sink sink) {
      if (before == null) {
        return false;
      }
      // A received state does not mention the entries that it has removed.
      if (updates.stream().anyMatch(CrdtState::isFull)) {
        return Decomposition.changedSince(state, before, replicas, sink);
      }
      Decomposition.changed(state, updates, replicas, sink);
      return true;
    }
  }

  /** Drops the entries of an object that is no longer decomposed. */
  record DropEntries(ObjectId object) implements Change {}

  /**
   * Puts the types of the partition's objects, including those that this group writes first; the
   * record also says that each object has a state in place.
   */
  record PutTypes(Set<CrdtType> types) implements Change {}

  /** Notes which object an update of this datacenter changed. */
  record PutLogged(long number, ObjectId object) implements Change {}

  /** Notes that a transaction was committed, with its last commit number. */
  record PutTransaction(long number, TransactionId transaction) implements Change {}

  /** Forgets the transactions with a last commit number up to this one, after one before. */
  record DropTransactions(long after, long through) implements Change {}

  /** Notes that an object only remembers its removal. */
  record PutRemoved(ObjectId object) implements Change {}

  /** Deletes that note: the object holds data again, or is dropped. */
  record DropRemoved(ObjectId object) implements Change {}

  /** Notes an object's deadline. */
  record PutDeadline(Deadline deadline) implements Change {}

  /** Deletes that note. */
  record DropDeadline(Deadline deadline) implements Change {}

  /** Puts the state of the partition itself. */
  record PutState(StoredState state) implements Change {}

  /** Drops the log's entries up to a commit number, that included, after one dropped before. */
  record DropLogged(long after, long through) implements Change {}

  /**
   * Drops the versions of an object that its newest snapshot, or its state in place, contains; an
   * adapter may do it later.
   */
  record Prune(ObjectId object) implements Change {}

  /** Drops all versions of an object that were written in earlier groups. */
  record DropObject(ObjectId object) implements Change {}
}
