package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.Frame.Cursor;
import java.util.Map;

/**
 * How far a partition has come with what others ship: stored together with the updates that were
 * applied, so that it is true after any crash.
 *
 * @param through what is here completely of every other replica
 * @param cursors the places in the peers' streams up to which everything was applied, by sender
 */
public record Progress(VersionVector through, Map<ReplicaId, Cursor> cursors) {
  public Progress {
    cursors = Map.copyOf(cursors);
  }
}
