package io.osier.datacenter.control.execution;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.agent.InspectedPartition;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The keyspaces that a {@link LeaveProcedure} gives up, and what it needs to know of its
 * datacenter.
 */
public interface GivenUp {
  List<Keyspace> keyspaces();

  record Keyspace(KeyspacePolicy policy, List<? extends InspectedPartition> partitions) {}

  /** Finds out anew whether this datacenter has the others' data. */
  void compareAnew();

  boolean isComplete();

  /** Returns whether a datacenter holds a keyspace and is not leaving it. */
  boolean mayInherit(KeyspacePolicy policy, String dc);

  /** Walks through all objects, without blocking the caller. */
  CompletableFuture<Integer> begin(Supplier<Integer> walk);

  /** The keyspaces of a running datacenter. */
  record Running(Keyspaces among, Supplier<Collection<KeyspaceShard>> shards) implements GivenUp {
    @Override
    public List<Keyspace> keyspaces() {
      return shards.get().stream().map(k -> new Keyspace(k.policy(), k.partitions())).toList();
    }

    @Override
    public void compareAnew() {
      among.compareAnew();
    }

    @Override
    public boolean isComplete() {
      return shards.get().stream()
          .flatMap(k -> k.partitions().stream())
          .allMatch(among::isComplete);
    }

    @Override
    public boolean mayInherit(KeyspacePolicy policy, String dc) {
      return among.holders().stays(policy, dc);
    }

    @Override
    public CompletableFuture<Integer> begin(Supplier<Integer> walk) {
      return RightsWalk.begin(walk);
    }
  }
}
