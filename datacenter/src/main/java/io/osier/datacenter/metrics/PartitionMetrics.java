package io.osier.datacenter.metrics;

import static io.osier.datacenter.metrics.Metric.Type.COUNTER;
import static io.osier.datacenter.metrics.Metric.Type.GAUGE;

import io.osier.core.memory.Budget;
import io.osier.datacenter.store.ObjectStore;
import java.util.List;
import java.util.function.ToLongFunction;

/** Metrics that show whether a keyspace's partitions keep up: queues, memory budgets, caches. */
final class PartitionMetrics {
  private final MetricList metrics;

  private PartitionMetrics(MetricList metrics) {
    this.metrics = metrics;
  }

  /** Adds all these metrics, in the table's order. */
  static void addTo(MetricList metrics) {
    new PartitionMetrics(metrics).queues();
  }

  private void queues() {
    metrics.perKeyspace(
        GAUGE, "partitions", "Partitions of the keyspace", k -> k.policy().partitions());
    metrics.perKeyspace(
        GAUGE,
        "ready_partitions",
        "Partitions that serve: they have caught up",
        Snapshot.Keyspace::ready);
    metrics.perKeyspace(
        GAUGE,
        "queued_commands",
        "Commands that wait for their partition",
        Snapshot.Keyspace::queued);
    metrics.perKeyspace(
        COUNTER,
        "overloads",
        "Commands refused because a queue was full or took too much memory",
        Snapshot.Keyspace::overloads);
    perShare(GAUGE, "memory_used_bytes", "Bytes used of the share of the heap", Budget.Usage::used);
    perShare(GAUGE, "memory_limit_bytes", "The share's size", Budget.Usage::limit);
    perShare(
        COUNTER,
        "memory_spent",
        "How often something was refused, dropped or had to wait because the share of the heap was"
            + " used up",
        Budget.Usage::spent);
    metrics.perKeyspace(
        GAUGE, "cached_keys", "Keys in memory", k -> k.stored(ObjectStore.Figures::cachedKeys));
    metrics.perKeyspace(
        GAUGE,
        "cached_bytes",
        "Heap that keys in memory take with their objects, about",
        k -> k.stored(ObjectStore.Figures::cachedBytes));
    metrics.perKeyspace(
        GAUGE,
        "cache_limit_bytes",
        "Heap that keys in memory may take with their objects, about; 0 if all are in memory",
        k -> k.stored(ObjectStore.Figures::cacheBytesMax));
    metrics.perKeyspace(
        COUNTER,
        "cache_misses",
        "Keys read from the disk",
        k -> k.stored(ObjectStore.Figures::misses));
    metrics.perKeyspace(
        COUNTER,
        "cache_slow_misses",
        "Keys read from the disk while the partition waited",
        k -> k.stored(ObjectStore.Figures::slowMisses));
    metrics.perKeyspace(
        GAUGE,
        "log_entries",
        "Updates of this datacenter kept for datacenters that do not have them yet",
        k -> k.stored(ObjectStore.Figures::logEntries));
  }

  private void perShare(
      Metric.Type type, String name, String help, ToLongFunction<Budget.Usage> of) {
    metrics.add(
        type,
        name,
        List.of(MetricList.KEYSPACE, "share"),
        help,
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.memory()
                            .forEach(
                                (share, usage) ->
                                    to.number((double) of.applyAsLong(usage), k.name(), share))));
  }
}
