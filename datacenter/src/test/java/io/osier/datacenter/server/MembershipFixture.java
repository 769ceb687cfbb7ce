package io.osier.datacenter.server;

import static org.awaitility.Awaitility.await;

import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.io.TempDir;

/** A cluster of which datacenters join and leave. */
abstract class MembershipFixture {
  static final Duration PATIENCE = Patience.LIMIT;
  static final String KEYSPACES = "shop { sla = 200ms }, bank { consistency = causal }";

  @TempDir Path dir;

  @AutoClose final Opened open = new Opened();

  TestCluster cluster(String... names) {
    return open.add(new TestCluster(KEYSPACES, "dir = \"" + dir + "\", durability = sync", names));
  }

  /** A client of one datacenter alone. */
  OsierClient at(TestCluster cluster, String name) {
    return cluster.clientOf(name);
  }

  static String list(OsierClient client) {
    return await()
        .ignoreException(CompletionException.class) // while it catches up
        .until(() -> client.admin().listDatacentersAsync().join(), all -> true);
  }

  static void add(OsierClient client, String name, String address) {
    TestCluster.onceSettled(() -> client.admin().addDatacenterAsync(name, address).join());
  }

  static void remove(OsierClient client, String name, boolean dead) {
    TestCluster.onceSettled(() -> client.admin().removeDatacenterAsync(name, dead).join());
  }

  /** As the answer to a list says it. */
  static String state(OsierClient client, String name) {
    String all = list(client);
    int at = all.indexOf("\"name\":\"" + name + "\"");
    int from = at < 0 ? -1 : all.indexOf("\"state\":\"", at) + 9;
    return at < 0 ? "" : all.substring(from, all.indexOf('"', from));
  }

  static void awaitState(OsierClient client, String name, String state) {
    await().until(() -> state(client, name).equals(state));
  }

  static void awaitCount(OsierClient client, String key, long value) {
    for (String keyspace : List.of("shop", "bank")) {
      await()
          .ignoreExceptionsInstanceOf(OsierException.class)
          .until(() -> client.session().keyspace(keyspace).counter(key).get() == value);
    }
  }

  static void increment(OsierClient client, String key, long amount) {
    for (String keyspace : List.of("shop", "bank")) {
      client.session().keyspace(keyspace).counter(key).increment(amount);
    }
  }

  static void createsBounded(OsierClient ap) {
    for (int i = 0; i < 20; i++) {
      ap.session().keyspace("shop").boundedCounter("b" + i).create(0, 300);
      ap.session().keyspace("shop").boundedCounter("b" + i).increment(30);
    }
    // The first of those that stay does not hold it.
    Map<String, String> two = Map.of("replicas", "ap,us");
    TestCluster.onceSettled(() -> ap.admin().createKeyspaceAsync("pair", two).join());
    ap.session().keyspace("pair").boundedCounter("b").create(0, 100);
  }
}
