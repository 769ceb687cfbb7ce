package io.osier.bench.sim.node;

import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.propagation.host.StreamSettings;

/**
 * How small the limits of one partition are in one life of its datacenter: so small that what
 * follows when they are reached follows all the time. Immutable.
 *
 * @param self the datacenter's incarnation
 * @param life counts the datacenter's starts
 */
public record NodeLimits(
    RunProfile profile, Sabotage sabotage, Unit unit, ReplicaId self, long life) {
  /** Larger states are pulled: so few that sets of two dozen elements are, in several steps. */
  private static final int PULL_BYTES = 300;

  private static final DecompositionLimits SMALL_OBJECTS = new DecompositionLimits(60, 3);

  /** In one life of two so small that objects are evicted and read again all the time. */
  private static final long CACHE_BYTES_TINY = 3_000;

  private static final long CACHE_BYTES_SMALL = 40_000;

  /** Enough for all objects of a run. */
  private static final long CACHE_BYTES = 1L << 26;

  /** Of a handful of objects, so that what follows when it is spent follows all the time. */
  public static final StreamSettings.Memory LITTLE_MEMORY =
      new StreamSettings.Memory(6_000, 3_000, 3_000);

  private static final PartitionConfig.Memory LITTLE_PARTITION =
      new PartitionConfig.Memory(30_000, 20_000, 20_000);

  /** Small, so that a long outage needs more than the log. */
  static final long LOG_MAX = 3_000;

  /** So little that most objects in memory are packed. */
  private static final long UNPACKED_BYTES = 2_000;

  /** The settings of the partition's streams. */
  StreamSettings streams() {
    // At once where that is hardest: also what a crash can take back may have been forgotten by
    // then.
    int forgetMillis = unit.number() % 2 == 0 ? 0 : 1_500;
    StreamSettings settings =
        new StreamSettings(
            profile.windowBytes(),
            Unit.FRAME_BYTES,
            1_000,
            StreamSettings.DEFAULT.statusMillis(),
            1_000,
            forgetMillis);
    if (profile.has(Feature.DECOMPOSITION)) {
      settings = settings.pulling(PULL_BYTES);
    }
    return unit.hasLittleMemory() ? settings.within(sabotage.memory(LITTLE_MEMORY)) : settings;
  }

  /** What the partition itself may take in the heap. */
  PartitionConfig.Memory memory() {
    return unit.hasLittleMemory() ? LITTLE_PARTITION : PartitionConfig.Memory.DEFAULT;
  }

  /** The budget of the store's cache; enough for all objects in runs without cold reads. */
  long cacheBytes() {
    if (!profile.has(Feature.COLD_READS)) {
      return CACHE_BYTES;
    }
    return (self.dc().hashCode() + unit.number() + life) % 2 == 0
        ? CACHE_BYTES_TINY
        : CACHE_BYTES_SMALL;
  }

  /** What a store in memory may keep unpacked. */
  long unpackedBytes() {
    return profile.has(Feature.COLD_READS) ? UNPACKED_BYTES : CACHE_BYTES;
  }

  /** From which size on objects are decomposed: in two lives of three from a few entries on. */
  DecompositionLimits decomposition() {
    return !profile.has(Feature.DECOMPOSITION) || (self.dc().hashCode() + life) % 3 == 0
        ? DecompositionLimits.DEFAULT
        : SMALL_OBJECTS;
  }
}
