package io.osier.datacenter.testing;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.KeyedHash;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import java.util.List;

/** Partitions and their stores with the settings that most tests do not care about. */
public final class Partitions {
  private Partitions() {}

  /** The first partition of a keyspace. */
  public static PartitionConfig config(ReplicaId self, List<String> peers, KeyspacePolicy policy) {
    return new PartitionConfig(
        self, peers, policy, 0, StreamSettings.DEFAULT, AdaptationSettings.DEFAULT);
  }

  /** One that starts with nothing. */
  public static Partition started(
      ReplicaId self, List<String> peers, KeyspacePolicy policy, ObjectStore store, Now now) {
    return new Partition(config(self, peers, policy), store, RecoveredState.NOTHING, now);
  }

  /** A store with a cache of 1 MiB that reads ahead at once. */
  public static PartitionStore store(VersionStore versions, GroupWriter writer, ReplicaId self) {
    return store(versions, writer, self, DecompositionLimits.DEFAULT);
  }

  public static PartitionStore store(
      VersionStore versions, GroupWriter writer, ReplicaId self, DecompositionLimits limits) {
    return new PartitionStore(
        versions, writer, self, 1 << 20, 1_000, KeyedHash.of(() -> 7), Runnable::run, limits);
  }
}
