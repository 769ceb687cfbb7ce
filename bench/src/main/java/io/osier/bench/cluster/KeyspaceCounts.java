package io.osier.bench.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.osier.protocol.Request;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * What the datacenters report of one keyspace, summed: read before and after a run.
 *
 * @param updates how many were committed
 * @param violations shipments that were visible later than the staleness bound
 * @param visibilityMicros from the commit of a shipment's oldest update until it was visible
 */
public record KeyspaceCounts(long updates, long violations, Histogram visibilityMicros) {

  /** Asks some datacenters, which must run. */
  public static KeyspaceCounts of(LocalCluster cluster, List<String> dcs, String keyspace) {
    long updates = 0;
    long violations = 0;
    Histogram visibility = new Histogram(3_600_000_000L, 2);
    for (String dc : dcs) {
      JsonNode stat = cluster.inspect(dc, Request.Topic.STAT, 0).path("keyspaces").get(keyspace);
      if (stat == null) {
        continue; // it is held by others
      }
      updates += stat.get("updates").asLong();
      violations += stat.get("sla_violations").asLong();
      visibility.add(Figures.decode(stat.get("visibility_ms").get("histogram").asText()));
    }
    return new KeyspaceCounts(updates, violations, visibility);
  }

  /** The visibility of what came since then. */
  public Histogram visibilitySince(KeyspaceCounts before) {
    Histogram since = visibilityMicros.copy();
    since.subtract(before.visibilityMicros);
    return since;
  }
}
