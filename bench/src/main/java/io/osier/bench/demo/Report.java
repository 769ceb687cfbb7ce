package io.osier.bench.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.Figures;
import io.osier.datacenter.cli.session.Table;
import java.util.List;
import java.util.Locale;

/**
 * The demo's result: what a person wants to know first, and all figures.
 *
 * @param contents what all datacenters show in the end
 * @param faults what must not be
 * @param acknowledged updates, as the clients count them
 * @param failed operations that failed, or whose outcome is unknown
 * @param throughput operations a second of YCSB and of the counters, each while it ran
 * @param wanUnderLoad bytes on the links when the load had ended
 * @param wanBytes bytes on the links in the end
 */
record Report(
    Contents contents,
    List<String> faults,
    long acknowledged,
    long failed,
    double throughput,
    long wanUnderLoad,
    long wanBytes,
    Figures figures) {

  /**
   * All figures.
   *
   * @param slaMillis the staleness bound
   */
  ObjectNode json(long slaMillis, int seconds, List<Course.Phase> phases) {
    ObjectNode result = new ObjectMapper().createObjectNode();
    result.put("converged", contents.equal() && contents.different().isEmpty());
    result.put("objects_compared", contents.objects());
    result.put("objects_different", contents.different().size());
    result.put("missing_acknowledged", contents.missing());
    result.put("surplus_updates", contents.surplus());
    result.put("acknowledged_updates", acknowledged);
    result.put("committed_updates", figures.sum("updates"));
    result.put("failed_or_unknown", failed);
    result.put("throughput_ops_per_s", Math.round(throughput));
    result.put("wan_bytes", wanBytes);
    result.put("wan_bytes_after_load", wanBytes - wanUnderLoad);
    result.put("wan_bytes_if_ops", figures.wanBytesIfOps(wanBytes));
    ObjectNode visibility = result.putObject("visibility_ms");
    visibility.put("p50", figures.visibilityMillis(50));
    visibility.put("p99", figures.visibilityMillis(99));
    visibility.put("max", figures.visibilityMillis(100));
    result.put("sla_ms", slaMillis);
    for (String sum :
        List.of(
            "sla_violations",
            "late_after_outage",
            "mode_switches",
            "state_mode_objects",
            "gaps_seen",
            "healed")) {
      result.put(sum, figures.sum(sum));
    }
    result.put("seconds", seconds);
    ArrayNode all = result.putArray("phases");
    for (Course.Phase p : phases) {
      all.addObject()
          .put("phase", p.name())
          .put("seconds", p.seconds())
          .put("updates", p.count("updates"))
          .put("visibility_p99_ms", p.p99Millis())
          .put("sla_violations", p.count("sla_violations"))
          .put("left_late", p.count("violations_by_reason/origin"))
          .put("long_way", p.count("violations_by_reason/way"))
          .put("waited", p.count("violations_by_reason/dependency"))
          .put("late_after_outage", p.count("late_after_outage"))
          .put("datacenters_cpu_seconds", p.cpuSeconds());
    }
    return result;
  }

  /** The phases of {@link #json} as a table. */
  static Table phases(ObjectNode json) {
    String[] columns = {
      "phase",
      "s",
      "updates",
      "p99 ms",
      "late, links up",
      "left late",
      "long way",
      "waited",
      "late, outage",
      "datacenters' processor s"
    };
    Table table = new Table(columns);
    json.get("phases")
        .forEach(
            phase ->
                table.add(
                    phase.properties().stream()
                        .map(
                            e ->
                                e.getValue().isDouble()
                                    ? String.format(Locale.ROOT, "%.1f", e.getValue().asDouble())
                                    : e.getValue().asText())
                        .toArray()));
    return table;
  }

  /** What a person wants to know, in the order in which they want it. */
  String summary(long slaMillis, int target) {
    return String.format(
        Locale.ROOT,
        """
          %s
          All three datacenters %s: %,d objects compared, %,d differ.
          The links carried %.1f MB; had every update travelled by itself it were %.1f MB (%.0f %%).
          Elsewhere an update was visible after %.0f ms (half of them) to %.0f ms (99 %%); the bound \
        is %,d ms.
          Later than that: %,d with the links up (%,d left late, %,d were long under way, %,d waited \
        for others), %,d because of the cut and the kill.
          %,.0f of %,d operations a second were done; %,d failed or have an unknown outcome (of \
        calls under way at the kill).
        """,
        faults.isEmpty()
            ? String.format(
                Locale.ROOT,
                "Nothing was lost: all %,d acknowledged updates are there, each once, after a cut"
                    + " link and a kill -9.",
                acknowledged)
            : "FAILED: " + String.join("; ", faults),
        contents.equal() ? "are equal" : "are NOT equal",
        contents.objects(),
        contents.different().size(),
        wanBytes / 1e6,
        figures.wanBytesIfOps(wanBytes) / 1e6,
        100.0 * wanBytes / Math.max(1, figures.wanBytesIfOps(wanBytes)),
        figures.visibilityMillis(50),
        figures.visibilityMillis(99),
        slaMillis,
        figures.sum("sla_violations"),
        figures.sum("violations_by_reason/origin"),
        figures.sum("violations_by_reason/way"),
        figures.sum("violations_by_reason/dependency"),
        figures.sum("late_after_outage"),
        throughput,
        target,
        failed);
  }
}
