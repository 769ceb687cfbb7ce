package io.osier.datacenter.embedded;

import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.time.Duration;

/**
 * Two datacenters that are used by network, and some that are used in the process: what a test of
 * the client library is run against.
 */
final class Ways implements AutoCloseable {
  /** Longer than anything takes on a busy machine. */
  static final Duration LONG = Duration.ofMinutes(2);

  private final EmbeddedCluster embedded;
  private final TestCluster cluster;
  private final OsierClient eu;
  private final OsierClient us;

  /**
   * Starts them.
   *
   * @param keyspaces as in a configuration file, with commas between them
   */
  Ways(String keyspaces) {
    embedded = new EmbeddedCluster(keyspaces.replace("}, ", "}\n"));
    cluster = new TestCluster(keyspaces, new String[] {"eu", "us"});
    eu = cluster.client("eu");
    us = cluster.client("us");
    eu.awaitConnected(LONG);
    us.awaitConnected(LONG);
  }

  /**
   * A keyspace at the first datacenter.
   *
   * @param how "embedded" or "network"
   */
  Keyspace here(String how, String name) {
    return how.equals("embedded")
        ? embedded.keyspace(EmbeddedCluster.NAMES.getFirst(), name)
        : eu.session().keyspace(name);
  }

  /** The same one at the last datacenter. */
  Keyspace there(String how, String name) {
    return how.equals("embedded")
        ? embedded.keyspace(EmbeddedCluster.NAMES.getLast(), name)
        : us.session().keyspace(name);
  }

  /** The client at the first datacenter, by network. */
  OsierClient client() {
    return eu;
  }

  @Override
  public void close() {
    eu.close();
    us.close();
    cluster.close();
    embedded.close();
  }
}
