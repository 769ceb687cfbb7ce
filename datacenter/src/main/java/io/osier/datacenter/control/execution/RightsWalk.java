package io.osier.datacenter.control.execution;

import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.types.BoundedCounter;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.agent.InspectedPartition;
import io.osier.propagation.host.StoredObjects;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** Walks through all objects to find the bounded counters of which a datacenter has rights. */
final class RightsWalk {
  private static final int PAGE = 1_000;
  private static final long PAGE_BYTES = 4 << 20;

  private RightsWalk() {}

  /** Runs a walk in a thread of its own. */
  static <T> CompletableFuture<T> begin(Supplier<T> walk) {
    return CompletableFuture.supplyAsync(
        walk, task -> Thread.ofPlatform().name("osier-rights").daemon(true).start(task));
  }

  /**
   * Tells a partition the counters found in it, page by page, and waits until it has handled them.
   *
   * @return how many counters were found
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
        PeerCoverage.report(partition); // a report comes after these inputs
      }
    } while (!page.end());
    return found;
  }

  private static boolean isSome(long rights) {
    return rights > 0 && rights < Long.MAX_VALUE;
  }
}
