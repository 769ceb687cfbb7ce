package io.osier.datacenter.shard.agent;

import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import java.util.concurrent.CompletableFuture;

/** A partition that runs, as those see it who tell it what becomes of its datacenter. */
public interface InspectedPartition {
  /** Submits an event; never refused. */
  void submit(Input input);

  /** What it is doing, once it has taken all that was submitted before. */
  CompletableFuture<PartitionReport> inspect(int hotLimit);

  /** Whether something is acknowledged in front of the partition, and not in it yet. */
  boolean isHolding();

  /** The objects, for reads that need no turn. */
  ObjectStore store();
}
