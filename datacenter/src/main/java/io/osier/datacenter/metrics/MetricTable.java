package io.osier.datacenter.metrics;

import java.util.List;

/**
 * Lists every metric of a datacenter, in the order of docs/MONITORING.md, whose list is generated
 * from this one. Values are summed over a keyspace's partitions, as alerts need; `stat` shows more.
 */
public final class MetricTable {
  private MetricTable() {}

  public static List<Metric> all() {
    MetricList metrics = new MetricList();
    DatacenterMetrics.addTo(metrics);
    KeyspaceMetrics.addTo(metrics);
    ReplicationMetrics.addTo(metrics);
    PartitionMetrics.addTo(metrics);
    StoreMetrics.addTo(metrics);
    TraceMetrics.addTo(metrics);
    return metrics.all();
  }
}
