package io.osier.bench.cluster;

import io.osier.bench.wan.WanQuality;
import io.osier.proxy.OsierClient;
import java.time.Duration;

/** Clients of a cluster, one beside each datacenter, whose own links can be cut. */
public final class ClientLinks extends PeerLinks {
  /** The delay to the datacenter beside the client, one way. */
  private static final double NEAR_MILLIS = 0.2;

  private final LocalCluster cluster;

  /**
   * Opens the links to a cluster's datacenters.
   *
   * @param seed of their jitter
   */
  public ClientLinks(LocalCluster cluster, long seed) {
    super(cluster.dcs(), cluster.clientPorts(), ClientLinks::quality, seed);
    this.cluster = cluster;
  }

  private static WanQuality quality(String from, String to) {
    double delay = from.equals(to) ? NEAR_MILLIS : Topology.delayMillis(from, to);
    return new WanQuality(delay, Topology.JITTER_MILLIS, 0);
  }

  /** Returns a client that is beside a datacenter and prefers it, and can reach all. */
  public OsierClient client(String beside) {
    OsierClient.Builder builder = OsierClient.builder().name("linked").prefer(beside);
    for (String to : cluster.dcs()) {
      builder.endpoint(to, "127.0.0.1:" + port(beside, to));
    }
    OsierClient client = builder.build();
    client.awaitConnected(Duration.ofSeconds(10));
    return client;
  }
}
