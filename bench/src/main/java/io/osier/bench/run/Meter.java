package io.osier.bench.run;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.typesafe.config.Config;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.systems.ScenarioException;
import io.osier.bench.systems.Target;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Reads the counters of a system and its loads at the beginning and the end of a step, and adds the
 * differences to the results. The load runs at both moments, so updates that are held back at the
 * end are made up for by those that were held back at the beginning.
 */
final class Meter implements AutoCloseable {
  private static final long SAMPLE_NANOS = 500_000_000;

  /** Samples of a window of two seconds, of which the slowest is reported. */
  private static final int WINDOW = 4;

  private final Target target;
  private final Config config;
  private final List<String> names;
  private final List<Load> loads;
  private final boolean samples;
  private final @Nullable HomesWatch homes;
  private final List<Map<String, Histogram>> calls = new ArrayList<>();
  private final List<double[]> sampled = new ArrayList<>();
  private final Map<String, Double> figures = new LinkedHashMap<>();
  private @Nullable Counted before;
  private @Nullable Counted after;
  private Optional<Figures> countsBefore = Optional.empty();
  private Optional<Figures> countsAfter = Optional.empty();
  private @Nullable Histogram probed;
  private @Nullable Thread sampler;
  private @Nullable RuntimeException unsampled;
  private volatile boolean ended;
  private double tookSeconds = -1;

  private record Counted(
      long nanos,
      long cpuNanos,
      long linkBytes,
      long traceBytes,
      List<Long> done,
      List<Long> failed) {}

  Meter(Target target, Config config, List<String> names, List<Load> loads, boolean samples) {
    this.target = target;
    this.config = config;
    this.names = names;
    this.loads = List.copyOf(loads);
    this.samples = samples;
    Config first = loads.getFirst().config();
    this.homes =
        first.getStringList("homes").isEmpty()
            ? null
            : target.cluster().map(c -> new HomesWatch(c, first)).orElse(null);
  }

  private Counted read() {
    return new Counted(
        System.nanoTime(),
        target.cpu().toNanos(),
        target.linkBytes(),
        target.traceBytes(),
        loads.stream().map(Load::done).toList(),
        loads.stream().map(Load::failed).toList());
  }

  /**
   * Returns what the datacenters report of the updates they received; empty if no load makes calls,
   * since a request for it would disturb an idle cluster.
   */
  private Optional<Figures> counts() {
    boolean isIdle = Load.areIdle(loads.stream().map(Load::config).toList());
    return target.cluster().filter(c -> target.nodes() > 1 && !isIdle).map(Figures::of);
  }

  void begin(@Nullable Prober prober) {
    before = read();
    countsBefore = counts();
    loads.forEach(Load::sinceLast);
    if (prober != null) {
      prober.sinceLast();
    }
    if (samples) {
      sampler = Thread.ofPlatform().daemon(true).start(this::sample);
    }
  }

  private void sample() {
    try {
      do {
        double done = loads.stream().mapToLong(Load::done).sum();
        sampled.add(new double[] {System.nanoTime() / 1e9, done, wrong()});
        Time.REAL.pass(SAMPLE_NANOS);
      } while (!ended);
    } catch (RuntimeException e) {
      unsampled = e;
    } finally {
      if (homes != null) {
        homes.close();
      }
    }
  }

  @Override
  public void close() {
    ended = true;
  }

  /**
   * Returns which percentage of the objects that the first datacenter reports as hottest are not
   * the hottest, or which percentage of the homes is not held where it is used; −1 if the load
   * names neither.
   */
  private double wrong() {
    Load load = loads.getFirst();
    if (homes != null) {
      return homes.wrong(load.draw());
    }
    int top = load.config().getInt("hot");
    if (top == 0) {
      return -1;
    }
    Set<String> right = new HashSet<>();
    for (int rank = 0; rank < top; rank++) {
      right.add(Integer.toString(load.draw().ofRank(rank)));
    }
    int found = 0;
    LocalCluster cluster = target.cluster().orElseThrow();
    JsonNode report = cluster.inspect(cluster.dcs().getFirst(), Request.Topic.HOT, top);
    String keyspace = load.config().getString("keyspace");
    for (JsonNode object : report.get("keyspaces").get(keyspace).get("hot")) {
      found += right.contains(object.get("key").asText().substring(1)) ? 1 : 0;
    }
    return 100.0 * (top - found) / top;
  }

  /** Notes how long the step's action took; below 0 if that is not to be reported. */
  void took(double seconds) {
    tookSeconds = seconds;
  }

  void end(@Nullable Prober prober) throws InterruptedException {
    after = read();
    countsAfter = counts();
    loads.forEach(load -> calls.add(load.sinceLast()));
    figures();
    if (homes != null) {
      figures.put("stored objects", homes.stored());
    }
    probed = prober == null ? null : prober.sinceLast();
    close();
    if (sampler != null) {
      sampler.join();
    }
    if (unsampled != null) {
      throw unsampled;
    }
  }

  /** Reads the receivers' counters again, after updates that were held back have been shipped. */
  void settled() {
    countsAfter = counts();
  }

  double secondsSinceStart(long nanos) {
    return (nanos - requireNonNull(before).nanos) / 1e9;
  }

  void add(String row, Turn.Rows rows) {
    Counted from = requireNonNull(before);
    Counted to = requireNonNull(after);
    double seconds = (to.nanos - from.nanos) / 1e9;
    double micros = (to.cpuNanos - from.cpuNanos) / 1e3;
    double operations = 0;
    for (int i = 0; i < loads.size(); i++) {
      operations += to.done.get(i) - from.done.get(i);
    }
    for (int i = 0; i < loads.size(); i++) {
      String name =
          names.size() == 1 ? row : row.isEmpty() ? names.get(i) : row + ", " + names.get(i);
      if (to.done.get(i) > from.done.get(i)) {
        rows.add(name, "operations/s", (to.done.get(i) - from.done.get(i)) / seconds);
        latencies(name, calls.get(i), rows);
      }
      if (to.failed.get(i) > from.failed.get(i)) {
        rows.add(name, "failed", (double) (to.failed.get(i) - from.failed.get(i)));
      }
      receivers(name, from, to, i, operations, rows);
    }
    if (micros > 0 && operations > 0) {
      rows.add(row, "servers' µs/op", micros / operations);
    } else if (operations == 0 && tookSeconds < 0) {
      rows.add(row, "% of a core, all", micros / 1e4 / seconds);
      rows.add(row, "link bytes/s", (to.linkBytes - from.linkBytes) / seconds);
    }
    if (operations > 0 && (homes != null || loads.size() > 1)) {
      rows.add(row, "link bytes/op", (to.linkBytes - from.linkBytes) / operations);
    }
    if (countsAfter.isPresent() && countsBefore.isPresent()) {
      long copied = countsAfter.get().copyHits() - countsBefore.get().copyHits();
      if (copied > 0) {
        rows.add(row, "from copies/s", copied / seconds);
      }
    }
    if (to.traceBytes > from.traceBytes && operations > 0) {
      rows.add(row, "trace bytes/op", (to.traceBytes - from.traceBytes) / operations);
    }
    if (probed != null && probed.getTotalCount() > 0) { // else nothing was seen in time
      rows.add(row, "seen p50 ms", probed.getValueAtPercentile(50) / 1e4);
      rows.add(row, "seen p99 ms", probed.getValueAtPercentile(99) / 1e4);
    }
    if (tookSeconds >= 0) {
      rows.add(row, "took s", tookSeconds);
      rows.add(row, "link MB", (to.linkBytes - from.linkBytes) / 1e6);
    }
    if (samples && operations > 0) {
      samples(row, operations / seconds, rows);
    }
    figures.forEach((figure, value) -> rows.add(row, figure, value));
  }

  private static void latencies(String row, Map<String, Histogram> calls, Turn.Rows rows) {
    Map<String, Histogram> shown = new LinkedHashMap<>(calls);
    shown.values().removeIf(histogram -> histogram.getTotalCount() == 0);
    shown.forEach(
        (operation, tenths) -> {
          String of = shown.size() == 1 ? "" : operation + " ";
          rows.add(row, of + "p50 µs", tenths.getValueAtPercentile(50) / 10.0);
          rows.add(row, of + "p99 µs", tenths.getValueAtPercentile(99) / 10.0);
          rows.add(row, of + "p99.9", tenths.getValueAtPercentile(99.9) / 10.0);
          rows.add(row, of + "max", tenths.getMaxValue() / 10.0);
        });
  }

  private void receivers(
      String row, Counted from, Counted to, int load, double operations, Turn.Rows rows) {
    double bytes = to.linkBytes - from.linkBytes;
    if (countsAfter.isPresent() && countsBefore.isPresent()) {
      String keyspace = loads.get(load).config().getString("keyspace");
      Figures seen =
          countsAfter.get().keyspace(keyspace).since(countsBefore.get().keyspace(keyspace));
      if (seen.sum("updates") > 0) {
        if (loads.size() == 1) {
          rows.add(row, "link bytes/update", bytes / seen.sum("updates"));
        }
        rows.add(row, "visible p50 ms", seen.visibilityMillis(50));
        rows.add(row, "visible p99", seen.visibilityMillis(99));
        rows.add(row, "visible max", seen.visibilityMillis(100));
        rows.add(row, "violations", (double) seen.sum("sla_violations"));
      }
    } else if (bytes > 0 && operations > 0) {
      rows.add(row, "link bytes/update", bytes / operations);
    }
  }

  private void samples(String row, double mean, Turn.Rows rows) {
    double lowest = Double.MAX_VALUE;
    for (int i = WINDOW; i < sampled.size(); i++) {
      double[] first = sampled.get(i - WINDOW);
      double[] last = sampled.get(i);
      lowest = Math.min(lowest, (last[1] - first[1]) / (last[0] - first[0]));
    }
    rows.add(row, "lowest 2 s", lowest == Double.MAX_VALUE ? mean : lowest);
    if (sampled.getFirst()[2] >= 0) {
      double average = sampled.stream().mapToDouble(s -> s[2]).average().orElse(0);
      // By the second half of the samples the hottest objects have settled.
      double settled =
          sampled.subList(sampled.size() / 2, sampled.size()).stream()
              .mapToDouble(s -> s[2])
              .max()
              .orElse(0);
      double right = -1;
      for (double[] sample : sampled) {
        if (right < 0 && sample[2] <= settled) {
          right = sample[0] - sampled.getFirst()[0];
        }
      }
      rows.add(row, "wrong %", average);
      rows.add(row, "right after s", right);
    }
  }

  private void figures() {
    List<String> wanted = config.getStringList("figures");
    if (target.cluster().isEmpty() || wanted.isEmpty()) {
      return;
    }
    String keyspace = "/keyspaces/" + loads.getFirst().config().getString("keyspace");
    JsonNode report =
        target.cluster().get().inspect(target.names().getFirst(), Request.Topic.STAT, 0);
    for (String figure : wanted) {
      JsonNode found = report.at(figure.startsWith("/") ? figure : keyspace + "/" + figure);
      if (!found.isNumber()) {
        throw new ScenarioException("the report has no figure " + figure);
      }
      figures.put(figure, found.asDouble());
    }
  }
}
