package io.osier.bench.cluster;

import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import io.osier.proxy.OsierClient;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Clients of a cluster, one beside each datacenter, whose own links can be cut. */
public final class ClientLinks implements AutoCloseable {
  /** To the datacenter beside it, one way. */
  private static final double NEAR_MILLIS = 0.2;

  private final LocalCluster cluster;
  private final WanEmulator wan;

  /**
   * Opens the links.
   *
   * @param seed of their jitter
   */
  public ClientLinks(LocalCluster cluster, long seed) {
    this.cluster = cluster;
    this.wan = new WanEmulator(seed);
    for (String from : cluster.dcs()) {
      for (String to : cluster.dcs()) {
        double delay = from.equals(to) ? NEAR_MILLIS : Topology.delayMillis(from, to);
        WanQuality quality = new WanQuality(delay, Topology.JITTER_MILLIS, 0);
        InetSocketAddress target = new InetSocketAddress("127.0.0.1", cluster.clientPort(to));
        wan.open(name(from, to), 0, target, quality, quality);
      }
    }
  }

  private static String name(String from, String to) {
    return "client-" + from + "-" + to;
  }

  /** A client beside a datacenter, which prefers it and knows all. */
  public OsierClient client(String beside) {
    OsierClient.Builder builder = OsierClient.builder().name("linked").prefer(beside);
    for (String to : cluster.dcs()) {
      builder.endpoint(to, "127.0.0.1:" + wan.link(name(beside, to)).port());
    }
    OsierClient client = builder.build();
    client.awaitConnected(Duration.ofSeconds(10));
    return client;
  }

  /** Cuts the link from the clients beside one datacenter to one, maybe the same. */
  public void cut(String beside, String to) {
    wan.cut(name(beside, to));
  }

  /** Heals that link. */
  public void heal(String beside, String to) {
    wan.heal(name(beside, to));
  }

  /** Ends the connections over that link: what was under way is lost. */
  public void reset(String beside, String to) {
    wan.link(name(beside, to)).reset();
  }

  /** Closes the links; the clients are their owners' to close. */
  @Override
  public void close() {
    wan.close();
  }
}
