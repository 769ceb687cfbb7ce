package io.osier.proxy;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.protocol.Reply;
import io.osier.proxy.watch.WatchSubscription;
import java.util.List;
import java.util.Optional;

/**
 * One signal of a {@link Watch}: changes, in each partition in the order in which they became
 * visible at the datacenter.
 *
 * @param changes empty in a watcher's first signal, and where it has begun anew at another
 *     datacenter
 * @param position the position after these changes, from which another watcher can go on
 * @param isWhole whether the changes end where a step of visibility ends: in a {@code causal}
 *     keyspace, whether they hold whole transactions. It is false in the middle of a transaction
 *     with more than 4 MiB of keys, and while a watcher is told of the existing objects; changes
 *     that became visible together may then continue in the next signal
 */
public record Changes(List<Change> changes, WatchPosition position, boolean isWhole) {
  /**
   * A change of one key, without the key's new value unless the watch brings values along.
   *
   * @param type the type of the changed object; empty if the datacenter only knows that the key may
   *     have changed
   * @param origin the datacenter that made the change; empty if there may be several
   * @param found what the key holds, at this change or a later one, if the watch brings values
   *     along ({@link Watch#withValues}); empty if it does not, if the limit of bytes was reached,
   *     or if the key could not be read
   */
  public record Change(
      Key key, Optional<CrdtType> type, Optional<String> origin, Optional<Keyspace.Found> found) {
    /** Makes a change without the key's value. */
    public Change(Key key, Optional<CrdtType> type, Optional<String> origin) {
      this(key, type, origin, Optional.empty());
    }
  }

  public Changes {
    changes = List.copyOf(changes);
  }

  static Changes of(WatchSubscription.Told told) {
    Reply.Changes changes = told.changes();
    return new Changes(
        changes.changes().stream()
            .map(
                c ->
                    new Change(
                        c.key(),
                        c.type(),
                        c.origin().map(ReplicaId::dc),
                        Optional.ofNullable(told.found().get(c.key()))))
            .toList(),
        new WatchPosition(changes.places()),
        changes.whole());
  }
}
