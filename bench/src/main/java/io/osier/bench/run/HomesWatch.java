package io.osier.bench.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.typesafe.config.Config;
import io.osier.bench.cluster.Holdings;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.Homes;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads whether the homes of keys are held where clients use them, and how many objects are stored.
 */
final class HomesWatch implements AutoCloseable {
  private final LocalCluster cluster;
  private final String keyspace;
  private final List<String> homes;
  private @Nullable OsierClient client;

  /**
   * Connects to no datacenter yet.
   *
   * @param load a load whose keys have homes
   */
  HomesWatch(LocalCluster cluster, Config load) {
    this.cluster = cluster;
    this.keyspace = load.getString("keyspace");
    this.homes = load.getStringList("homes");
  }

  /** Returns the percentage of homes that the datacenter with most of their calls does not hold. */
  double wrong(Draw draw) {
    if (client == null) {
      client = cluster.only(cluster.dcs().getFirst());
    }
    Holdings now = Holdings.of(client);
    long wrong =
        homes.stream()
            .filter(home -> !now.holds(Homes.keyspace(keyspace, home), draw.user(home)))
            .count();
    return 100.0 * wrong / homes.size();
  }

  /** Returns how many objects of the keyspace and its homes all datacenters together store. */
  double stored() {
    long objects = 0;
    for (String dc : cluster.running()) {
      JsonNode report = cluster.inspect(dc, Request.Topic.STAT, 0);
      for (var one : report.path("keyspaces").properties()) {
        if (Homes.base(one.getKey()).equals(keyspace)) {
          objects += one.getValue().path("objects").asLong();
        }
      }
    }
    return objects;
  }

  @Override
  public void close() {
    if (client != null) {
      client.close();
      client = null;
    }
  }
}
