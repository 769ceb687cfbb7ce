package io.osier.datacenter.shard.agent;

import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import java.util.concurrent.CompletableFuture;

/** A running partition, as seen by the parts that tell it about its datacenter's membership. */
public interface InspectedPartition {
  /** Submits an event; never refused. */
  void submit(Input input);

  /** Returns a report of what it is doing, made once it has taken all that was submitted before. */
  CompletableFuture<PartitionReport> inspect(int hotLimit);

  /**
   * Returns whether updates are acknowledged in front of the partition that it does not have yet.
   */
  boolean isHolding();

  /** Returns the objects, for reads that need no turn. */
  ObjectStore store();
}
