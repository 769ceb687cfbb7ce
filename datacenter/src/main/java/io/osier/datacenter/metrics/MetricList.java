package io.osier.datacenter.metrics;

import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.DelayHistogram;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Collects metrics in order, with methods for the ways in which they are read: from the snapshot as
 * a whole, summed over the partitions of each keyspace, or for each keyspace and peer. For one
 * thread.
 */
final class MetricList {
  /** The label that names a keyspace. */
  static final String KEYSPACE = "keyspace";

  /** The label that names a peer. */
  static final String PEER = "peer";

  /** One value of a label, and the count that belongs to it. */
  record PeerPart(String label, ToLongFunction<PartitionReport.Peer> of) {}

  /** Reads the values of a keyspace for one peer from the reports of all partitions. */
  interface PeerValues {
    void read(Snapshot.Keyspace of, String peer, List<PartitionReport.Peer> all, Metric.Sink to);
  }

  private final List<Metric> metrics = new ArrayList<>();

  /** Returns all added metrics. */
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

  /** Adds a gauge for each keyspace and peer, made from the reports of all partitions. */
  void perPeer(String name, String help, ToDoubleFunction<List<PartitionReport.Peer>> of) {
    eachPeer(
        Metric.Type.GAUGE,
        name,
        List.of(KEYSPACE, PEER),
        help,
        (k, dc, all, to) -> to.number(of.applyAsDouble(all), k.name(), dc));
  }

  /** Adds a counter for each keyspace and peer that is split into parts by one more label. */
  void countedPerPeer(String name, String label, String help, List<PeerPart> parts) {
    eachPeer(
        Metric.Type.COUNTER,
        name,
        List.of(KEYSPACE, PEER, label),
        help,
        (k, dc, all, to) -> parts.forEach(p -> to.number(sum(all, p.of), k.name(), dc, p.label)));
  }

  void timesPerPeer(String name, String help, Function<PartitionReport.Peer, DelayHistogram> of) {
    eachPeer(
        Metric.Type.HISTOGRAM,
        name,
        List.of(KEYSPACE, PEER),
        help,
        (k, dc, all, to) ->
            to.times(
                all.stream().map(of).reduce(DelayHistogram::plus).orElseThrow(), k.name(), dc));
  }

  /** Adds a metric for each keyspace and peer. */
  void eachPeer(
      Metric.Type type, String name, List<String> labels, String help, PeerValues values) {
    add(
        type,
        name,
        labels,
        help,
        (s, to) ->
            s.published()
                .forEach(k -> k.peers().forEach((dc, all) -> values.read(k, dc, all, to))));
  }

  /** Returns the sum of a value of all partitions for one peer. */
  static double sum(List<PartitionReport.Peer> peers, ToLongFunction<PartitionReport.Peer> of) {
    return peers.stream().mapToLong(of).sum();
  }
}
