package io.osier.datacenter.store.objects;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoredState;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StoredObjects.Logged;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The state with which a partition starts, made from its stored state. Pure.
 *
 * @param recovered the state that the partition gets
 * @param keys how many keys there are
 * @param forgotten how many objects this incarnation dropped after their removal
 * @param goesOn whether the stored state is this incarnation's, so that log and transactions are
 *     its own
 * @param changes the changes to write first
 */
record Recovery(
    RecoveredState recovered, long keys, long forgotten, boolean goesOn, List<Change> changes) {

  /**
   * Makes the recovery from the stored state.
   *
   * @param found the partition's state as stored last
   * @param firstLogged the log's first entry
   * @param life of the store
   * @param resumed whether the last incarnation goes on
   * @param replicas every replica that a record may name
   */
  static Recovery of(
      Optional<StoredState> found,
      Optional<Logged> firstLogged,
      ReplicaId self,
      long life,
      boolean resumed,
      Collection<ReplicaId> replicas) {
    if (found.isEmpty()) {
      // The partition has no updates to lose, so an incarnation that goes on gives no number twice.
      // But peers may have updates of it that were lost here.
      RecoveredState nothing = uncommitted(life, 0, VersionVector.EMPTY, Set.of());
      return new Recovery(nothing, 0, 0, false, List.of());
    }
    StoredState state = found.get();
    if (!state.self().equals(self)) {
      return ofFormer(state, self, life, replicas);
    }
    long loggedAfter = firstLogged.map(l -> l.number() - 1).orElse(state.committed());
    boolean nothingLost = resumed && state.caughtUp();
    RecoveredState recovered =
        new RecoveredState(
            life,
            nothingLost,
            state.committed(),
            loggedAfter,
            state.timestamp(),
            state.through(),
            Set.copyOf(replicas),
            state.cursors(),
            resumed && state.settled(),
            nothingLost ? state.unremembered() : Forgetting.UNKNOWN,
            1);
    return new Recovery(recovered, state.keys(), state.forgotten(), true, List.of());
  }

  /** To a new incarnation, a former one's stored updates are like updates that came from a peer. */
  private static Recovery ofFormer(
      StoredState state, ReplicaId self, long life, Collection<ReplicaId> replicas) {
    Set<ReplicaId> known = new HashSet<>(replicas);
    known.add(state.self());
    known.remove(self);
    VersionVector through =
        state.committed() == 0
            ? state.through()
            : state.through().raised(state.self(), state.committed());
    RecoveredState recovered = uncommitted(life, state.timestamp(), through, known);
    // The log's numbers would now mean other updates; the state that goes with it says so.
    StoredState now = StoredState.uncommitted(self, state.timestamp(), state.keys(), through);
    List<Change> changes =
        List.of(
            new Change.DropLogged(0, state.committed()),
            new Change.DropTransactions(0, state.committed()),
            new Change.PutState(now));
    return new Recovery(recovered, state.keys(), 0, false, changes);
  }

  /**
   * Returns what an incarnation knows that has given no number: peers may have more of its data.
   */
  private static RecoveredState uncommitted(
      long life, long timestamp, VersionVector through, Set<ReplicaId> replicas) {
    return new RecoveredState(
        life, false, 0, 0, timestamp, through, replicas, Map.of(), false, Forgetting.UNKNOWN, 1);
  }
}
