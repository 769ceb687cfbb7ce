package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.Query;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Datacenters that are dead are given up while the others serve. */
final class GivenUpDatacentersTest extends MembershipFixture {
  /**
   * Neither by a read nor by a scan nor in a transaction, from when it has heard that it was given
   * up: each keyspace hears of that by itself.
   */
  private static void servesNothingStale(OsierClient of) {
    for (Runnable read :
        List.<Runnable>of(
            () -> of.session().keyspace("shop").counter("c").get(),
            () ->
                of.session()
                    .keyspace("shop")
                    .scan(Optional.empty(), Optional.empty(), new Query.Whole(), 10),
            () -> of.session().keyspace("bank").begin().counter("c").get())) {
      await()
          .untilAsserted(
              () ->
                  refused(ErrorCode.REFUSED_BY_PEERS, read::run)
                      .hasMessageContaining("out of date"));
    }
  }

  @Test
  void oneThatIsDead_isGivenUp_andNobodyWaitsForIt() throws IOException {
    TestCluster cluster = cluster("ap", "eu", "us");
    OsierClient eu = at(cluster, "eu");
    OsierClient us = at(cluster, "us");
    TestCluster.awaitSettled(eu);
    increment(at(cluster, "ap"), "c", 7);
    awaitCount(eu, "c", 7);
    TestCluster.refuses(() -> remove(eu, "ap", true), "is connected, so it is not dead");
    cluster.stop("ap");
    await().until(() -> tried(eu, "ap"));
    awaitState(us, "ap", "removed");
    increment(us, "c", 1);
    awaitCount(eu, "c", 8);
    // What it stores is out of date, and it is told so.
    Datacenter ap = cluster.start("ap");
    await().until(() -> ap.obstacles().stream().anyMatch(o -> o.contains("dc add ap")));
    OsierClient former = at(cluster, "ap");
    assertThatThrownBy(() -> increment(former, "c", 1)).isInstanceOf(OsierException.class);
    // Who knows another one is served there; otherwise nothing old is read.
    servesNothingStale(former);
    OsierClient both =
        open.add(
            PatientClients.of("ap", cluster.clientPort("ap"))
                .endpoint("us", "127.0.0.1:" + cluster.clientPort("us"))
                .prefer("ap")
                .build());
    both.awaitConnected(PATIENCE);
    // It may have connected with ap alone so far.
    await()
        .ignoreExceptionsInstanceOf(OsierException.class)
        .until(() -> both.session().keyspace("shop").counter("c").get() == 8);
    // Added again it is refused as long as it has its old store.
    add(eu, "ap", "127.0.0.1:" + cluster.peerPort("ap"));
    await().until(() -> ap.obstacles().stream().anyMatch(o -> o.contains("osier rebuild")));
    awaitState(us, "ap", "joining");
    servesNothingStale(former);
    cluster.stop("ap");
    try (var files = Files.walk(dir.resolve("ap"))) {
      files
          .sorted(Comparator.reverseOrder())
          .forEach(f -> assertThat(f.toFile().delete()).isTrue());
    }
    cluster.start("ap");
    awaitState(us, "ap", "active");
    awaitCount(at(cluster, "ap"), "c", 8);
  }

  @Test
  void rightsOfOneThatIsDead_fallToTheOthers_onceAndForAll() throws IOException {
    TestCluster cluster = cluster("ap", "eu", "us");
    OsierClient us = at(cluster, "us");
    OsierClient ap = at(cluster, "ap");
    createsBounded(ap);
    TestCluster.awaitSettled(us);
    cluster.stop("ap");
    await().until(() -> tried(us, "ap"));
    awaitState(at(cluster, "eu"), "ap", "removed");
    for (int i = 0; i < 20; i++) {
      awaitNoneOf(us, "shop", "b" + i, "ap", 270, 30);
    }
    awaitNoneOf(us, "pair", "b", "ap", 100, 0);
    awaitNoneOf(at(cluster, "eu"), "shop", "b0", "ap", 270, 30);
    at(cluster, "eu").session().keyspace("shop").boundedCounter("b0").increment(170);
    // Also its part of wider bounds, and after a start.
    us.session().keyspace("shop").boundedCounter("b0").create(0, 600);
    awaitNoneOf(us, "shop", "b0", "ap", 400, 200);
    cluster.stop("eu");
    cluster.start("eu");
    us.session().keyspace("shop").boundedCounter("b0").create(0, 900);
    awaitNoneOf(us, "shop", "b0", "ap", 700, 200);
    // If it comes again it begins with nothing, and is given some.
    try (var files = Files.walk(dir.resolve("ap"))) {
      files
          .sorted(Comparator.reverseOrder())
          .forEach(f -> assertThat(f.toFile().delete()).isTrue());
    }
    add(us, "ap", "127.0.0.1:" + cluster.peerPort("ap"));
    cluster.start("ap");
    awaitState(us, "ap", "active");
    us.session().keyspace("shop").boundedCounter("b0").create(0, 901);
    awaitShare(us, "shop", "b0", "ap", 1, 0);
    at(cluster, "us")
        .session()
        .keyspace("shop")
        .boundedCounter("b0")
        .transferAsync("ap", 5, true)
        .join();
    awaitShare(at(cluster, "ap"), "shop", "b0", "ap", 6, 0);
    at(cluster, "ap").session().keyspace("shop").boundedCounter("b0").increment(6);
  }

  /** Waits until the others have all rights of a counter. */
  private static void awaitNoneOf(
      OsierClient client, String keyspace, String key, String dc, long up, long down) {
    var counter = client.session().keyspace(keyspace).boundedCounter(key);
    await()
        .untilAsserted(
            () -> {
              var shares = counter.rights().shares();
              var none = requireNonNull(shares.get(dc));
              assertThat(List.of(none.up(), none.down())).containsExactly(0L, 0L);
              assertThat(shares.values().stream().mapToLong(s -> s.up()).sum()).isEqualTo(up);
              assertThat(shares.values().stream().mapToLong(s -> s.down()).sum()).isEqualTo(down);
            });
  }

  /** Waits until a datacenter has these rights of a counter. */
  private static void awaitShare(
      OsierClient client, String keyspace, String key, String dc, long up, long down) {
    var counter = client.session().keyspace(keyspace).boundedCounter(key);
    await()
        .untilAsserted(
            () -> {
              var share = requireNonNull(counter.rights().shares().get(dc));
              assertThat(List.of(share.up(), share.down())).containsExactly(up, down);
            });
  }

  private static boolean tried(OsierClient client, String name) {
    try {
      remove(client, name, true);
      return true;
    } catch (CompletionException e) {
      return false;
    }
  }
}
