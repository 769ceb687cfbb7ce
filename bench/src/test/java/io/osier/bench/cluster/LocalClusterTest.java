package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.proxy.OsierClient;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LocalClusterTest {
  @Test
  void fiveDatacenters_replicateToEachOther(@TempDir Path directory) {
    try (LocalCluster cluster =
        new LocalCluster(
            LocalCluster.names(5),
            directory,
            directory.resolve("data"),
            "durability = none, cache = 16MiB",
            "    k { sla = 0s, partitions = 1 }\n",
            "-Xmx128m",
            "",
            1)) {
      cluster.awaitReady(Duration.ofMinutes(2));
      assertThat(cluster.dcs()).containsExactly("eu", "us", "ap", "au", "sa");
      for (String dc : cluster.dcs()) {
        try (OsierClient client = cluster.only(dc)) {
          client.session().keyspace("k").counter("c").increment(1);
        }
      }
      for (String dc : cluster.dcs()) {
        try (OsierClient client = cluster.only(dc)) {
          await()
              .atMost(Duration.ofMinutes(1))
              .until(() -> client.session().keyspace("k").counter("c").get() == 5);
        }
      }
    }
  }

  @Test
  void delays_areTheSameBothWays() {
    for (String from : LocalCluster.names(LocalCluster.DCS_MAX)) {
      for (String to : LocalCluster.names(LocalCluster.DCS_MAX)) {
        assertThat(LocalCluster.delayMillis(from, to))
            .isPositive()
            .isEqualTo(LocalCluster.delayMillis(to, from));
      }
    }
    assertThat(LocalCluster.delayMillis("us2", "eu")).isEqualTo(40);
  }
}
