package io.osier.datacenter.metrics;

import static io.osier.datacenter.metrics.Metric.Type.COUNTER;
import static io.osier.datacenter.metrics.Metric.Type.GAUGE;

import io.osier.datacenter.partition.machine.PartitionReport;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Metrics of a keyspace's contents, watchers and modes. */
final class KeyspaceMetrics {
  private final MetricList metrics;

  private KeyspaceMetrics(MetricList metrics) {
    this.metrics = metrics;
  }

  /** Adds all these metrics, in the table's order. */
  static void addTo(MetricList list) {
    KeyspaceMetrics metrics = new KeyspaceMetrics(list);
    metrics.contents();
    metrics.watching();
    metrics.modes();
  }

  private void watching() {
    metrics.perKeyspace(
        GAUGE, "watchers", "Watchers that wait for changes", k -> k.watching().watchers());
    metrics.perKeyspace(
        COUNTER,
        "watchers_told",
        "Answers with changes that were sent to watchers",
        k -> k.watching().told());
    metrics.perKeyspace(
        COUNTER,
        "watchers_cut_off",
        "Watchers that were cut off because the changes that they had not read were no longer kept",
        k -> k.watching().cutOff());
    metrics.perKeyspace(
        GAUGE,
        "watch_kept_bytes",
        "Memory taken by the latest changes, which are kept for watchers",
        k -> k.watching().keptBytes());
  }

  private void contents() {
    metrics.counted("updates", "Updates committed here", r -> r.content().committed());
    metrics.gauged("objects", "Objects held here", r -> r.content().objects());
    metrics.gauged(
        "removed_objects",
        "Removed objects whose removal some datacenter may not have seen yet",
        r -> r.content().removedObjects());
    metrics.counted(
        "forgotten_objects",
        "Removed objects whose removal every datacenter has seen, so that nothing of them is kept",
        r -> r.content().forgottenObjects());
    metrics.gauged(
        "open_transactions",
        "Transactions that are open and hold a snapshot",
        r -> r.snapshots().openTransactions());
    metrics.gauged(
        "former_versions",
        "Former values that are kept for snapshots and for keyspaces' history",
        r -> r.snapshots().formerVersions());
    metrics.gauged(
        "rights_waiting",
        "Updates of bounded counters that wait for rights",
        r -> r.rights().waiting());
    metrics.counted(
        "rights_denied",
        "Updates of bounded counters that failed for lack of rights",
        r -> r.rights().denied());
  }

  private void modes() {
    metrics.gauged(
        "state_mode_objects",
        "Objects whose updates are joined and shipped as states now",
        r -> r.modes().stateObjects());
    metrics.add(
        COUNTER,
        "mode_switches",
        List.of(MetricList.KEYSPACE, "reason"),
        "How often objects switched between operations and states, by reason",
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        switches(k)
                            .forEach((reason, count) -> to.number(count, k.name(), reason))));
    metrics.perKeyspace(
        GAUGE,
        "hottest_object_updates_per_second",
        "Updates per second of the object that is updated most often; `osier cli hot` names it",
        k -> k.hot(1).stream().mapToDouble(PartitionReport.Hot::updatesPerSecond).sum());
    metrics.perKeyspace(
        GAUGE,
        "shipment_cost_bytes",
        "What handling a shipment costs a receiver, as a number of bytes on the link that cost as"
            + " much",
        k -> k.max(r -> r.modes().shipmentCost()));
  }

  private static Map<String, Long> switches(Snapshot.Keyspace keyspace) {
    return keyspace.partitions().stream()
        .flatMap(p -> p.report().modes().switches().entrySet().stream())
        .collect(
            Collectors.groupingBy(
                e -> e.getKey().label(), Collectors.summingLong(Map.Entry::getValue)));
  }
}
