package io.osier.bench.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.LocalCluster;
import io.osier.datacenter.cli.Table;
import io.osier.protocol.Request;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** The demo's result: what a person wants to know first, and all figures. */
final class Report {
  private final Outcome outcome;
  private final Phases phases;
  private final Figures figures;
  private final long wanBytes;
  private final long slaMillis;
  private final int target;
  private final int seconds;

  Report(
      Outcome outcome,
      Phases phases,
      Figures figures,
      LocalCluster cluster,
      int target,
      int seconds) {
    this.outcome = outcome;
    this.phases = phases;
    this.figures = figures;
    this.wanBytes = cluster.wanBytes();
    this.slaMillis =
        cluster
            .inspect(cluster.dcs().getFirst(), Request.Topic.STAT, 0)
            .at("/keyspaces/" + DemoLoad.YCSB + "/sla_ms")
            .asLong();
    this.target = target;
    this.seconds = seconds;
  }

  void write(File file) throws IOException {
    ObjectNode json = json();
    phases.write(json.putArray("phases"));
    new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(file, json);
  }

  private ObjectNode json() {
    ObjectNode result = new ObjectMapper().createObjectNode();
    result.put("converged", outcome.converged());
    result.put("objects_compared", outcome.objects());
    result.put("objects_different", outcome.different());
    result.put("missing_acknowledged", outcome.missing());
    result.put("surplus_updates", outcome.surplus());
    result.put("acknowledged_updates", outcome.acknowledged());
    result.put("committed_updates", figures.updates());
    result.put("failed_or_unknown", outcome.failed());
    result.put("throughput_ops_per_s", Math.round(outcome.throughput()));
    result.put("wan_bytes", wanBytes);
    result.put("wan_bytes_after_load", wanBytes - outcome.wanUnderLoad());
    result.put("wan_bytes_if_ops", figures.wanBytesIfOps(wanBytes));
    ObjectNode visibility = result.putObject("visibility_ms");
    visibility.put("p50", figures.visibilityMillis(50));
    visibility.put("p99", figures.visibilityMillis(99));
    visibility.put("max", figures.visibilityMicros().getMaxValue() / 1e3);
    result.put("sla_ms", slaMillis);
    result.put("sla_violations", figures.slaViolations());
    result.put("late_after_outage", figures.lateAfterOutage());
    result.put("mode_switches", figures.sum("mode_switches"));
    result.put("state_mode_objects", figures.sum("state_mode_objects"));
    result.put("gaps_seen", figures.sum("gaps_seen"));
    result.put("healed_through_third", figures.sum("healed"));
    result.put("seconds", seconds);
    return result;
  }

  void print(Consumer<String> say) {
    System.out.println();
    summary().forEach(line -> System.out.println("  " + line));
    System.out.println();
    System.out.println(phases.table());
    System.out.println();
    Table table = new Table("in numbers", "");
    json().properties().forEach(e -> table.add(e.getKey(), e.getValue().toString()));
    System.out.println(table);
    System.out.println();
    say.accept(
        outcome.isGood()
            ? outcome.objects() + " objects are equal at eu, us and ap; nothing is missing"
            : "FAILED: %d objects differ, %d updates missing, %d too many"
                .formatted(outcome.different(), outcome.missing(), outcome.surplus()));
  }

  /** What a person wants to know, in the order in which they want it. */
  private List<String> summary() {
    return List.of(
        outcome.isGood()
            ? String.format(
                Locale.ROOT,
                "Nothing was lost: all %,d acknowledged updates are there, each once, after a cut"
                    + " link and a kill -9.",
                outcome.acknowledged())
            : String.format(
                Locale.ROOT,
                "FAILED: of %,d acknowledged updates %,d are missing and %,d too many are there.",
                outcome.acknowledged(),
                outcome.missing(),
                outcome.surplus()),
        String.format(
            Locale.ROOT,
            "All three datacenters %s: %,d objects compared, %,d differ.",
            outcome.converged() ? "are equal" : "are NOT equal",
            outcome.objects(),
            outcome.different()),
        String.format(
            Locale.ROOT,
            "The links carried %.1f MB; had every update travelled by itself it were %.1f MB"
                + " (%.0f %%).",
            wanBytes / 1e6,
            figures.wanBytesIfOps(wanBytes) / 1e6,
            100.0 * wanBytes / Math.max(1, figures.wanBytesIfOps(wanBytes))),
        String.format(
            Locale.ROOT,
            "Elsewhere an update was visible after %.0f ms (half of them) to %.0f ms (99 %%); the"
                + " bound is %,d ms.",
            figures.visibilityMillis(50),
            figures.visibilityMillis(99),
            slaMillis),
        String.format(
            Locale.ROOT,
            "Later than that: %,d with the links up (%,d left late, %,d were long under way, %,d"
                + " waited for others), %,d because of the cut and the kill.",
            figures.slaViolations(),
            figures.slaViolations("origin"),
            figures.slaViolations("way"),
            figures.slaViolations("dependency"),
            figures.lateAfterOutage()),
        String.format(
            Locale.ROOT,
            "%,.0f of %,d operations a second were done; %,d failed or have an unknown outcome (of"
                + " calls under way at the kill).",
            outcome.throughput(),
            target,
            outcome.failed()));
  }
}
