package io.osier.bench.storage;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.osier.datacenter.cli.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** Reads and updates from 99/1 to 1/99, for each durability in turn. */
final class Mixes implements Part {
  private static final List<String> MODES = List.of("none", "async", "sync");
  private static final int[] UPDATE_PERCENTS = {1, 10, 25, 50, 99};
  private static final int MIX_KEYS = 100_000;
  private static final double PARETO_LIKE = 0.8;

  @Override
  public Result measure(Scale scale, ArrayNode json) throws InterruptedException {
    Table table =
        new Table(
            "reads/updates",
            "durability",
            "ops/s (median)",
            "spread",
            "read p50 µs",
            "p99",
            "update p50 µs",
            "p99",
            "updates a write");
    Map<String, Rig> rigs =
        MODES.stream()
            .collect(Collectors.toMap(m -> m, m -> new Rig(scale.dir().resolve(m), m, "256MiB")));
    try {
      for (Rig rig : rigs.values()) {
        new Driver(rig.client, scale.inFlight(), MIX_KEYS, 50, PARETO_LIKE).run(scale.seconds(), 1);
      }
      for (int percent : UPDATE_PERCENTS) {
        Map<String, List<Driver.Outcome>> runs = new TreeMap<>();
        Map<String, Double> group = new TreeMap<>();
        for (int round = 0; round < (scale.quick() ? 1 : 3); round++) {
          for (String mode : MODES) {
            Rig rig = requireNonNull(rigs.get(mode), mode);
            Driver driver =
                new Driver(rig.client, scale.inFlight(), MIX_KEYS, percent, PARETO_LIKE);
            long[] before = rig.updatesAndWrites();
            runs.computeIfAbsent(mode, m -> new ArrayList<>())
                .add(driver.run(scale.seconds(), 10 + round));
            long[] after = rig.updatesAndWrites();
            group.put(mode, (double) (after[0] - before[0]) / Math.max(1, after[1] - before[1]));
          }
        }
        for (String mode : MODES) {
          List<Driver.Outcome> of = requireNonNull(runs.get(mode), mode);
          Driver.Outcome last = of.getLast();
          double low = of.stream().mapToDouble(Driver.Outcome::operationsPerSecond).min().orElse(0);
          double high =
              of.stream().mapToDouble(Driver.Outcome::operationsPerSecond).max().orElse(0);
          String name = (100 - percent) + "/" + percent;
          table.add(
              name,
              mode,
              String.format(Locale.ROOT, "%,.0f", median(of)),
              String.format(Locale.ROOT, "%,.0f-%,.0f", low, high),
              Long.toString(last.readMicros().getValueAtPercentile(50)),
              Long.toString(last.readMicros().getValueAtPercentile(99)),
              Long.toString(last.updateMicros().getValueAtPercentile(50)),
              Long.toString(last.updateMicros().getValueAtPercentile(99)),
              String.format(Locale.ROOT, "%.0f", group.get(mode)));
          json.addObject()
              .put("mix", name)
              .put("updates_a_write", group.get(mode))
              .put("durability", mode)
              .put("ops_per_s", Math.round(median(of)))
              .put("failures", of.stream().mapToLong(Driver.Outcome::failures).sum())
              .put("read_p50_us", last.readMicros().getValueAtPercentile(50))
              .put("read_p99_us", last.readMicros().getValueAtPercentile(99))
              .put("update_p50_us", last.updateMicros().getValueAtPercentile(50))
              .put("update_p99_us", last.updateMicros().getValueAtPercentile(99));
        }
      }
    } finally {
      rigs.values().forEach(Rig::close);
    }
    return new Result(
        "mixes: " + scale.inFlight() + " in flight, " + MIX_KEYS + " counters", table);
  }

  private static double median(List<Driver.Outcome> runs) {
    double[] sorted =
        runs.stream()
            .flatMapToDouble(r -> DoubleStream.of(r.operationsPerSecond()))
            .sorted()
            .toArray();
    return sorted[sorted.length / 2];
  }
}
