package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A datacenter's store is copied, and the copy is started at another address beside it. */
final class TwoLiveCopiesTest {
  private static final Set<ErrorCode> REFUSALS =
      Set.of(ErrorCode.REFUSED_BY_PEERS, ErrorCode.UNAVAILABLE, ErrorCode.SHUTTING_DOWN);

  @TempDir private Path dir;
  private final int copyPort = Ports.free();

  private static void copy(Path from, Path to) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(from)) {
      all = files.toList();
    }
    for (Path file : all) {
      Path target = to.resolve(from.relativize(file).toString());
      if (Files.isDirectory(file)) {
        Files.createDirectories(target);
      } else {
        Files.copy(file, target);
      }
    }
  }

  private Datacenter startCopy(TestCluster cluster) {
    String config =
        cluster
            .config("eu", copyPort, Ports.free())
            .replace(dir.resolve("stores").toString(), dir.resolve("copies").toString());
    return TestCluster.one(config);
  }

  private static void increment(OsierClient client, long by) {
    client.session().keyspace("shop").counter("c").increment(by);
  }

  private static long value(OsierClient client) {
    Session session = client.session();
    return session.keyspace("shop").counter("c").get();
  }

  private OsierClient clientOfTheCopy() {
    return PatientClients.of("eu", copyPort).build();
  }

  /** Both acknowledged, and only the updates of one of them came to the others. */
  @Test
  void copy_takesNoUpdates_andTheOthersHaveWhatWasAcknowledged() throws IOException {
    String store = "dir = \"" + dir.resolve("stores") + "\"";
    try (TestCluster cluster =
            new TestCluster("shop { sla = 200ms }", store, new String[] {"eu", "us", "ap"});
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      increment(eu, 10);
      await().untilAsserted(() -> assertThat(value(us)).isEqualTo(10));
      cluster.stop("eu");
      copy(dir.resolve("stores/eu"), dir.resolve("copies/eu"));
      cluster.start("eu");
      cluster.awaitReady();
      try (Datacenter copy = startCopy(cluster);
          OsierClient client = clientOfTheCopy()) {
        await()
            .untilAsserted(
                () ->
                    assertThat(copy.obstacles())
                        .filteredOn(o -> o.contains("knows another process by this datacenter"))
                        .hasSize(2));
        refused(ErrorCode.REFUSED_BY_PEERS, () -> increment(client, 10_000));
        await() // of the peers one may still be connecting
            .untilAsserted(() -> assertThat(cluster.datacenter("eu").obstacles()).isEmpty());
        increment(eu, 1);
        await().untilAsserted(() -> assertThat(value(us)).isEqualTo(11));
        assertThat(value(client)).as("it is read").isEqualTo(10);
        cluster.stop("eu");
        cluster.start("eu");
        cluster.awaitReady();
        increment(eu, 1);
        await().untilAsserted(() -> assertThat(value(us)).isEqualTo(12));
        assertThat(copy.obstacles()).isNotEmpty();
      }
    }
  }

  /** It acknowledged them for ten seconds, and then it stopped. */
  @Test
  void secondProcessWithAStoreOfItsOwn_takesNoUpdatesUntilItStops() {
    String store = "dir = \"" + dir.resolve("stores") + "\"";
    try (TestCluster cluster =
            new TestCluster("shop { sla = 200ms }", store, new String[] {"eu", "us"});
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us");
        Datacenter second = startCopy(cluster);
        OsierClient client = clientOfTheCopy()) {
      List<String> taken = new ArrayList<>();
      await()
          .until(
              () -> {
                try {
                  increment(client, 1);
                  taken.add("one");
                } catch (OsierException e) {
                  assertThat(e.code()).isIn(REFUSALS);
                }
                return second.failure().isCompletedExceptionally();
              });
      assertThat(taken).isEmpty();
      assertThatThrownBy(() -> second.failure().join())
          .hasCauseInstanceOf(OsierException.class)
          .hasMessageContaining("another process already runs as 'eu'");
      increment(eu, 1);
      await().untilAsserted(() -> assertThat(value(us)).as("the first goes on").isEqualTo(1));
    }
  }
}
