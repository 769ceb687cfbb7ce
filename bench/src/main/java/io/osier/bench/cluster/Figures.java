package io.osier.bench.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * The sums of what the datacenters report.
 *
 * @param sums by the name in the report, over all datacenters and keyspaces
 * @param visibilityMicros delays until visible, outages left out
 */
public record Figures(Map<String, Long> sums, Histogram visibilityMicros) {
  /** Counts of a process: a restart counts anew. */
  private static final List<String> COUNTS =
      List.of(
          "shipped_bytes",
          "op_bytes",
          "sla_violations",
          "violations_by_reason/origin",
          "violations_by_reason/way",
          "violations_by_reason/dependency",
          "late_after_outage",
          "mode_switches",
          "gaps_seen",
          "healed");

  /** What goes on after a restart, or is of the moment. */
  private static final List<String> LASTING = List.of("updates", "state_mode_objects");

  /** Of all datacenters, and of processes of them that were killed. */
  public static Figures of(LocalCluster cluster) {
    Map<String, Long> sums = new LinkedHashMap<>();
    Histogram visibility = new Histogram(3_600_000_000L, 2);
    List<JsonNode> processes = new ArrayList<>(cluster.former());
    Map<String, JsonNode> last = new LinkedHashMap<>();
    processes.forEach(report -> last.put(report.get("dc").asText(), report));
    for (String dc : cluster.running()) {
      JsonNode report = cluster.lastStat(dc);
      if (!report.isNull()) {
        processes.add(report);
        last.put(dc, report);
      }
    }
    for (JsonNode report : processes) {
      add(sums, COUNTS, report);
      for (JsonNode keyspace : report.get("keyspaces")) {
        visibility.add(decode(keyspace.get("visibility_ms").get("histogram").asText()));
      }
    }
    last.values().forEach(report -> add(sums, LASTING, report));
    return new Figures(sums, visibility);
  }

  private static void add(Map<String, Long> sums, List<String> names, JsonNode report) {
    for (JsonNode keyspace : report.get("keyspaces")) {
      for (String name : names) {
        sums.merge(name, keyspace.at("/" + name).asLong(), Long::sum);
      }
    }
  }

  static Histogram decode(String base64) {
    try {
      return Histogram.decodeFromCompressedByteBuffer(
          ByteBuffer.wrap(Base64.getDecoder().decode(base64)), 0);
    } catch (DataFormatException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One of the sums. */
  public long sum(String name) {
    return sums.getOrDefault(name, 0L);
  }

  /** A percentile of the visibility delay. */
  public double visibilityMillis(double percentile) {
    return visibilityMicros.getValueAtPercentile(percentile) / 1e3;
  }

  /** What the links would have carried had every update travelled as an operation. */
  public long wanBytesIfOps(long wanBytes) {
    return wanBytes - sum("shipped_bytes") + sum("op_bytes");
  }
}
