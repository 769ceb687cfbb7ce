package io.osier.bench.sim;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.SlewedClock;
import io.osier.datacenter.partition.Now;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.PartitionConfig;
import io.osier.datacenter.store.MemoryStore;
import io.osier.propagation.StreamSettings;
import java.util.ArrayList;
import java.util.List;

/** One datacenter: a partition for each keyspace, a wall clock of its own, up or down. */
final class SimDc {
  private static final long EPOCH_MILLIS = 1_700_000_000_000L;

  /** Decides often and soon, so that modes switch all the time. */
  private static final AdaptationSettings RESTLESS =
      new AdaptationSettings(20, 5, 200, 400, 0, 1, AdaptationSettings.Policy.COST, 4.0);

  private static final StreamSettings STREAMS =
      new StreamSettings(64 << 10, 2 << 10, 1_000, 200, 1_000);

  private final List<String> peers;
  private final List<KeyspacePolicy> keyspaces;
  private final List<Partition> partitions = new ArrayList<>();
  private final List<MemoryStore> stores = new ArrayList<>();
  private ReplicaId self;
  private boolean up;
  private SlewedClock clock;
  private double driftPerNano;
  private long jumpMillis;

  /** Inputs are handled so much later. */
  private long slowNanos;

  SimDc(String name, List<String> peers, List<KeyspacePolicy> keyspaces) {
    this.self = new ReplicaId(name, 1);
    this.peers = peers;
    this.keyspaces = keyspaces;
  }

  void start(ReplicaId id, long nanos) {
    self = id;
    up = true;
    clock = new SlewedClock(wall(nanos), nanos);
    partitions.clear();
    stores.clear();
    for (int k = 0; k < keyspaces.size(); k++) {
      MemoryStore store = new MemoryStore();
      stores.add(store);
      partitions.add(
          new Partition(
              new PartitionConfig(self, peers, keyspaces.get(k), 0, STREAMS, RESTLESS),
              store,
              now(nanos)));
    }
  }

  private long wall(long nanos) {
    return EPOCH_MILLIS + nanos / 1_000_000 + jumpMillis + (long) (nanos * driftPerNano / 1e6);
  }

  Now now(long nanos) {
    return new Now(nanos, clock.read(wall(nanos), nanos));
  }

  void crash() {
    up = false;
  }

  boolean isUp() {
    return up;
  }

  ReplicaId self() {
    return self;
  }

  Partition partition(int keyspace) {
    return partitions.get(keyspace);
  }

  MemoryStore store(int keyspace) {
    return stores.get(keyspace);
  }

  void jump(long millis) {
    jumpMillis += millis;
  }

  void drift(double perNano) {
    driftPerNano = perNano;
  }

  void slow(long nanos) {
    slowNanos = nanos;
  }

  long slowNanos() {
    return slowNanos;
  }
}
