package io.osier.datacenter.admin;

import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.Timeliness;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * What the dashboard shows of a datacenter at one moment. Counts are since the start of its
 * process; rates are differences between two models of the same incarnation. Immutable.
 *
 * @param millis the time, since 1970
 * @param incarnation the process's incarnation
 * @param uptimeMillis how long the process has run
 * @param cli the start of a command line that connects to the datacenter
 * @param obstacles what keeps the datacenter from serving, in words
 * @param warnings what else does not work, in words
 * @param links its links to the other datacenters
 * @param spaces the keyspaces, and homes of keyspaces, that it holds
 * @param copies its copies of objects that only others hold
 */
public record DashboardModel(
    long millis,
    String dc,
    long incarnation,
    long uptimeMillis,
    String cli,
    List<String> obstacles,
    List<String> warnings,
    List<Link> links,
    List<Space> spaces,
    Snapshot.Copies copies) {
  /**
   * The link to another datacenter (the peer), all keyspaces together.
   *
   * @param connected whether frames can be sent to the peer
   * @param stream the state of the slowest stream to the peer: waiting, catching-up, streaming
   * @param lagUpdates how many updates of this datacenter the peer has not acknowledged
   * @param lagMillis for how long the peer has lacked the oldest of them: its staleness
   * @param overdueUpdates how many of them are older than the staleness bound
   * @param behindUpdates how many updates of the peer have not come here
   * @param unheardMillis for how long nothing has come from the peer although something should
   * @param inFlightBytes bytes sent and not acknowledged
   * @param sentBytes bytes sent over the connections, framing included
   * @param receivedBytes bytes received over the connections, framing included
   * @param late shipments of the peer that became visible here too late, by cause
   */
  record Link(
      String dc,
      boolean connected,
      String stream,
      long lagUpdates,
      long lagMillis,
      long overdueUpdates,
      long behindUpdates,
      long unheardMillis,
      long inFlightBytes,
      long sentBytes,
      long receivedBytes,
      LateCounts late) {}

  /**
   * A keyspace, all its partitions together.
   *
   * @param slaMillis the staleness bound δ; 0 if everything is shipped at once
   * @param propagation op, state or adaptive
   * @param consistency session or causal
   * @param ready whether all its partitions serve commands
   * @param ageMillis the age of its partitions' oldest metrics
   * @param updates updates committed here
   * @param applied updates of other datacenters applied here
   * @param objects objects held
   * @param dirtyObjects objects with updates that are not yet shipped
   * @param shippedBytes bytes of updates shipped to all peers
   * @param arrivedBytes those of them that the peers have acknowledged
   * @param opBytes bytes that the acknowledged updates would take as single operations
   * @param timeliness whether updates reach the peers in time, all peers together
   * @param stateObjects objects in STATE mode now
   * @param switches how often an object changed its mode
   * @param late shipments that came too late, by cause
   * @param queued commands that wait
   * @param overloads commands that were refused
   * @param spent how often each memory budget was spent
   * @param visibility the delays until shipments were visible here
   * @param hot the hottest objects, hottest first
   */
  record Space(
      String name,
      long slaMillis,
      String propagation,
      String consistency,
      boolean ready,
      long ageMillis,
      long updates,
      long applied,
      long objects,
      long dirtyObjects,
      long shippedBytes,
      long arrivedBytes,
      long opBytes,
      Timeliness timeliness,
      long stateObjects,
      long switches,
      LateCounts late,
      long queued,
      long overloads,
      Map<String, Long> spent,
      Visibility visibility,
      List<PartitionReport.Hot> hot) {}

  /**
   * Delays from the commit of a shipment's oldest update until it was visible here, without
   * outages.
   *
   * @param counts the number of delays in each of {@link #RANGES}, and last the number above all of
   *     them
   */
  record Visibility(List<Long> counts, double p50Millis, double p99Millis, double maxMillis) {
    /** The upper ends of the ranges as shares of δ, or of a second if δ is 0. */
    static final List<Double> RANGES = ranges();

    private static List<Double> ranges() {
      List<Double> ends = new ArrayList<>();
      for (int i = 1; i <= 40; i++) {
        ends.add(i / 40.0);
      }
      ends.addAll(List.of(1.1, 1.25, 1.5, 2.0));
      return List.copyOf(ends);
    }

    /** Sorts times in microseconds into the ranges. */
    static Visibility of(Histogram micros, long slaMillis) {
      double unitMicros = slaMillis > 0 ? slaMillis * 1e3 : 1e6;
      Long[] counts = new Long[RANGES.size() + 1];
      Arrays.fill(counts, 0L);
      int range = 0;
      for (HistogramIterationValue v : micros.recordedValues()) {
        long least = micros.lowestEquivalentValue(v.getValueIteratedTo());
        while (range < RANGES.size() && least > RANGES.get(range) * unitMicros) {
          range++;
        }
        counts[range] += v.getCountAtValueIteratedTo();
      }
      return new Visibility(
          List.of(counts),
          micros.getValueAtPercentile(50) / 1e3,
          micros.getValueAtPercentile(99) / 1e3,
          micros.getMaxValue() / 1e3);
    }
  }

  /**
   * Makes the model of a snapshot.
   *
   * @param cli see {@link #cli}
   */
  public static DashboardModel of(Snapshot snapshot, String cli) {
    List<Link> links = new ArrayList<>();
    snapshot.links().forEach((dc, link) -> links.add(link(snapshot, dc, link)));
    return new DashboardModel(
        snapshot.atMillis(),
        snapshot.self().dc(),
        snapshot.self().incarnation(),
        snapshot.atMillis() - snapshot.startMillis(),
        cli,
        snapshot.obstacles(),
        snapshot.warnings(),
        links,
        snapshot.keyspaces().stream().map(k -> space(k, snapshot.atMillis())).toList(),
        snapshot.clients().elsewhere().copies());
  }

  private static Link link(Snapshot snapshot, String dc, Snapshot.Link link) {
    List<PartitionReport.Peer> streams =
        snapshot.keyspaces().stream()
            .flatMap(k -> k.peers().getOrDefault(dc, List.of()).stream())
            .toList();
    return new Link(
        dc,
        link.connected(),
        streams.stream()
            .map(PartitionReport.Peer::stream)
            .min(Comparator.comparingInt(DashboardModel::speed))
            .orElse("waiting"),
        streams.stream().mapToLong(p -> p.to().lagUpdates()).sum(),
        streams.stream().mapToLong(p -> p.to().lagNanos() / 1_000_000).max().orElse(0),
        streams.stream().mapToLong(p -> p.to().timeliness().overdue()).sum(),
        streams.stream().mapToLong(p -> p.from().behindUpdates()).sum(),
        streams.stream().mapToLong(p -> p.from().unheardNanos() / 1_000_000).max().orElse(0),
        streams.stream().mapToLong(p -> p.to().inFlightBytes()).sum(),
        link.sentBytes(),
        link.receivedBytes(),
        streams.stream().map(p -> p.from().late()).reduce(LateCounts.NONE, LateCounts::plus));
  }

  private static int speed(String stream) {
    return switch (stream) {
      case "waiting" -> 0;
      case "catching-up" -> 1;
      default -> 2;
    };
  }

  private static Space space(Snapshot.Keyspace k, long nowMillis) {
    Map<String, Long> spent = new LinkedHashMap<>();
    k.memory().forEach((share, usage) -> spent.put(share, usage.spent()));
    return new Space(
        k.name(),
        k.slaMillis(),
        k.policy().propagation().name().toLowerCase(Locale.ROOT),
        k.policy().consistency().name().toLowerCase(Locale.ROOT),
        k.ready() == k.policy().partitions(),
        k.ageMillis(nowMillis),
        k.sum(r -> r.content().committed()),
        k.sum(r -> r.arrived().applied()),
        k.sum(r -> r.content().objects()),
        k.sum(r -> r.shipped().dirtyObjects()),
        k.sum(r -> r.shipped().bytes()),
        k.sum(r -> r.shipped().arrivedBytes()),
        k.sum(r -> r.shipped().opBytes()),
        k.timeliness(),
        k.sum(r -> r.modes().stateObjects()),
        k.sum(r -> r.modes().switched()),
        k.partitions().stream()
            .map(p -> p.report().arrived().late())
            .reduce(LateCounts.NONE, LateCounts::plus),
        k.queued(),
        k.overloads(),
        spent,
        Visibility.of(k.visibilityMicros(), k.slaMillis()),
        k.hot(StatusJson.HOT));
  }
}
