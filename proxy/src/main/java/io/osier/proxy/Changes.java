package io.osier.proxy;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.protocol.Reply;
import io.osier.proxy.watch.WatchSubscription;
import java.util.List;
import java.util.Optional;

/**
 * What a {@link Watch} tells at once: changes in the order in which they became visible at a
 * datacenter, in each of the keyspace's partitions.
 *
 * @param changes none where a watcher begins, or where it has begun anew at another datacenter
 * @param position behind them: from there another watcher goes on
 * @param isWhole whether they end where something became visible as a whole. In a {@code causal}
 *     keyspace they hold whole transactions then. It is not so for transactions of more than 4 MiB
 *     of keys, and while what is there is told: what is visible together may go on in the next ones
 */
public record Changes(List<Change> changes, WatchPosition position, boolean isWhole) {
  /**
   * A change of one key. What it holds now is to be read.
   *
   * @param type of the object that was changed; empty where all that is known is that the key may
   *     have been changed
   * @param origin the datacenter where it was changed; empty where there may be several
   * @param found what the key holds, at this change or a later one, if the watch brings values
   *     along ({@link Watch#withValues}); empty if it does not, where there was no room, or where
   *     it could not be read: then it is to be read
   */
  public record Change(
      Key key, Optional<CrdtType> type, Optional<String> origin, Optional<Keyspace.Found> found) {
    /** A change without what the key holds. */
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
