package io.osier.datacenter.feed;

import io.osier.core.VersionVector;
import io.osier.datacenter.store.ObjectStore;
import java.util.Optional;

/** A partition, as its feed sees it. Thread-safe. */
public interface FeedSource {
  /** What is durable of it. */
  ObjectStore store();

  /** See {@link io.osier.datacenter.partition.machine.Machine#forgotten}. */
  Optional<VersionVector> forgotten();

  /** Whether it has caught up. */
  boolean isReady();

  /** Submits an {@link io.osier.datacenter.partition.machine.Input.Watched}. */
  void watched(long life);
}
