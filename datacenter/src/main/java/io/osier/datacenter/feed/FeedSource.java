package io.osier.datacenter.feed;

import io.osier.core.VersionVector;
import io.osier.datacenter.store.ObjectStore;
import java.util.Optional;

/** Gives a feed access to a partition. Thread-safe. */
public interface FeedSource {
  /** Returns the partition's store, whose durable part is read. */
  ObjectStore store();

  /** See {@link io.osier.datacenter.partition.machine.Machine#forgotten}. */
  Optional<VersionVector> forgotten();

  /** Returns whether the partition has caught up. */
  boolean isReady();

  /** Submits an {@link io.osier.datacenter.partition.machine.Input.Watched}. */
  void watched(long life);
}
