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
 * What is written to a {@link VersionStore}; a group of them is written altogether or not at all.
 */
public sealed interface Change {
  /**
   * Puts an operation.
   *
   * @param at its time: the version vector of its context
   */
  record PutOperation(ObjectId object, VersionVector at, CrdtState delta) implements Change {}

  /** Puts a snapshot: an object with all that was applied to it up to a time. */
  record PutSnapshot(ObjectId object, VersionVector at, CrdtState state) implements Change {}

  /**
   * Puts an object with all that was applied to it, in the place of what was put so before: there
   * is one such record of an object, however often it is written. Versions of it stay until they
   * are pruned.
   *
   * @param isAlone whether it is all that there is of its key: no other object has it, and no
   *     version that is not contained in this state. It is written anew before that changes
   */
  record PutInPlace(ObjectId object, CrdtState state, boolean isAlone) implements Change {}

  /**
   * Puts a decomposed object in the place of what was put so before: its head as a record, and each
   * entry that was changed as one.
   *
   * @param updates what brought it here since it was written last; none if only the head is written
   * @param before what was written last; null if that was not decomposed, and all entries are to be
   *     written
   * @param isAlone as of {@link PutInPlace}
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
     * Gives what is to be written of the entries.
     *
     * @param replicas by whose places dots are numbered
     * @return false if all are to be written, and those that were there to be dropped before: then
     *     none is given
     */
    public boolean giveChanged(List<ReplicaId> replicas, Decomposition.Sink sink) {
      if (before == null) {
        return false;
      }
      // A state that came does not mention what is gone with it.
      if (updates.stream().anyMatch(CrdtState::isFull)) {
        return Decomposition.changedSince(state, before, replicas, sink);
      }
      Decomposition.changed(state, updates, replicas, sink);
      return true;
    }
  }

  /** Drops the entries of an object that is not decomposed any more. */
  record DropEntries(ObjectId object) implements Change {}

  /**
   * Puts the types of the partition's objects, those that this group writes the first time
   * included; and that each object has a state in its place.
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

  /** Takes that note back: the object holds something again, or is dropped. */
  record DropRemoved(ObjectId object) implements Change {}

  /** Notes when an object is over. */
  record PutDeadline(Deadline deadline) implements Change {}

  /** Takes that note back. */
  record DropDeadline(Deadline deadline) implements Change {}

  /** Puts what is known of the partition itself. */
  record PutState(StoredState state) implements Change {}

  /** Drops the log's entries up to a commit number, that included, after one dropped before. */
  record DropLogged(long after, long through) implements Change {}

  /**
   * Drops the versions of an object that its newest snapshot, or what was put in place, contains;
   * an adapter may do it later.
   */
  record Prune(ObjectId object) implements Change {}

  /** Drops all versions of an object that were written in earlier groups. */
  record DropObject(ObjectId object) implements Change {}
}
