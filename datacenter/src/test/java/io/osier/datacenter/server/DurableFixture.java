package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.core.net.Ports;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.io.TempDir;

/** Datacenters that store what they have. */
abstract class DurableFixture {
  @TempDir Path dir;
  final int clientPort = Ports.free();

  Datacenter alone(String settings) {
    return TestCluster.one(
        "osier { dc = solo, store { dir = \""
            + dir
            + "\", "
            + settings
            + " }, listen { client-port = "
            + clientPort
            + ", peer-port = 0 }, keyspaces { shop {}, bank { consistency = causal } } }");
  }

  Keyspace shop(OsierClient client) {
    client.awaitConnected(Patience.LIMIT);
    return client.session().keyspace("shop");
  }

  OsierClient client() {
    return PatientClients.of("solo", clientPort).build();
  }

  static JsonNode stat(OsierClient client, String dc) throws IOException {
    String report = client.inspectAsync(dc, Request.Topic.STAT, Optional.empty(), 0).join();
    return new ObjectMapper().readTree(report).get("keyspaces").get("shop");
  }

  /** At once, so that the test need not wait. */
  String forgettingStore() {
    return "dir = \"" + dir + "\" }, streams { forget = 0s, status = 50ms";
  }

  static void awaitObjects(long objects, OsierClient... clients) {
    await()
        .ignoreExceptionsInstanceOf(CompletionException.class) // until the clients are back
        .untilAsserted(
            () -> {
              for (OsierClient client : clients) {
                for (String dc : List.of("eu", "us")) {
                  assertThat(stat(client, dc).get("objects").asLong()).as(dc).isEqualTo(objects);
                }
              }
            });
  }
}
