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
 * Sums over the reports of datacenters.
 *
 * @param sums by the name in the report, over all datacenters and keyspaces
 * @param visibilityMicros delays until updates were visible, without outages
 * @param keyspaces the sums of each keyspace; empty in those
 */
public record Figures(
    Map<String, Long> sums, Histogram visibilityMicros, Map<String, Figures> keyspaces) {
  /** Counters that begin at 0 with each process. */
  private static final List<String> COUNTS =
      List.of(
          "shipped_bytes",
          "op_bytes",
          "ops_shipped",
          "states_shipped",
          "sla_violations",
          "violations_by_reason/origin",
          "violations_by_reason/way",
          "violations_by_reason/dependency",
          "late_after_outage",
          "mode_switches",
          "gaps_seen",
          "healed");

  /** The bytes that compression has saved on a process's links. */
  private static final String SAVED_BYTES = "saved_bytes";

  /** The reads that a process has answered from copies of objects that others hold. */
  private static final String COPY_HITS = "copy_hits";

  /** The number of objects in state mode now. */
  private static final String STATE_OBJECTS = "state_mode_objects";

  /** Counters that go on after a restart, and gauges. */
  private static final List<String> LASTING = List.of("updates", STATE_OBJECTS);

  private Figures(Map<String, Figures> keyspaces) {
    this(new LinkedHashMap<>(), new Histogram(3_600_000_000L, 2), keyspaces);
  }

  /** Returns the sums over all datacenters, including their processes that were killed. */
  public static Figures of(LocalCluster cluster) {
    Figures all = new Figures(new LinkedHashMap<>());
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
      all.add(COUNTS, report);
      all.sums.merge(SAVED_BYTES, report.path(SAVED_BYTES).asLong(), Long::sum);
      all.sums.merge(COPY_HITS, report.at("/copies/hits").asLong(), Long::sum);
      for (Map.Entry<String, JsonNode> keyspace : report.path("keyspaces").properties()) {
        Histogram delays =
            decode(keyspace.getValue().get("visibility_ms").get("histogram").asText());
        all.visibilityMicros.add(delays);
        all.within(keyspace.getKey()).visibilityMicros.add(delays);
      }
    }
    last.values().forEach(report -> all.add(LASTING, report));
    return all;
  }

  private Figures within(String keyspace) {
    return keyspaces.computeIfAbsent(keyspace, k -> new Figures(Map.of()));
  }

  private void add(List<String> names, JsonNode report) {
    for (Map.Entry<String, JsonNode> keyspace : report.path("keyspaces").properties()) {
      for (String name : names) {
        long value = keyspace.getValue().at("/" + name).asLong();
        sums.merge(name, value, Long::sum);
        within(keyspace.getKey()).sums.merge(name, value, Long::sum);
      }
    }
  }

  private static Histogram decode(String base64) {
    try {
      return Histogram.decodeFromCompressedByteBuffer(
          ByteBuffer.wrap(Base64.getDecoder().decode(base64)), 0);
    } catch (DataFormatException e) {
      throw new IllegalStateException(e);
    }
  }

  public long sum(String name) {
    return sums.getOrDefault(name, 0L);
  }

  public double visibilityMillis(double percentile) {
    return visibilityMicros.getValueAtPercentile(percentile) / 1e3;
  }

  /** Returns the sums of one keyspace; all are 0 if it was never reported. */
  public Figures keyspace(String name) {
    return keyspaces.getOrDefault(name, new Figures(Map.of()));
  }

  /** Returns the differences to earlier sums; gauges keep their present value. */
  public Figures since(Figures before) {
    Map<String, Figures> each = new LinkedHashMap<>();
    keyspaces.forEach((name, now) -> each.put(name, now.since(before.keyspace(name))));
    Histogram delays = visibilityMicros.copy();
    try {
      delays.subtract(before.visibilityMicros);
    } catch (IllegalArgumentException e) {
      delays.reset(); // a report is missing in between
    }
    Map<String, Long> more = new LinkedHashMap<>();
    sums.forEach(
        (name, now) -> more.put(name, name.equals(STATE_OBJECTS) ? now : now - before.sum(name)));
    return new Figures(more, delays, each);
  }

  /** Returns how many reads were answered from copies of objects that others hold. */
  public long copyHits() {
    return sum(COPY_HITS);
  }

  /** Returns the bytes that the links would have carried without compression. */
  public long plainBytes(long wanBytes) {
    return wanBytes + sum(SAVED_BYTES);
  }

  /**
   * Returns the bytes that the links would have carried without compression if each update had been
   * shipped as an operation.
   */
  public long plainBytesIfOps(long wanBytes) {
    return plainBytes(wanBytes) - sum("shipped_bytes") + sum("op_bytes");
  }
}
