package io.osier.bench.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** The sums of what the datacenters report. */
public record Figures(
    long updates,
    long shippedBytes,
    long opBytes,
    long slaViolations,
    long lateAfterOutage,
    long modeSwitches,
    long stateObjects,
    long gaps,
    long healed,
    Histogram visibilityMicros) {

  /** From here on a restart counts anew; what is before goes on, or is of the moment. */
  private static final int COUNTED_ON = 2;

  /** Of all datacenters, and of processes of them that were killed. */
  public static Figures of(LocalCluster cluster) {
    long[] sums = new long[9];
    String[] names = {
      "updates",
      "state_mode_objects",
      "shipped_bytes",
      "op_bytes",
      "sla_violations",
      "late_after_outage",
      "mode_switches",
      "gaps_seen",
      "healed"
    };
    Histogram visibility = new Histogram(3_600_000_000L, 2);
    List<JsonNode> now = new ArrayList<>();
    for (String dc : cluster.running()) {
      try {
        now.add(cluster.inspect(dc, Request.Topic.STAT, 0));
      } catch (OsierException e) {
        // It is being started again.
      }
    }
    add(sums, names, visibility, now, 0, names.length);
    add(sums, names, visibility, cluster.former(), COUNTED_ON, names.length);
    add(sums, names, new Histogram(visibility), absent(now, cluster.former()), 0, COUNTED_ON);
    return new Figures(
        sums[0],
        sums[2],
        sums[3],
        sums[4],
        sums[5],
        sums[6],
        sums[1],
        sums[7],
        sums[8],
        visibility);
  }

  /** The last reports of datacenters that do not answer now: their updates have not gone away. */
  private static List<JsonNode> absent(List<JsonNode> now, List<JsonNode> former) {
    Map<String, JsonNode> last = new TreeMap<>();
    former.forEach(report -> last.put(report.get("dc").asText(), report));
    now.forEach(report -> last.remove(report.get("dc").asText()));
    return List.copyOf(last.values());
  }

  private static void add(
      long[] sums,
      String[] names,
      Histogram visibility,
      List<JsonNode> reports,
      int from,
      int before) {
    for (JsonNode report : reports) {
      for (JsonNode keyspace : report.get("keyspaces")) {
        for (int i = from; i < before; i++) {
          sums[i] += keyspace.get(names[i]).asLong();
        }
        visibility.add(decode(keyspace.get("visibility_ms").get("histogram").asText()));
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

  /** A percentile of the visibility delay. */
  public double visibilityMillis(double percentile) {
    return visibilityMicros.getValueAtPercentile(percentile) / 1e3;
  }

  /** What the links would have carried had every update travelled as an operation. */
  public long wanBytesIfOps(long wanBytes) {
    return wanBytes - shippedBytes + opBytes;
  }
}
