package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.proxy.Keyspace;
import io.osier.proxy.KeyspaceStatus;
import io.osier.proxy.values.Values;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A keyspace with homes that the files of datacenters name, from their first start on. */
final class HomesInFilesTest {
  private static final String CARTS =
      """
      carts { homes = [eu, us, ap], partitions = 2, replicas = [eu, us], sla = 100ms }
      "carts@ap" { replicas = [ap], holders-min = 1 }
      """;

  @AutoClose private final Opened open = new Opened();
  @TempDir private Path dir;

  @Test
  void threeFiles_makeOneKeyspace_whichEachUses() {
    EmbeddedCluster cluster = open.add(new EmbeddedCluster(CARTS));
    List<String> keys = List.of("1", "eu:1", "us:1", "cart:{ap}:1");
    for (String dc : EmbeddedCluster.NAMES) {
      Keyspace carts = cluster.dc(dc).session().keyspace("carts");
      keys.forEach(key -> carts.counter(key).increment(1));
    }
    for (String dc : EmbeddedCluster.NAMES) {
      Keyspace carts = cluster.dc(dc).session().keyspace("carts");
      for (String key : keys) {
        await().atMost(Patience.LIMIT).until(() -> carts.counter(key).get() == 3);
      }
      assertThat(cluster.dc(dc).client().admin().keyspaces())
          .filteredOn(k -> k.name().equals("carts@ap"))
          .extracting(KeyspaceStatus::settings)
          .allSatisfy(s -> assertThat(s).containsEntry("replicas", "ap"))
          .hasSize(1);
    }
  }

  /** Calls wait for it, and are told of no unknown keyspace. */
  @Test
  void oneDatacenterAlone_hasItAtOnce_andAgainAfterARestart() {
    String config =
        EmbeddedCluster.alone("dir = \"" + dir + "\"", "carts { homes = [eu], sla = 100ms }");
    for (int i = 1; i <= 3; i++) {
      try (EmbeddedDatacenter alone = EmbeddedCluster.start(config, Values.plain())) {
        Keyspace carts = alone.session().keyspace("carts");
        carts.counter("eu:1").increment(1);
        assertThat(carts.counter("eu:1").get()).isEqualTo(i);
      }
    }
  }
}
