package io.osier.propagation.host;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.wire.Frame.Cursor;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The progress of a partition that kept its store, when it starts again. The objects themselves and
 * the log of its own updates stay in the store.
 *
 * @param life counts the starts of the store, from 1: counts that are kept only in memory (places
 *     in the stream, epochs, changes) are comparable within one life. 0 without a store
 * @param resumed whether the incarnation goes on, and had caught up: nothing was lost
 * @param committed the last commit number of this incarnation; 0 for a new one
 * @param loggedAfter the log has this incarnation's updates after this number
 * @param timestamp the hybrid clock's last timestamp
 * @param through the number up to which every other replica's updates were here, former
 *     incarnations of this datacenter included
 * @param replicas every other replica of whose updates some may be here
 * @param cursors the places in the peers' streams, by sender
 * @param settled see {@link ReplicationProgress}
 * @param forgotten whether a watcher that comes from another datacenter may miss a removal
 * @param firstChange the first number of this life's changes, 1 or more: 1, except in simulations
 *     of long lives
 */
public record RecoveredState(
    long life,
    boolean resumed,
    long committed,
    long loggedAfter,
    long timestamp,
    VersionVector through,
    Set<ReplicaId> replicas,
    Map<ReplicaId, Cursor> cursors,
    boolean settled,
    Forgetting forgotten,
    long firstChange) {

  /** The state of a partition that starts with nothing. */
  public static final RecoveredState NOTHING =
      new RecoveredState(
          0, false, 0, 0, 0, VersionVector.EMPTY, Set.of(), Map.of(), false, Forgetting.UNKNOWN, 1);

  public RecoveredState {
    if (life < 0 || firstChange < 1 || loggedAfter < 0 || loggedAfter > committed) {
      throw new IllegalArgumentException(
          "life " + life + ", committed " + committed + ", logged after " + loggedAfter);
    }
    replicas = new TreeSet<>(replicas);
    cursors = new TreeMap<>(cursors);
  }

  /**
   * Returns the same for a partition that never had anything, so that nothing can have been lost.
   */
  public RecoveredState asNew() {
    return new RecoveredState(
        life,
        true,
        committed,
        loggedAfter,
        timestamp,
        through,
        replicas,
        cursors,
        settled,
        Forgetting.NOTHING,
        firstChange);
  }

  /** Returns the same with a count of changes that begins at {@code change}. */
  public RecoveredState countingFrom(long change) {
    return new RecoveredState(
        life,
        resumed,
        committed,
        loggedAfter,
        timestamp,
        through,
        replicas,
        cursors,
        settled,
        forgotten,
        change);
  }
}
