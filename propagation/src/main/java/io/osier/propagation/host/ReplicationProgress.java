package io.osier.propagation.host;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.wire.Frame.Cursor;
import java.util.Map;

/**
 * How far a partition has received and applied the others' streams. It is stored together with the
 * applied updates, so that it is true after any crash.
 *
 * @param through the number up to which every other replica's updates are here
 * @param cursors the places in the peers' streams up to which everything was applied, by sender
 * @param settled whether this incarnation has once had everything that any peer had of its
 *     datacenter's former ones
 */
public record ReplicationProgress(
    VersionVector through, Map<ReplicaId, Cursor> cursors, boolean settled) {
  public ReplicationProgress {
    cursors = Map.copyOf(cursors);
  }
}
