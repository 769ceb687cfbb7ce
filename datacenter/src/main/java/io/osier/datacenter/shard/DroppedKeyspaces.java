package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.shard.KeyspaceFactory.Creation;
import io.osier.datacenter.shard.KeyspaceFactory.Open;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.protocol.Reply;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends dropped keyspaces, deletes their data from the store, and counts their lost updates: those
 * acknowledged here before the drop was known, which no other datacenter has.
 */
final class DroppedKeyspaces {
  private static final Logger LOG = LoggerFactory.getLogger(DroppedKeyspaces.class);

  private final KeyspaceFactory.Around around;
  private final LongAdder updates = new LongAdder();

  DroppedKeyspaces(KeyspaceFactory.Around around) {
    this.around = around;
  }

  /**
   * Ends a dropped keyspace that gets no more requests.
   *
   * @param peers the other datacenters
   */
  void add(Open gone, Set<String> peers) {
    String name = gone.shard().policy().name();
    String dc = around.self().dc();
    LOG.info("keyspace '{}' is dropped", name);
    for (PartitionRunner partition : gone.shard().partitions()) {
      // Gives back the partition's bytes in flight on the links.
      peers.forEach(peer -> partition.submit(new Input.PeerDown(peer)));
      partition.refuse(
          new Reply.Failure(
              ErrorCode.UNKNOWN_KEYSPACE,
              "keyspace '" + name + "' of datacenter " + dc + " was dropped"));
    }
    gone.shard()
        .feed()
        .close(
            new Reply.Failure(
                ErrorCode.UNKNOWN_KEYSPACE, "keyspace '" + name + "' of " + dc + " was dropped"));
    count(name, PartitionRunner.stopAll(gone.shard().partitions()));
    around.traces().drop(name);
    around.store().ifPresent(s -> s.database().drop(gone.creation().stored()));
  }

  /**
   * Deletes the data of keyspaces that were dropped while this datacenter did not run.
   *
   * @param created the existing creations, by name
   * @param open the open keyspaces, which stay in any case
   */
  void dropOthers(Map<String, String> created, Collection<Open> open) {
    around
        .store()
        .ifPresent(
            s -> {
              Set<String> kept = new TreeSet<>();
              created.forEach(
                  (name, creation) -> kept.add(new Creation(name, Optional.of(creation)).stored()));
              open.forEach(o -> kept.add(o.creation().stored()));
              for (String stored : s.database().keyspaces()) {
                if (stored.indexOf('@') >= 0 && !kept.contains(stored)) {
                  delete(s, stored);
                }
              }
            });
  }

  /** Deletes the data of a keyspace that is not open. */
  void delete(Creation gone) {
    around
        .store()
        .filter(s -> !s.isReadOnly() && s.database().keyspaces().contains(gone.stored()))
        .ifPresent(s -> delete(s, gone.stored()));
  }

  static void delete(StoreService store, String stored) {
    LOG.info(
        "the stored data of {} is deleted: the keyspace was dropped, or is not held here any more",
        stored);
    store.database().drop(stored);
  }

  private void count(String name, List<PartitionReport> last) {
    long unseen = last.stream().mapToLong(r -> r.content().unseen()).sum();
    if (unseen > 0) {
      updates.add(unseen);
      LOG.warn(
          "keyspace '{}' is dropped with {} updates that were acknowledged here in the last {} s"
              + " and are not known to have come to any other datacenter",
          name,
          unseen,
          last.stream().mapToLong(DroppedKeyspaces::unseenNanos).max().orElse(0) / 1_000_000_000
              + 1);
    }
  }

  /**
   * Returns for how long a partition has had updates that nobody else has, in nanoseconds; 0 if it
   * has none.
   */
  private static long unseenNanos(PartitionReport report) {
    return report.content().unseen() == 0
        ? 0
        : report.peers().stream().mapToLong(p -> p.to().lagNanos()).min().orElse(0);
  }

  /**
   * Returns how many updates of dropped keyspaces no other datacenter is known to have had. For any
   * thread.
   */
  long updates() {
    return updates.sum();
  }
}
