package io.osier.datacenter.control.execution;

import io.osier.core.VersionVector;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.shard.agent.InspectedPartition;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Tells which of a partition's updates its peers have, by their statuses. */
final class PeerCoverage {
  private static final int REPORT_SECONDS = 5;

  private PeerCoverage() {}

  /** Returns whether all peers have everything that was written in a partition here. */
  static boolean isShipped(InspectedPartition partition) {
    return report(partition)
        .map(r -> r.peers().stream().allMatch(p -> p.to().lagUpdates() == 0))
        .orElse(false);
  }

  /**
   * Returns the updates of all replicas that a partition has, this one's included; empty if it does
   * not answer.
   */
  static Optional<VersionVector> here(InspectedPartition partition) {
    return report(partition).map(r -> r.content().through());
  }

  /**
   * Returns whether all peers of a partition are connected, and have told that they have these
   * updates: a peer that is away may come back without data.
   */
  static boolean isEverywhere(InspectedPartition partition, VersionVector what) {
    return report(partition).map(r -> isEverywhere(r, what)).orElse(false);
  }

  static boolean isEverywhere(PartitionReport report, VersionVector what) {
    return report.peers().stream().allMatch(p -> p.connected() && what.isAtMost(p.from().has()));
  }

  /** Returns the last incarnation that a partition knows of a peer; 0 if it knows none. */
  static long incarnation(InspectedPartition partition, String dc) {
    return report(partition).stream()
        .flatMap(r -> r.peers().stream())
        .filter(p -> p.dc().equals(dc))
        .mapToLong(PartitionReport.Peer::incarnation)
        .max()
        .orElse(0);
  }

  /** Returns a partition's report; empty if it does not answer. */
  static Optional<PartitionReport> report(InspectedPartition partition) {
    try {
      return Optional.of(partition.inspect(0).get(REPORT_SECONDS, TimeUnit.SECONDS));
    } catch (TimeoutException | ExecutionException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
