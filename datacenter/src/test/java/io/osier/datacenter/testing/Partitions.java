package io.osier.datacenter.testing;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.KeyedHash;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationProgress;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Partitions and their stores with the settings that most tests do not care about. */
public final class Partitions {
  private Partitions() {}

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

  /** How far a partition is that has heard of no other datacenter. */
  public static Optional<PartitionProgress> progress(long committed, long everywhere) {
    ReplicationProgress progress = new ReplicationProgress(VersionVector.EMPTY, Map.of(), true);
    return Optional.of(
        new PartitionProgress(committed, 1, progress, everywhere, true, Forgetting.SOMETHING));
  }

  /** Joins a delta to an object, as an update of the store's own datacenter, and commits it. */
  public static void commit(
      PartitionStore store, ObjectId object, ReplicaId self, long number, CrdtState delta) {
    CrdtState stored = store.get(object);
    CrdtState before = stored == null ? CrdtState.bottom(object.type()) : stored;
    CrdtState after = before.join(delta);
    store.put(object, after);
    Shipment update =
        new Shipment(
            object, self, before.context().through(self), VersionVector.EMPTY, number, 1, 0, delta);
    store.append(update, after);
    store.commit(progress(number, number), () -> {});
  }
}
