package io.osier.datacenter.figures;

import io.osier.datacenter.partition.PartitionReport;
import io.osier.propagation.host.Delays;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Metrics in the order in which they are added, each by how it is read: off the snapshot, or summed
 * over the partitions of each keyspace, or of each keyspace and peer. Used by one thread.
 */
final class MetricList {
  /** The label that names a keyspace. */
  static final String KEYSPACE = "keyspace";

  /** The label that names a peer. */
  static final String PEER = "peer";

  private final List<Metric> metrics = new ArrayList<>();

  /** All that were added. */
  List<Metric> all() {
    return List.copyOf(metrics);
  }

  void add(Metric.Type type, String name, List<String> labels, String help, Metric.Values values) {
    metrics.add(new Metric("osier_" + name, type, labels, help, values));
  }

  void one(Metric.Type type, String name, String help, ToDoubleFunction<Snapshot> of) {
    add(type, name, List.of(), help, (s, to) -> to.number(of.applyAsDouble(s)));
  }

  void perKeyspace(
      Metric.Type type, String name, String help, ToDoubleFunction<Snapshot.Keyspace> of) {
    add(
        type,
        name,
        List.of(KEYSPACE),
        help,
        (s, to) -> s.published().forEach(k -> to.number(of.applyAsDouble(k), k.name())));
  }

  void counted(String name, String help, ToLongFunction<PartitionReport> of) {
    perKeyspace(Metric.Type.COUNTER, name, help, k -> k.sum(of));
  }

  void gauged(String name, String help, ToLongFunction<PartitionReport> of) {
    perKeyspace(Metric.Type.GAUGE, name, help, k -> k.sum(of));
  }

  /** A figure of a keyspace's partitions for one peer, from what each of them says of it. */
  void perPeer(
      Metric.Type type, String name, String help, ToDoubleFunction<List<PartitionReport.Peer>> of) {
    add(
        type,
        name,
        List.of(KEYSPACE, PEER),
        help,
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.peers()
                            .forEach((dc, all) -> to.number(of.applyAsDouble(all), k.name(), dc))));
  }

  void timesPerPeer(String name, String help, Function<PartitionReport.Peer, Delays> of) {
    add(
        Metric.Type.HISTOGRAM,
        name,
        List.of(KEYSPACE, PEER),
        help,
        (s, to) ->
            s.published()
                .forEach(
                    k ->
                        k.peers()
                            .forEach(
                                (dc, all) ->
                                    to.times(
                                        all.stream().map(of).reduce(Delays::plus).orElseThrow(),
                                        k.name(),
                                        dc))));
  }
}
