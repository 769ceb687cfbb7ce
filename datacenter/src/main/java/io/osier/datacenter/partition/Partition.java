package io.osier.datacenter.partition;

import io.osier.datacenter.store.ObjectStore;

/** A keyspace's hash slice at one datacenter. */
public final class Partition {
  /** A partition that starts now, with the content of its store. */
  public Partition(PartitionConfig config, ObjectStore store, Now now) {}

  /** Handles one input. */
  public void on(Input input, Now now, Outbox outbox) {
    if (input == null) {
      throw new IllegalArgumentException("no input");
    }
  }

  /** When a {@link Input.Tick} is due, in the nanoseconds of {@link Now#nanos}. */
  public long nextTickNanos() {
    return Long.MAX_VALUE;
  }
}
