package io.osier.datacenter.embedded;

import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.values.Values;
import io.osier.testing.Patience;
import java.time.Duration;

/**
 * Two datacenters that are used by network, and some that are used in the process: what a test of
 * the client library is run against.
 */
final class Ways implements AutoCloseable {
  /** Longer than anything takes on a busy machine. */
  static final Duration LONG = Patience.LIMIT;

  /** What most tests need: both kinds of keyspace. */
  static final String KEYSPACES =
      "shop { sla = 400ms }, bank { sla = 400ms, consistency = causal }";

  private final EmbeddedCluster embedded;
  private final TestCluster cluster;
  private final OsierClient eu;
  private final OsierClient us;

  /** Starts them with {@link #KEYSPACES}, without a disk. */
  Ways() {
    this(KEYSPACES);
  }

  /**
   * Starts them, without a disk.
   *
   * @param keyspaces as in a configuration file, with commas between them
   */
  Ways(String keyspaces) {
    this(keyspaces, "dir = \"\"", Values.plain());
  }

  /**
   * As the other one, with settings.
   *
   * @param store the settings of osier.store
   * @param values the classes that typed handles know
   */
  Ways(String keyspaces, String store, Values values) {
    embedded = new EmbeddedCluster(keyspaces, store, values);
    cluster = new TestCluster(keyspaces, store, new String[] {"eu", "us"});
    eu = cluster.client("eu", PatientClients.builder().values(values));
    us = cluster.client("us", PatientClients.builder().values(values));
  }

  /**
   * A keyspace at the datacenter "eu", in a session of its own.
   *
   * @param how "embedded" or "network"
   */
  Keyspace here(String how, String name) {
    return how.equals("embedded") ? embedded.keyspace("eu", name) : eu.session().keyspace(name);
  }

  /** The same one at the datacenter "us". */
  Keyspace there(String how, String name) {
    return how.equals("embedded") ? embedded.keyspace("us", name) : us.session().keyspace(name);
  }

  /** The client at the datacenter "eu", by network. */
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
