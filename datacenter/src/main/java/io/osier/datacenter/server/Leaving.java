package io.osier.datacenter.server;

import io.osier.core.ReplicaId;
import io.osier.crdt.BoundedCounter;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A datacenter leaves: it takes no updates any more, learns what the others have, gives away the
 * rights of its bounded counters, and ships everything. In steps, by the control plane's thread;
 * what takes long is done by another one meanwhile.
 */
final class Leaving {
  private static final int PAGE = 1_000;
  private static final int REPORT_SECONDS = 5;

  private enum Stage {
    /** Others may have given it something, or made counters that it has a part of. */
    COMPARING("what the others had when they heard of it has not all come"),
    /** Rights are given to the heir. */
    GIVING("the rights of its bounded counters are given to another datacenter"),
    /** The others have not everything yet. */
    SHIPPING("what was written here has not come to all others"),
    /** Nothing is left to do. */
    DONE("");

    private final String words;

    Stage(String words) {
      this.words = words;
    }
  }

  private final ReplicaId self;
  private final Keyspaces keyspaces;
  private Stage stage = Stage.COMPARING;
  private @Nullable CompletableFuture<Integer> giving;

  /** Begins: no updates are taken from now on. */
  Leaving(ReplicaId self, Keyspaces keyspaces) {
    this.self = self;
    this.keyspaces = keyspaces;
    keyspaces.compareAnew();
  }

  /** What keeps it from going, in words; empty if nothing does. */
  Optional<String> progress() {
    return stage == Stage.DONE ? Optional.empty() : Optional.of(stage.words);
  }

  /**
   * Goes on.
   *
   * @param heirs of them the first that holds a keyspace gets the rights there
   * @return whether nothing is left to do
   */
  boolean step(List<String> heirs) {
    switch (stage) {
      case COMPARING -> {
        if (partitions().allMatch(keyspaces::isComplete)) {
          stage = Stage.GIVING;
        }
      }
      case GIVING -> give(heirs);
      case SHIPPING -> {
        partitions().forEach(p -> p.submit(new Input.Flush()));
        if (partitions().allMatch(Leaving::isShipped)) {
          stage = Stage.DONE;
        }
      }
      case DONE -> {}
    }
    return stage == Stage.DONE;
  }

  private Stream<PartitionRunner> partitions() {
    return keyspaces.shown().values().stream().flatMap(k -> k.partitions().stream());
  }

  /** Until a walk through all objects finds nothing to give. */
  private void give(List<String> heirs) {
    CompletableFuture<Integer> walk = giving;
    if (walk == null) {
      giving = CompletableFuture.supplyAsync(() -> walk(heirs), Leaving::begin);
    } else if (walk.isDone()) {
      giving = null;
      if (walk.join() == 0) {
        stage = Stage.SHIPPING;
      }
    }
  }

  private static void begin(Runnable walk) {
    Thread.ofPlatform().name("osier-leaving").daemon(true).start(walk);
  }

  private int walk(List<String> heirs) {
    int found = 0;
    for (KeyspaceShard shard : keyspaces.shown().values()) {
      Optional<String> heir = heirs.stream().filter(shard.policy()::heldBy).findFirst();
      for (PartitionRunner partition : shard.partitions()) {
        found += heir.isPresent() ? walk(partition, heir.get()) : 0;
      }
    }
    return found;
  }

  private int walk(PartitionRunner partition, String heir) {
    int found = 0;
    Optional<ObjectId> after = Optional.empty();
    List<ObjectStore.Entry> page;
    do {
      page = partition.store().scanDurable(after, PAGE);
      List<ObjectId> counters = new ArrayList<>();
      for (ObjectStore.Entry entry : page) {
        after = Optional.of(entry.object());
        if (entry.object().type() == CrdtType.BOUNDED_COUNTER
            && entry.state().store() instanceof BoundedCounter counter
            && (isSome(counter.downRights(self.dc())) || isSome(counter.upRights(self.dc())))) {
          counters.add(entry.object());
        }
      }
      if (!counters.isEmpty()) {
        found += counters.size();
        partition.submit(new Input.GiveAway(counters, heir));
        awaitDone(partition);
      }
    } while (page.size() == PAGE);
    return found;
  }

  private static boolean isSome(long rights) {
    return rights > 0 && rights < Long.MAX_VALUE;
  }

  private static void awaitDone(PartitionRunner partition) {
    report(partition);
  }

  /** Whether all peers have everything that was written in a partition here. */
  static boolean isShipped(PartitionRunner partition) {
    return report(partition)
        .map(r -> r.peers().stream().allMatch(p -> p.to().lagUpdates() == 0))
        .orElse(false);
  }

  private static Optional<PartitionReport> report(PartitionRunner partition) {
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
