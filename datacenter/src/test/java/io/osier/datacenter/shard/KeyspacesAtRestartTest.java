package io.osier.datacenter.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.OsierException;
import io.osier.core.net.Ports;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * What becomes of created keyspaces where files change, and datacenters are away and start again.
 */
final class KeyspacesAtRestartTest extends KeyspacesFixture {
  /** Two keyspaces of one name: the data of the one must not be taken for dropped. */
  @Test
  void fileThatNamesWhatWasCreated_isRefused_andNothingIsLost() {
    String common =
        "dc = solo, listen { client-port = %d, peer-port = 0 }, store { dir = \"%s\" }"
            .formatted(Ports.free(), dir);
    String before = "osier { " + common + ", keyspaces { shop {} } }";
    String clashing = "osier { " + common + ", keyspaces { shop {}, carts {} } }";
    try (Datacenter solo = TestCluster.one(before)) {
      OsierClient client = solo(solo);
      created(client, "carts");
      client.session().keyspace("carts").counter("c").increment(3);
    }
    assertThatThrownBy(() -> TestCluster.one(clashing).close())
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("osier.keyspaces.carts: a keyspace of this name was created");
    try (Datacenter solo = TestCluster.one(before)) {
      assertThat(solo(solo).session().keyspace("carts").counter("c").get()).isEqualTo(3);
    }
  }

  private OsierClient solo(Datacenter datacenter) {
    await().until(datacenter::isReady);
    OsierClient client = open.add(PatientClients.of("solo", datacenter.clientPort()).build());
    client.awaitConnected(PATIENCE);
    return client;
  }

  /** A datacenter that leaves the configuration takes no keyspace with it. */
  @Test
  void keyspaceOfAReplicaThatIsNotConfiguredAnyMore_isKept() {
    int soloPort = Ports.free();
    int awayPort = Ports.free();
    String common =
        ("dc = solo, listen { client-port = %d, peer-port = %d }, store { dir = \"%s\" },"
                + " keyspaces { shop {} }")
            .formatted(Ports.free(), soloPort, dir);
    String two = "osier { " + common + ", peers { away = \"127.0.0.1:" + awayPort + "\" } }";
    String other =
        ("osier { dc = away, store.dir = \"\", listen { client-port = 0, peer-port = %d"
                + " }, keyspaces { shop {} }, peers { solo = \"127.0.0.1:%d\" } }")
            .formatted(awayPort, soloPort);
    try (Datacenter away = TestCluster.one(other);
        Datacenter solo = TestCluster.one(two)) {
      await().until(away::isReady);
      created(solo(solo), "both", "replicas", "away,solo");
    }
    try (Datacenter solo = TestCluster.one("osier { " + common + " }")) {
      assertThat(list(solo(solo))).contains("\"both\"");
      assertThat(solo.stored()).anyMatch(k -> k.startsWith("both@"));
    }
  }

  /** Of two creations of a name one wins, and nothing that was acknowledged in it is lost. */
  @Test
  void twoOperatorsWhoCreateTheSameName_endWithOne() {
    TestCluster cluster = cluster();
    OsierClient eu = at(cluster, "eu");
    OsierClient us = at(cluster, "us");
    create(eu, "at-eu"); // who can do this has heard from the others
    create(us, "at-us");
    for (int i = 0; i < 10; i++) {
      String name = "k" + i;
      CompletableFuture<String> one =
          eu.admin().createKeyspaceAsync(name, Map.of("partitions", "1"));
      CompletableFuture<String> other =
          us.admin().createKeyspaceAsync(name, Map.of("partitions", "4"));
      // Each as early as it is taken: once everybody has opened the same creation.
      incrementSoon(eu, name, 1);
      incrementSoon(us, name, 2);
      CompletableFuture.allOf(one.exceptionally(e -> ""), other.exceptionally(e -> "")).join();
      for (String at : NAMES) {
        OsierClient there = at(cluster, at);
        await().until(() -> there.session().keyspace(name).counter("c").get() == 3);
        await().until(() -> list(there).equals(list(eu)));
      }
    }
  }

  private static void incrementSoon(OsierClient client, String keyspace, long amount) {
    await()
        .pollInterval(Duration.ofMillis(1))
        .ignoreExceptionsInstanceOf(OsierException.class)
        .until(
            () -> {
              client.session().keyspace(keyspace).counter("c").increment(amount);
              return true;
            });
  }

  @Test
  void whileADatacenterIsAway_whatIsCreatedTakesNoUpdates_andThenAll() {
    TestCluster cluster = durable();
    OsierClient eu = at(cluster, "eu");
    create(eu, "early"); // who can do this has heard from the others
    cluster.stop("ap");
    create(eu, "late");
    await().until(() -> view(eu, "late").contains("\"awaited\":[\"ap\"]"));
    assertThat(view(eu, "late")).contains("\"state\":\"creating\"");
    OsierClient hurried =
        open.add(
            PatientClients.of("eu", cluster.clientPort("eu"))
                .timeout(Duration.ofSeconds(1))
                .build());
    hurried.awaitConnected(PATIENCE);
    await() // on a slow machine there may be no answer in its time
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () -> hurried.session().keyspace("late").counter("c").increment(1))
                    .hasMessageContaining("takes no updates until [ap] know it"));
    cluster.start("ap");
    cluster.awaitReady();
    await().until(() -> list(eu).contains("\"awaited\":[]") && !list(eu).contains("creating"));
    eu.session().keyspace("late").counter("c").increment(1);
    OsierClient ap = at(cluster, "ap");
    await().until(() -> ap.session().keyspace("late").counter("c").get() == 1);
  }

  @Test
  void afterARestart_whatWasCreatedIsThere_andWhatWasDroppedMeanwhileIsNot() {
    TestCluster cluster = durable();
    OsierClient eu = at(cluster, "eu");
    created(eu, "kept");
    created(eu, "dropped");
    OsierClient ap = at(cluster, "ap");
    ap.session().keyspace("kept").counter("c").increment(4);
    ap.session().keyspace("dropped").counter("c").increment(5);
    await().until(() -> eu.session().keyspace("kept").counter("c").get() == 4);
    cluster.stop("ap");
    eu.admin().dropKeyspaceAsync("dropped").join();
    cluster.stop("eu");
    cluster.stop("us");
    for (String name : NAMES) {
      cluster.start(name);
    }
    cluster.awaitReady();
    for (String name : NAMES) {
      OsierClient there = at(cluster, name);
      assertThat(there.session().keyspace("kept").counter("c").get()).isEqualTo(4);
      await().until(() -> !list(there).contains("dropped"));
      assertThat(cluster.datacenter(name).stored())
          .filteredOn(k -> k.startsWith("kept@"))
          .hasSize(1);
      // It is told as gone as soon as that is known, and removed once all that is known has come.
      await()
          .until(
              () ->
                  cluster.datacenter(name).stored().stream()
                      .noneMatch(k -> k.startsWith("dropped@")));
    }
  }
}
