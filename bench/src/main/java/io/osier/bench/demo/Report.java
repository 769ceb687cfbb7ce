package io.osier.bench.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.errorprone.annotations.FormatMethod;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.Figures;
import io.osier.datacenter.cli.session.Table;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The demo's result: a summary and all figures. Bytes, delays and late shipments are those since
 * the load began.
 *
 * @param faults the faults that were found, a line each
 * @param acknowledged updates, as the clients count them
 * @param failed operations that failed or whose outcome is unknown
 * @param throughput operations a second
 * @param slaMillis the staleness bound of each keyspace
 * @param phases all phases; the first begins with the load
 * @param comeback of the datacenter that was killed; null if it was not started again
 */
record Report(
    Contents contents,
    List<String> faults,
    long acknowledged,
    long failed,
    double throughput,
    List<Kind> kinds,
    Map<String, Long> slaMillis,
    List<Course.Phase> phases,
    @Nullable Comeback comeback) {
  /** The table explains each kind that saves less than this share of its bytes. */
  private static final double SAVES_LITTLE = 0.5;

  private Course.Sample first() {
    return phases.getFirst().from();
  }

  private Course.Sample last() {
    return phases.getLast().to();
  }

  ObjectNode json(int seconds) {
    Figures figures = last().figures().since(first().figures());
    long wanBytes = last().wanBytes() - first().wanBytes();
    ObjectNode result = new ObjectMapper().createObjectNode();
    result.put("converged", contents.equal() && contents.different().isEmpty());
    result.put("objects_compared", contents.objects());
    result.put("objects_different", contents.different().size());
    result.put("missing_acknowledged", contents.missing());
    result.put("surplus_updates", contents.surplus());
    result.put("acknowledged_updates", acknowledged);
    result.put("failed_or_unknown", failed);
    result.put("throughput_ops_per_s", Math.round(throughput));
    result.put("wan_bytes", wanBytes);
    result.put("wan_bytes_after_load", last().wanBytes() - phases.getLast().from().wanBytes());
    result.put("plain_bytes", figures.plainBytes(wanBytes));
    result.put("plain_bytes_if_ops", figures.plainBytesIfOps(wanBytes));
    visibility(result, figures);
    late(result, figures);
    for (String sum : List.of("mode_switches", "gaps_seen", "healed")) {
      result.put(sum, figures.sum(sum));
    }
    if (comeback != null) {
      comeback.served().ifPresent(s -> result.put("served_again_after_s", s));
      comeback.fresh().ifPresent(s -> result.put("fresh_again_after_s", s));
      result.put("start_in_its_log", comeback.start());
    }
    result.put("seconds", seconds);
    ArrayNode each = result.putArray("kinds");
    kinds.forEach(kind -> kind(each.addObject(), kind, figures.keyspace(kind.keyspace)));
    ArrayNode all = result.putArray("phases");
    for (Course.Phase p : phases) {
      Figures f = p.figures();
      ObjectNode node = all.addObject().put("phase", p.name()).put("seconds", p.seconds());
      node.put("visibility_p99_ms", f.visibilityMillis(99));
      late(node, f);
      node.put("machine_stalled_ms", p.stallMillis());
      node.put("longest_collection_ms", Math.round(p.collectionMillis()));
      node.put("datacenters_cpu_seconds", p.cpuSeconds());
    }
    return result;
  }

  private void kind(ObjectNode node, Kind kind, Figures figures) {
    long updates = kind.acknowledged.sum();
    // The objects in state mode are those at the end of the load.
    Figures atEnd = phases.getLast().from().figures().keyspace(kind.keyspace);
    node.put("kind", kind.keyspace);
    node.put("sla_ms", slaMillis.get(kind.keyspace));
    node.put("updates", updates);
    node.put("shipped_bytes", figures.sum("shipped_bytes"));
    node.put("op_bytes", figures.sum("op_bytes"));
    visibility(node, figures);
    node.put("state_mode_objects", atEnd.sum("state_mode_objects"));
    long singly = Math.min(updates, figures.sum("ops_shipped"));
    node.put("joined_percent", 100.0 * (updates - singly) / Math.max(1, updates));
    late(node, figures);
    node.put("why", kind.why);
  }

  private static void visibility(ObjectNode node, Figures figures) {
    node.putObject("visibility_ms")
        .put("p50", figures.visibilityMillis(50))
        .put("p99", figures.visibilityMillis(99))
        .put("max", figures.visibilityMillis(100));
  }

  private static void late(ObjectNode node, Figures figures) {
    node.put("sla_violations", figures.sum("sla_violations"));
    node.put("left_late", figures.sum("violations_by_reason/origin"));
    node.put("long_way", figures.sum("violations_by_reason/way"));
    node.put("waited", figures.sum("violations_by_reason/dependency"));
    node.put("late_after_outage", figures.sum("late_after_outage"));
  }

  private static double share(JsonNode node, String part, String whole) {
    return node.get(part).asDouble() / Math.max(1, node.get(whole).asLong());
  }

  @FormatMethod
  private static String number(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  /**
   * Returns the kinds of {@link #json} as a table, and, unless all updates were to travel as
   * operations, why some kinds save little.
   */
  static String kinds(JsonNode json) {
    Table table =
        new Table(
            "kind",
            "SLA s",
            "updates",
            "MB",
            "as operations",
            "share",
            "p50 ms",
            "p99 ms",
            "objects by state",
            "updates by state",
            "late");
    StringBuilder why = new StringBuilder();
    double shipped = 0;
    for (JsonNode kind : json.get("kinds")) {
      double share = share(kind, "shipped_bytes", "op_bytes");
      shipped += kind.get("shipped_bytes").asDouble();
      table.add(
          kind.get("kind").asText(),
          number("%.1f", kind.get("sla_ms").asDouble() / 1e3),
          kind.get("updates").asText(),
          number("%.2f", kind.get("shipped_bytes").asDouble() / 1e6),
          number("%.2f", kind.get("op_bytes").asDouble() / 1e6),
          number("%.2f", share),
          number("%.0f", kind.at("/visibility_ms/p50").asDouble()),
          number("%.0f", kind.at("/visibility_ms/p99").asDouble()),
          kind.get("state_mode_objects").asText(),
          number("%.0f %%", kind.get("joined_percent").asDouble()),
          kind.get("sla_violations").asText());
      if (share > 1 - SAVES_LITTLE && !json.path("operations_alone").asBoolean()) {
        why.append("\n  ").append(kind.get("kind").asText()).append(": ");
        why.append(kind.get("why").asText());
      }
    }
    double frames = (json.get("plain_bytes").asDouble() - shipped) / 1e6;
    String rest = number("%.2f", frames);
    table.add("frames, acks", "", "", rest, rest, "1.00", "", "", "", "", "");
    table.add(
        "all",
        "",
        json.get("acknowledged_updates").asText(),
        number("%.2f", json.get("plain_bytes").asDouble() / 1e6),
        number("%.2f", json.get("plain_bytes_if_ops").asDouble() / 1e6),
        number("%.2f", share(json, "plain_bytes", "plain_bytes_if_ops")),
        number("%.0f", json.at("/visibility_ms/p50").asDouble()),
        number("%.0f", json.at("/visibility_ms/p99").asDouble()),
        "",
        "",
        json.get("sla_violations").asText());
    String links = number("%.2f", json.get("wan_bytes").asDouble() / 1e6);
    table.add("on the links", "", "", links, "", "", "", "", "", "", "");
    return table
        + (why.isEmpty() ? "" : "\nWhere less than half is saved, this is why:" + why)
        + "\n\"As operations\": each update by itself to both others, counted as it was committed;"
        + "\nframes and acknowledgements as they were, which would have been more. All this is"
        + "\nbefore compression, which operations alone would have, too (--operations tells)."
        + "\nA delay is that of the oldest update that a shipment carries.";
  }

  /** Returns the phases of {@link #json} as a table. */
  static Table phases(JsonNode json) {
    Table table =
        new Table(
            "phase",
            "s",
            "p99 ms",
            "late, links up",
            "left late",
            "long way",
            "waited",
            "late, outage",
            "machine stalled ms",
            "longest collection ms",
            "datacenters' processor s");
    json.get("phases")
        .forEach(
            phase ->
                table.add(
                    phase.properties().stream()
                        .map(
                            e ->
                                e.getValue().isDouble()
                                    ? number("%.1f", e.getValue().asDouble())
                                    : e.getValue().asText())
                        .toArray()));
    return table;
  }

  /** Returns the summary, the most important line first. */
  String summary(JsonNode json, int target) {
    return number(
        """
          %s
          All three datacenters %s: %,d objects compared, %,d differ.
          The links carried %.1f MB, compressed from %.1f MB; had every update travelled by itself \
        it were %.1f MB to compress (%.0f %%).
          Elsewhere an update was visible after %.0f ms (half of them) to %.0f ms (99 %%).
          Later than its bound: %,d with the links up%s, %,d because of the cut and the kill.
          %s
          %,.0f of %,d operations a second were done; %,d failed or have an unknown outcome (of \
        calls under way at the kill).
        """,
        faults.isEmpty()
            ? number(
                "Nothing was lost: all %,d acknowledged updates are there, each once, after a cut"
                    + " link and a kill -9.",
                acknowledged)
            : "FAILED: " + String.join("; ", faults),
        contents.equal() ? "are equal" : "are NOT equal",
        contents.objects(),
        contents.different().size(),
        json.get("wan_bytes").asDouble() / 1e6,
        json.get("plain_bytes").asDouble() / 1e6,
        json.get("plain_bytes_if_ops").asDouble() / 1e6,
        100 * share(json, "plain_bytes", "plain_bytes_if_ops"),
        json.at("/visibility_ms/p50").asDouble(),
        json.at("/visibility_ms/p99").asDouble(),
        json.get("sla_violations").asLong(),
        reasons(json),
        json.get("late_after_outage").asLong(),
        returned(json),
        throughput,
        target,
        failed);
  }

  private static String reasons(JsonNode json) {
    if (json.get("sla_violations").asLong() == 0) {
      return "";
    }
    long stall = 0;
    long collection = 0;
    for (JsonNode phase : json.get("phases")) {
      if (phase.get("sla_violations").asLong() > 0) {
        stall = Math.max(stall, phase.get("machine_stalled_ms").asLong());
        collection = Math.max(collection, phase.get("longest_collection_ms").asLong());
      }
    }
    return number(
        " (%,d left late, %,d were long under way, %,d waited for others, while this machine let"
            + " a thread wait for up to %,d ms and garbage collections stopped a datacenter for up"
            + " to %,d ms)",
        json.get("left_late").asLong(),
        json.get("long_way").asLong(),
        json.get("waited").asLong(),
        stall,
        collection);
  }

  private static String returned(JsonNode json) {
    String when =
        json.has("served_again_after_s")
            ? number("served again %.1f s after", json.get("served_again_after_s").asDouble())
            : "did not serve after";
    String fresh =
        json.has("fresh_again_after_s")
            ? number(
                "all that was older than its bound was everywhere %.1f s after it",
                json.get("fresh_again_after_s").asDouble())
            : "not all that was older than its bound was everywhere in time";
    String log = json.path("start_in_its_log").asText();
    return Course.VICTIM
        + " was killed, and "
        + when
        + " its next start; "
        + fresh
        + (log.isEmpty() ? "." : ". Its log: " + log + ".");
  }
}
