package io.osier.datacenter.shard;

import io.osier.datacenter.partition.machine.PartitionReport;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what was acknowledged in keyspaces here while it was not known that they were dropped, and
 * that nobody else has. For any thread.
 */
final class DroppedUpdates {
  private static final Logger LOG = LoggerFactory.getLogger(DroppedUpdates.class);

  private final LongAdder updates = new LongAdder();

  /**
   * A keyspace was dropped, and its partitions ended with this.
   *
   * @param name of the keyspace
   */
  void add(String name, List<PartitionReport> last) {
    long unseen = last.stream().mapToLong(r -> r.content().unseen()).sum();
    if (unseen > 0) {
      updates.add(unseen);
      LOG.warn(
          "keyspace '{}' is dropped with {} updates that were acknowledged here in the last {} s"
              + " and are not known to have come to any other datacenter",
          name,
          unseen,
          last.stream().mapToLong(DroppedUpdates::unseenNanos).max().orElse(0) / 1_000_000_000 + 1);
    }
  }

  /** Since when a partition has updates that nobody else has. */
  private static long unseenNanos(PartitionReport report) {
    return report.content().unseen() == 0
        ? 0
        : report.peers().stream().mapToLong(p -> p.to().lagNanos()).min().orElse(0);
  }

  /** How many they are. */
  long updates() {
    return updates.sum();
  }
}
