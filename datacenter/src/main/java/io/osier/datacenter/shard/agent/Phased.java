package io.osier.datacenter.shard.agent;

import io.osier.datacenter.partition.machine.Waited;

/** An asker that is also told how far its request has come. Called by any thread. */
public interface Phased {
  /** The request's partition has taken it. */
  void taken(long nanos);

  /** The request has waited for something, and goes on. */
  void waited(Waited what);

  /** The request's batch has been executed; its records have yet to become durable. */
  void executed(long nanos);

  /**
   * All answers of its batch that are there have been given; follows each {@link #executed}. Who is
   * woken by its answer may wait for this, and then finds the others of the batch as well.
   */
  default void told() {}

  /** Who asks, for those who hear of changes at once and not of their own; 0 if it is the same. */
  default long author() {
    return 0;
  }
}
