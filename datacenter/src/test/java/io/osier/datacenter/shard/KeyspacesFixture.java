package io.osier.datacenter.shard;

import static org.awaitility.Awaitility.await;

import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.OsierClient;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.io.TempDir;

/** Three datacenters whose keyspaces are changed while they serve. */
abstract class KeyspacesFixture {
  static final Duration PATIENCE = Patience.LIMIT;
  static final String[] NAMES = {"ap", "eu", "us"};

  @TempDir Path dir;
  @AutoClose final Opened open = new Opened();

  final TestCluster cluster() {
    return open.add(new TestCluster(NAMES));
  }

  final TestCluster durable() {
    return open.add(new TestCluster("shop {}", "dir = \"" + dir + "\", durability = sync", NAMES));
  }

  /** A client of one datacenter alone. */
  final OsierClient at(TestCluster cluster, String name) {
    return cluster.clientOf(name);
  }

  /**
   * Creates one that all can come to know, and waits until they do: the answer comes after three
   * seconds, and a slow machine may need longer.
   */
  static String created(OsierClient client, String name, String... settings) {
    create(client, name, settings);
    await().until(() -> view(client, name).contains("\"awaited\":[]"));
    return view(client, name);
  }

  static void create(OsierClient client, String name, String... settings) {
    Map<String, String> all = new java.util.TreeMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      all.put(settings[i], settings[i + 1]);
    }
    TestCluster.onceSettled(() -> client.admin().createKeyspaceAsync(name, all).join());
  }

  /** What the answer to a list says of one. */
  static String view(OsierClient client, String name) {
    return Stream.of(list(client).split("(?=\\{\"name\":)"))
        .filter(one -> one.startsWith("{\"name\":\"" + name + "\""))
        .findFirst()
        .orElse("");
  }

  static String list(OsierClient client) {
    return client.admin().listKeyspacesAsync().join();
  }
}
