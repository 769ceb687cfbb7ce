package io.osier.datacenter.admin;

import io.osier.datacenter.metrics.Metric;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.propagation.host.DelayHistogram;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Exports a datacenter's snapshot to Prometheus. A scrape does not wait for partitions.
 * Thread-safe.
 */
final class PrometheusMetrics implements MultiCollector {
  private final List<Metric> metrics;
  private final Supplier<Snapshot> latest;

  /** Exports, at each scrape, the snapshot that {@code latest} returns. */
  PrometheusMetrics(List<Metric> metrics, Supplier<Snapshot> latest) {
    this.metrics = metrics;
    this.latest = latest;
  }

  @Override
  public MetricSnapshots collect() {
    Snapshot snapshot = latest.get();
    List<MetricSnapshot> shown = new ArrayList<>();
    for (Metric metric : metrics) {
      Points points = new Points(metric);
      metric.values().read(snapshot, points);
      if (!points.made.isEmpty()) {
        shown.add(points.snapshot());
      }
    }
    return new MetricSnapshots(shown);
  }

  /** One metric's values. */
  private static final class Points implements Metric.Sink {
    private final Metric metric;
    private final List<DataPointSnapshot> made = new ArrayList<>();

    Points(Metric metric) {
      this.metric = metric;
    }

    private Labels labels(String... values) {
      return Labels.of(metric.labels().toArray(String[]::new), values);
    }

    @Override
    public void number(double value, String... labels) {
      made.add(
          metric.type() == Metric.Type.COUNTER
              ? new CounterSnapshot.CounterDataPointSnapshot(value, labels(labels), null, 0)
              : new GaugeSnapshot.GaugeDataPointSnapshot(value, labels(labels), null));
    }

    @Override
    public void times(DelayHistogram times, String... labels) {
      double[] bounds = new double[times.ranges() + 1];
      long[] counts = new long[bounds.length];
      for (int i = 0; i < bounds.length; i++) {
        bounds[i] = i < times.ranges() ? times.boundMicros(i) / 1e6 : Double.POSITIVE_INFINITY;
        counts[i] = times.count(i);
      }
      made.add(
          HistogramSnapshot.HistogramDataPointSnapshot.builder()
              .classicHistogramBuckets(ClassicHistogramBuckets.of(bounds, counts))
              .sum(times.sumMicros() / 1e6)
              .labels(labels(labels))
              .build());
    }

    private MetricSnapshot snapshot() {
      MetricMetadata metadata = new MetricMetadata(metric.name(), metric.help());
      return switch (metric.type()) {
        case COUNTER ->
            new CounterSnapshot(metadata, all(CounterSnapshot.CounterDataPointSnapshot.class));
        case GAUGE -> new GaugeSnapshot(metadata, all(GaugeSnapshot.GaugeDataPointSnapshot.class));
        case HISTOGRAM ->
            new HistogramSnapshot(
                metadata, all(HistogramSnapshot.HistogramDataPointSnapshot.class));
      };
    }

    private <T extends DataPointSnapshot> List<T> all(Class<T> type) {
      return made.stream().map(type::cast).toList();
    }
  }
}
