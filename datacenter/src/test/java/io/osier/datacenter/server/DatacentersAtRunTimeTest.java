package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Value;
import io.osier.proxy.OsierClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Datacenters join and leave while the others serve. */
final class DatacentersAtRunTimeTest extends MembershipFixture {
  /** So many elements are more bytes than are asked for at once, and few to compare. */
  private static final int LARGE = 20_000;

  @Test
  void oneThatJoins_getsAll_andIsLikeTheOthers_alsoAfterTheyWereStartedAgain() {
    TestCluster cluster = cluster("eu", "us");
    OsierClient eu = at(cluster, "eu");
    OsierClient us = at(cluster, "us");
    for (int i = 0; i < 200; i++) {
      increment(i % 2 == 0 ? eu : us, "c" + i, i);
    }
    eu.session().keyspace("shop").set("s").add("gone");
    eu.session().keyspace("shop").set("s").remove("gone");
    assertThat(state(eu, "eu")).isEqualTo("active");
    assertThat(list(eu)).contains("\"from\":\"file\"").doesNotContain("ap");

    add(us, "ap", cluster.place("ap", "eu"));
    awaitState(eu, "ap", "joining");
    cluster.start("ap");
    for (OsierClient client : List.of(eu, us)) {
      awaitState(client, "ap", "active");
    }
    OsierClient ap = at(cluster, "ap");
    for (int i = 0; i < 200; i++) {
      awaitCount(ap, "c" + i, i);
    }
    assertThat(ap.session().keyspace("shop").set("s").get()).isEmpty();
    increment(ap, "c1", 10);
    awaitCount(eu, "c1", 11);
    awaitCount(us, "c1", 11);
    assertThat(list(ap)).contains("\"name\":\"eu\"", "\"name\":\"us\"");

    // The files of eu and us know nothing of ap.
    cluster.stop("us");
    cluster.stop("eu");
    increment(ap, "c2", 10);
    cluster.start("us");
    cluster.start("eu");
    cluster.awaitReady();
    awaitCount(at(cluster, "us"), "c2", 12);
    awaitCount(at(cluster, "eu"), "c2", 12);
    assertThat(state(at(cluster, "us"), "ap")).isEqualTo("active");
  }

  @Test
  void oneThatNobodyHasAdded_isRefused_untilItIsAdded() {
    TestCluster cluster = cluster("eu", "us");
    OsierClient eu = at(cluster, "eu");
    increment(eu, "c", 1);
    String address = cluster.place("ap", "eu");
    Datacenter ap = cluster.start("ap");
    await().until(() -> ap.obstacles().stream().anyMatch(o -> o.contains("osier cli dc add ap")));
    add(eu, "ap", address);
    TestCluster.refuses(() -> add(eu, "ap", address), "'ap' already (changed last by default at 2");
    awaitState(eu, "ap", "active");
    awaitCount(at(cluster, "ap"), "c", 1);
    await().until(() -> ap.obstacles().isEmpty()); // it hears of that after eu
  }

  /** It has what the one has that it knew at first, and must not take that for all. */
  @Test
  void oneThatJoins_isNotActive_beforeItHasHeardFromAll() {
    TestCluster cluster = cluster("eu", "us");
    OsierClient eu = at(cluster, "eu");
    increment(eu, "c", 1);
    add(eu, "ap", cluster.place("ap", "eu"));
    awaitState(at(cluster, "us"), "ap", "joining");
    cluster.stop("us");
    cluster.start("ap");
    OsierClient ap = at(cluster, "ap");
    awaitCount(ap, "c", 1);
    await()
        .during(Duration.ofSeconds(1))
        .atMost(PATIENCE)
        .until(() -> state(ap, "ap").equals("joining"));
    // Of two counters of each name one is in a causal keyspace: seen when all of it has come.
    await().until(() -> list(ap).contains("\"objects_there\":2,"));
    assertThat(list(ap))
        .contains("partitions have caught up with the others", "\"catch_up\":{", "\"bytes\":")
        .containsOnlyOnce("catch_up");
    await()
        .untilAsserted(
            () ->
                assertThat(cluster.datacenter("ap").obstacles())
                    .anySatisfy(o -> assertThat(o).contains(" of 2 objects and ", "MiB/s")));
    assertThat(list(eu)).doesNotContain("catch_up");
    cluster.start("us");
    awaitState(eu, "ap", "active");
  }

  @Test
  void oneThatLeaves_losesNothing_andGivesItsRightsAway() {
    TestCluster cluster = cluster("ap", "eu", "us");
    OsierClient eu = at(cluster, "eu");
    OsierClient us = at(cluster, "us");
    OsierClient ap = at(cluster, "ap");
    createsBounded(ap);
    increment(ap, "c", 7);
    remove(eu, "ap", false);
    await().until(() -> cluster.datacenter("ap").failure().isDone());
    assertThat(cluster.datacenter("ap").failure()).isCompletedWithValue(null);
    for (OsierClient client : List.of(eu, us)) {
      awaitState(client, "ap", "left");
      awaitCount(client, "c", 7);
      TestCluster.refuses(
          () -> remove(client, "ap", false), "'ap' any more: it is left (changed last by ");
    }
    for (int i = 0; i < 20; i++) {
      var counter = eu.session().keyspace("shop").boundedCounter("b" + i);
      await()
          .untilAsserted(
              () -> {
                var shares = counter.rights().shares();
                assertThat(requireNonNull(shares.get("ap")).up()).isZero();
                assertThat(requireNonNull(shares.get("ap")).down()).isZero();
                assertThat(shares.values().stream().mapToLong(s -> s.up()).sum()).isEqualTo(270);
                assertThat(shares.values().stream().mapToLong(s -> s.down()).sum()).isEqualTo(30);
              });
    }
    await()
        .until(
            () -> {
              var shares = us.session().keyspace("pair").boundedCounter("b").rights().shares();
              return requireNonNull(shares.get("us")).up() == 100;
            });
    cluster.ended("ap");
    increment(us, "c", 1);
    awaitCount(eu, "c", 8);
    refused(ErrorCode.CONFIGURATION, () -> cluster.start("ap"))
        .hasMessageContaining("osier rebuild");
    // Nobody waits for it.
    eu.session().keyspace("shop").boundedCounter("after").create(0, 10);
    assertThat(eu.session().keyspace("shop").boundedCounter("after").rights().shares())
        .doesNotContainKey("ap");
  }

  /** What of a large set is of one that has left comes from one that stayed, in pieces. */
  @Test
  void largeSetOfOneThatHasLeft_comesToOneThatJoins() {
    TestCluster cluster = cluster("ap", "eu");
    OsierClient eu = at(cluster, "eu");
    OsierClient ap = at(cluster, "ap");
    for (String keyspace : List.of("shop", "bank")) {
      for (int i = 0; i < LARGE; i += 5_000) {
        ap.session().keyspace(keyspace).set("large").add(numbers(i, 5_000));
      }
      ap.session().keyspace(keyspace).expireAfter("large", Duration.ofHours(1));
    }
    remove(eu, "ap", false);
    awaitState(eu, "ap", "left");
    cluster.ended("ap");

    add(eu, "us", cluster.place("us", "eu"));
    cluster.start("us");
    awaitState(eu, "us", "active");
    OsierClient us = at(cluster, "us");
    for (String keyspace : List.of("shop", "bank")) {
      var set = us.session().keyspace(keyspace).set("large");
      await().until(() -> set.size() == LARGE);
      assertThat(set.contains(Value.of(number(LARGE - 1)))).isTrue();
      assertThat(us.session().keyspace(keyspace).timeToLive("large")).isPresent();
      eu.session().keyspace(keyspace).set("large").remove(number(LARGE - 1));
      await().until(() -> !set.contains(Value.of(number(LARGE - 1))));
    }
  }

  private static String number(int i) {
    return "number " + i + "-".repeat(80);
  }

  private static String[] numbers(int from, int n) {
    return IntStream.range(from, from + n).mapToObj(i -> number(i)).toArray(String[]::new);
  }

  @Test
  void twoWhoAreToldToLeaveAtOnce_areNotBothGone() {
    TestCluster cluster = cluster("eu", "us");
    OsierClient eu = at(cluster, "eu");
    OsierClient us = at(cluster, "us");
    increment(eu, "c", 1);
    increment(us, "c", 2);
    TestCluster.awaitSettled(eu);
    TestCluster.awaitSettled(us);
    CompletableFuture<String> one = eu.admin().removeDatacenterAsync("us", false);
    CompletableFuture<String> other = us.admin().removeDatacenterAsync("eu", false);
    one.exceptionally(e -> "").join();
    other.exceptionally(e -> "").join();
    await()
        .until(
            () ->
                cluster.datacenter("eu").failure().isDone()
                    || cluster.datacenter("us").failure().isDone());
    boolean euStays = !cluster.datacenter("eu").failure().isDone();
    OsierClient stays = euStays ? eu : us;
    awaitState(stays, euStays ? "us" : "eu", "left");
    assertThat(cluster.datacenter(euStays ? "eu" : "us").failure()).isNotDone();
    awaitCount(stays, "c", 3);
  }

  @Test
  void whatMakesNoSense_isRefused_andChangesNothing() {
    TestCluster cluster = cluster("eu", "us");
    OsierClient eu = at(cluster, "eu");
    String before = list(eu);
    TestCluster.refuses(() -> add(eu, "us", "h:1"), "there is a datacenter 'us' already");
    TestCluster.refuses(() -> add(eu, "a b", "h:1"), "a b");
    TestCluster.refuses(
        () -> add(eu, "ap", "127.0.0.1:" + cluster.peerPort("us")), "is the address of 'us'");
    TestCluster.refuses(
        () -> remove(eu, "mars", false), "there is no datacenter 'mars'; there are [eu, us]");
    TestCluster.refuses(() -> remove(eu, "eu", true), "'eu' answers, so it is not dead");
    TestCluster.refuses(
        () -> eu.admin().createKeyspaceAsync("x", Map.of("replicas", "eu,mars")).join(),
        "of which there are [eu, us]");
    assertThat(list(eu)).isEqualTo(before);
    Map<String, String> one = Map.of("replicas", "us");
    TestCluster.onceSettled(() -> eu.admin().createKeyspaceAsync("alone", one).join());
    TestCluster.refuses(() -> remove(eu, "us", false), "keyspace 'alone' is held by 'us' alone");
  }
}
