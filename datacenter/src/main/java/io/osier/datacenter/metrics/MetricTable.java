package io.osier.datacenter.metrics;

import java.util.List;

/**
 * Every metric of a datacenter, in the order of docs/MONITORING.md, whose list is made of this one.
 * Partitions are added up: what matters for an alert is a keyspace's, and `stat` knows more.
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
