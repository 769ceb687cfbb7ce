package io.osier.bench.demo;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** The sums of what the datacenters report. */
record Figures(
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

  static Figures of(DemoCluster cluster) {
    long[] sums = new long[9];
    String[] names = {
      "updates",
      "shipped_bytes",
      "op_bytes",
      "sla_violations",
      "late_after_outage",
      "mode_switches",
      "state_mode_objects",
      "gaps_seen",
      "healed"
    };
    Histogram visibility = new Histogram(3_600_000_000L, 2);
    for (String dc : DemoCluster.DCS) {
      JsonNode stat = cluster.inspect(dc, io.osier.proxy.protocol.Request.Topic.STAT, 0);
      for (JsonNode keyspace : stat.get("keyspaces")) {
        for (int i = 0; i < names.length; i++) {
          sums[i] += keyspace.get(names[i]).asLong();
        }
        visibility.add(decode(keyspace.get("visibility_ms").get("histogram").asText()));
      }
    }
    return new Figures(
        sums[0],
        sums[1],
        sums[2],
        sums[3],
        sums[4],
        sums[5],
        sums[6],
        sums[7],
        sums[8],
        visibility);
  }

  private static Histogram decode(String base64) {
    try {
      return Histogram.decodeFromCompressedByteBuffer(
          ByteBuffer.wrap(Base64.getDecoder().decode(base64)), 0);
    } catch (DataFormatException e) {
      throw new IllegalStateException(e);
    }
  }

  double visibilityMillis(double percentile) {
    return visibilityMicros.getValueAtPercentile(percentile) / 1e3;
  }

  /** What the links would have carried had every update travelled as an operation. */
  long wanBytesIfOps(long wanBytes) {
    return wanBytes - shippedBytes + opBytes;
  }
}
