package io.osier.datacenter.control.execution;

import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.placement.DemandCounters;
import io.osier.datacenter.placement.Measured;
import io.osier.datacenter.placement.PlacementHost;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.ObjectStore;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Measures the load of keyspaces here, and what holding them costs. Partitions' reports are those
 * of the measurement before, so that it waits for none. Used by the control plane's thread.
 */
public final class LoadMeasures implements PlacementHost {
  /** The assumed size of an object where none is known, in bytes. */
  private static final long OBJECT_BYTES = 100;

  /** A peer that takes longer than this to get updates is lagging. */
  private static final long LAG_NANOS_MAX = 5_000_000_000L;

  /** A report that a partition must make, and its last one. */
  private record Asked(CompletableFuture<PartitionReport> next, Optional<PartitionReport> told) {
    Optional<PartitionReport> last() {
      return next.isDone() && !next.isCompletedExceptionally() ? Optional.of(next.join()) : told;
    }
  }

  private final Keyspaces keyspaces;
  private final DemandCounters counters = new DemandCounters();

  /** The reports of keyspaces' partitions. */
  private final Map<String, Map<PartitionRunner, Asked>> asked = new HashMap<>();

  /** The reports of {@code _osier}'s partitions. */
  private final Map<PartitionRunner, Asked> control = new HashMap<>();

  private final Map<String, Long> moves = new ConcurrentHashMap<>();

  private volatile Supplier<Map<String, Double>> ways = Map::of;
  private volatile Supplier<OptionalLong> room = OptionalLong::empty;
  private volatile BiConsumer<String, String> audit = (command, outcome) -> {};

  LoadMeasures(Keyspaces keyspaces) {
    this.keyspaces = keyspaces;
  }

  /**
   * Sets what is known only after the start.
   *
   * @param measuredWays the round-trip time to each datacenter in milliseconds, by name
   * @param roomBytes how many bytes can still be stored; empty if no bound is known
   * @param onChange is told each command of placement and its result
   */
  public void begin(
      Supplier<Map<String, Double>> measuredWays,
      Supplier<OptionalLong> roomBytes,
      BiConsumer<String, String> onChange) {
    ways = measuredWays;
    room = roomBytes;
    audit = onChange;
  }

  /** Returns the counters of clients' requests. */
  public DemandCounters counters() {
    return counters;
  }

  @Override
  public void count(Collection<String> names) {
    counters.follow(names);
    asked.keySet().retainAll(names);
    moves.keySet().retainAll(names);
  }

  @Override
  public Measured measured(String keyspace) {
    long committed = 0;
    long shipped = 0;
    long bytes = 0;
    KeyspaceShard shard = keyspaces.find(keyspace);
    if (shard != null) {
      Map<PartitionRunner, Asked> of = asked.computeIfAbsent(keyspace, k -> new HashMap<>());
      of.keySet().retainAll(shard.partitions());
      for (PartitionRunner partition : shard.partitions()) {
        Optional<PartitionReport> report = last(partition, of);
        committed += report.map(r -> r.content().committed()).orElse(0L);
        shipped += report.map(LoadMeasures::shippedBytes).orElse(0L);
        bytes += bytes(partition.store());
      }
    }
    SortedMap<String, Double> measured = new TreeMap<>(ways.get());
    measured.values().removeIf(millis -> millis <= 0);
    return new Measured(counters.of(keyspace), committed, shipped, bytes, room.get(), measured);
  }

  @Override
  public Set<String> lagging() {
    Set<String> lagging = new TreeSet<>();
    for (PartitionRunner partition : keyspaces.control().partitions()) {
      last(partition, control).stream()
          .flatMap(report -> report.peers().stream())
          .filter(peer -> peer.to().lagNanos() > LAG_NANOS_MAX)
          .forEach(peer -> lagging.add(peer.dc()));
    }
    return lagging;
  }

  /** Returns a partition's last report, and asks for another one unless it still has to answer. */
  private static Optional<PartitionReport> last(
      PartitionRunner partition, Map<PartitionRunner, Asked> asked) {
    Asked before = asked.get(partition);
    Optional<PartitionReport> last = before == null ? Optional.empty() : before.last();
    if (before == null || before.next.isDone()) {
      asked.put(partition, new Asked(partition.inspect(0), last));
    }
    return last;
  }

  /** Returns the bytes shipped to the peer that was sent most; other peers may be away. */
  private static long shippedBytes(PartitionReport report) {
    return report.peers().stream()
        .mapToLong(peer -> peer.to().opBytes() + peer.to().stateBytes())
        .max()
        .orElse(0);
  }

  private static long bytes(ObjectStore store) {
    ObjectStore.Figures cached = store.figures();
    return store.size()
        * (cached.cachedKeys() == 0 ? OBJECT_BYTES : cached.cachedBytes() / cached.cachedKeys());
  }

  @Override
  public void moved(String keyspace, String command, String why) {
    moves.merge(keyspace, 1L, Long::sum);
    audit.accept(command, "done: " + why);
  }

  @Override
  public void refused(String command, String why) {
    audit.accept(command, why);
  }

  /** Returns how often this datacenter altered the holders of a keyspace. For any thread. */
  public long moves(String keyspace) {
    return moves.getOrDefault(keyspace, 0L);
  }
}
