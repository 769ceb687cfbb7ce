package io.osier.datacenter.control.execution;

import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.types.BoundedCounter;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.shard.agent.InspectedPartition;
import io.osier.propagation.host.StoredObjects;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

/** A walk through all objects for the bounded counters of which a datacenter has rights. */
final class RightsWalk {
  private static final int PAGE = 1_000;
  private static final long PAGE_BYTES = 4 << 20;
  private static final int REPORT_SECONDS = 5;

  private RightsWalk() {}

  /** Does it by a thread of its own. */
  static <T> CompletableFuture<T> begin(Supplier<T> walk) {
    return CompletableFuture.supplyAsync(
        walk, task -> Thread.ofPlatform().name("osier-rights").daemon(true).start(task));
  }

  /**
   * Tells a partition of those that were found, page by page, and waits until it is done.
   *
   * @return how many were found
   */
  static int walk(InspectedPartition partition, String dc, Function<List<ObjectId>, Input> tells) {
    int found = 0;
    Optional<ObjectId> after = Optional.empty();
    StoredObjects.Page page;
    do {
      page = partition.store().pageDurable(after, Optional.empty(), PAGE, PAGE_BYTES);
      List<ObjectId> counters = new ArrayList<>();
      for (StoredObjects.Entry entry : page.entries()) {
        after = Optional.of(entry.object());
        if (entry.object().type() == CrdtType.BOUNDED_COUNTER
            && entry.state().store() instanceof BoundedCounter counter
            && (isSome(counter.downRights(dc)) || isSome(counter.upRights(dc)))) {
          counters.add(entry.object());
        }
      }
      if (!counters.isEmpty()) {
        found += counters.size();
        partition.submit(tells.apply(counters));
        report(partition); // comes after it
      }
    } while (!page.end());
    return found;
  }

  private static boolean isSome(long rights) {
    return rights > 0 && rights < Long.MAX_VALUE;
  }

  /** Whether all peers have everything that was written in a partition here. */
  static boolean isShipped(InspectedPartition partition) {
    return report(partition)
        .map(r -> r.peers().stream().allMatch(p -> p.to().lagUpdates() == 0))
        .orElse(false);
  }

  /** What has come to a partition of every replica, this one included; empty if it does not say. */
  static Optional<VersionVector> here(InspectedPartition partition) {
    return report(partition).map(r -> r.content().through());
  }

  /**
   * Whether all peers of a partition are connected, and say that they have something: one that is
   * away may come back with nothing.
   */
  static boolean isEverywhere(InspectedPartition partition, VersionVector what) {
    return report(partition).map(r -> isEverywhere(r, what)).orElse(false);
  }

  static boolean isEverywhere(PartitionReport report, VersionVector what) {
    return report.peers().stream().allMatch(p -> p.connected() && what.isAtMost(p.from().has()));
  }

  /** The last incarnation that a partition knows of a peer; 0 if it knows none. */
  static long incarnation(InspectedPartition partition, String dc) {
    return report(partition).stream()
        .flatMap(r -> r.peers().stream())
        .filter(p -> p.dc().equals(dc))
        .mapToLong(PartitionReport.Peer::incarnation)
        .max()
        .orElse(0);
  }

  private static Optional<PartitionReport> report(InspectedPartition partition) {
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
