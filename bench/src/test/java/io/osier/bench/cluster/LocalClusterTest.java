package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LocalClusterTest {
  @Test
  void fiveDatacenters_replicateToEachOther(@TempDir Path directory) {
    try (LocalCluster cluster =
        new ClusterSettings(directory, "    k { sla = 0s, partitions = 1 }\n")
            .dcs(Topology.names(5))
            .store("durability = none, cache = 16MiB")
            .heap("-Xmx128m")
            .javaOptions(List.of(Jvm.BRIEF.getFirst(), Jvm.TELLS_COLLECTIONS))
            .start()) {
      cluster.awaitReady(Duration.ofMinutes(10));
      assertThat(cluster.dcs()).containsExactly("eu", "us", "ap", "au", "sa");
      for (String dc : cluster.dcs()) {
        try (OsierClient client = patient(cluster, dc)) {
          client.session().keyspace("k").counter("c").increment(1);
        }
      }
      Map<String, OsierClient> clients = new LinkedHashMap<>();
      cluster.dcs().forEach(dc -> clients.put(dc, patient(cluster, dc)));
      // One assignment after the other: the last one must win, though it has not seen the one
      // before. It did not when a datacenter's clock began as late as its store was opened.
      clients.forEach(
          (dc, client) -> {
            long then = System.currentTimeMillis();
            await().until(() -> System.currentTimeMillis() > then + 30); // all share the wall clock
            client.session().keyspace("k").register("r").assign(dc);
          });
      for (OsierClient client : clients.values()) {
        Keyspace keyspace = client.session().keyspace("k");
        await()
            .untilAsserted(
                () -> {
                  assertThat(keyspace.counter("c").get()).isEqualTo(5);
                  assertThat(keyspace.register("r").get()).contains(Value.of("sa"));
                });
        client.close();
      }
      int collections = cluster.collectionsMillis("eu").size();
      assertThat(LiveHeap.bytes(cluster.pid("eu"))).isPresent();
      await().until(() -> cluster.collectionsMillis("eu").size() > collections);
    }
  }

  /** A client of one datacenter that does not take it for dead because it is slow. */
  private static OsierClient patient(LocalCluster cluster, String dc) {
    OsierClient client =
        OsierClient.builder()
            .endpoint(dc, cluster.endpoint(dc))
            .timeout(Patience.LIMIT)
            .pingInterval(Patience.LIMIT.dividedBy(4))
            .build();
    client.awaitConnected(Patience.LIMIT);
    return client;
  }

  @Test
  void datacenterThatDoesNotStart_isNamedWithItsReason(@TempDir Path directory) {
    try (LocalCluster cluster =
        new ClusterSettings(directory, "    k { sla = never }\n")
            .dcs(List.of("eu"))
            .heap("-Xmx64m")
            .javaOptions(Jvm.BRIEF)
            .start()) {
      assertThatThrownBy(() -> cluster.awaitReady(Duration.ofMinutes(10)))
          .isInstanceOf(OsierException.class)
          .hasMessageContaining("datacenter eu did not start")
          .hasMessageContaining(directory.toString())
          .hasMessageContaining("osier.keyspaces.k.sla");
    }
  }

  @Test
  void delays_areTheSameBothWays() {
    for (String from : Topology.names(Topology.DCS_MAX)) {
      for (String to : Topology.names(Topology.DCS_MAX)) {
        assertThat(Topology.delayMillis(from, to))
            .isPositive()
            .isEqualTo(Topology.delayMillis(to, from));
      }
    }
    assertThat(Topology.delayMillis("us2", "eu")).isEqualTo(40);
  }
}
