package io.osier.datacenter.shard;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Keyspaces are created, used, altered and dropped while three datacenters serve. */
final class KeyspacesAtRunTimeTest extends KeyspacesFixture {
  @Test
  void whatIsCreatedAtOne_isUsedAtAll_andReplicates() {
    TestCluster cluster = cluster();
    OsierClient eu = at(cluster, "eu");
    OsierClient us = at(cluster, "us");
    String told = created(eu, "carts", "sla", "100ms", "partitions", "3");
    assertThat(told)
        .contains("\"state\":\"active\"", "\"sla\":\"100ms\"", "\"partitions\":\"3\"")
        .contains("\"changed_by\":\"default\"");
    us.session().keyspace("carts").counter("c").increment(2);
    eu.session().keyspace("carts").counter("c").increment(3);
    for (String name : NAMES) {
      OsierClient there = at(cluster, name);
      await().until(() -> there.session().keyspace("carts").counter("c").get() == 5);
    }
    assertThat(list(us)).contains("\"carts\"", "\"from\":\"command\"", "\"shop\"");
    assertThat(list(us)).doesNotContain(KeyspacePolicy.CONTROL);
  }

  /** All keyspaces are created at run time: the files name none. */
  @Test
  void filesNeedNotNameAny_andOneThatJoinsGetsThemAll() {
    TestCluster cluster =
        open.add(
            new TestCluster(
                "", "dir = \"" + dir + "\", durability = sync", new String[] {"eu", "us"}));
    OsierClient eu = at(cluster, "eu");
    assertThat(list(eu)).isEqualTo("{\"keyspaces\":[],\"notes\":[]}");
    assertThat(cluster.datacenter("eu").obstacles()).isEmpty();
    created(eu, "carts");
    at(cluster, "us").session().keyspace("carts").counter("c").increment(2);
    created(eu, "bank", "consistency", "causal");
    eu.session().keyspace("bank").counter("c").increment(5);

    String place = cluster.place("ap", "eu");
    TestCluster.onceSettled(() -> eu.admin().addDatacenterAsync("ap", place).join());
    cluster.start("ap");
    cluster.awaitReady();
    OsierClient ap = at(cluster, "ap");
    // Whom it has not heard for three seconds it does not wait for.
    await().until(() -> ap.session().keyspace("carts").counter("c").get() == 2);
    await().until(() -> ap.session().keyspace("bank").counter("c").get() == 5);
    ap.session().keyspace("carts").counter("c").increment(1);
    await().until(() -> eu.session().keyspace("carts").counter("c").get() == 3);

    cluster.stop("us"); // perhaps before it has got what eu has
    cluster.start("us");
    cluster.awaitReady();
    OsierClient us = at(cluster, "us");
    await().until(() -> us.session().keyspace("carts").counter("c").get() == 3);
  }

  /** It knows of no keyspace when it has waited for the others: it must not seem to have all. */
  @Test
  void whoJoinsAndHearsNobody_isNotReady_untilItHasTheKeyspaces() {
    TestCluster cluster =
        open.add(
            new TestCluster(
                "", "dir = \"" + dir + "\", durability = sync", new String[] {"eu", "us"}));
    OsierClient eu = at(cluster, "eu");
    created(eu, "carts");
    eu.session().keyspace("carts").counter("c").increment(2);

    String address = cluster.place("ap", "eu");
    Datacenter ap = cluster.start("ap"); // the others refuse it: it was not added
    String unheard = "datacenter 'ap' has not heard yet from the others which keyspaces there are";
    await()
        .until(() -> ap.isReady() || ap.obstacles().stream().anyMatch(o -> o.startsWith(unheard)));
    assertThat(ap.isReady()).isFalse();
    assertThat(ap.obstacles())
        .anyMatch(o -> o.startsWith(unheard) && o.contains("not connected: eu;"));

    TestCluster.onceSettled(() -> eu.admin().addDatacenterAsync("ap", address).join());
    cluster.awaitReady();
    OsierClient there = at(cluster, "ap");
    await().until(() -> there.session().keyspace("carts").counter("c").get() == 2);
  }

  @Test
  void transactionsWorkInACausalOne() {
    TestCluster cluster = cluster();
    OsierClient eu = at(cluster, "eu");
    created(eu, "bank", "consistency", "causal");
    try (var transaction = eu.session().keyspace("bank").begin()) {
      transaction.counter("a").increment(-1);
      transaction.counter("b").increment(1);
      transaction.commit();
    }
    OsierClient us = at(cluster, "us");
    await().until(() -> us.session().keyspace("bank").counter("b").get() == 1);
    assertThat(us.session().keyspace("bank").counter("a").get()).isEqualTo(-1);
  }

  /** Perhaps the answer was lost: the error says that it was done, by whom and when. */
  @Test
  void creationThatIsRepeated_isToldWhoHasDoneIt() {
    OsierClient eu = at(cluster(), "eu");
    created(eu, "again", "sla", "1s");
    TestCluster.refuses(() -> create(eu, "again", "sla", "1s"), "(changed last by default at 2");
    TestCluster.refuses(() -> create(eu, "again", "sla", "1s"), "with these very settings");
    TestCluster.refuses(
        () -> create(eu, "again", "sla", "2s"), "there is a keyspace 'again' already (");
  }

  @Test
  void whatMakesNoSense_isRefused_andChangesNothing() {
    TestCluster cluster = cluster();
    OsierClient eu = at(cluster, "eu");
    String before = list(eu);
    TestCluster.refuses(() -> create(eu, "shop"), "there is a keyspace 'shop' already");
    TestCluster.refuses(() -> create(eu, "9"), "start with a letter");
    TestCluster.refuses(() -> create(eu, KeyspacePolicy.CONTROL), "start with a letter");
    TestCluster.refuses(() -> create(eu, "x", "sla", "2"), "sla must be a duration with its unit");
    TestCluster.refuses(
        () -> create(eu, "x", "colour", "red"), "no setting 'colour'; it has consistency");
    TestCluster.refuses(
        () -> create(eu, "x", "replicas", "eu,mars"), "of which there are [ap, eu, us]");
    TestCluster.refuses(() -> create(eu, "x", "partitions", "0"), "partitions must be");
    TestCluster.refuses(
        () -> eu.admin().alterKeyspaceAsync("shop", Map.of("partitions", "4")).join(),
        "partitions of a keyspace that exists cannot be altered");
    TestCluster.refuses(
        () -> eu.admin().alterKeyspaceAsync("nope", Map.of("sla", "1s")).join(),
        "there is no keyspace 'nope'; there are [shop]");
    TestCluster.refuses(
        () -> eu.admin().alterKeyspaceAsync("shop", Map.of("sla", "2 parsecs")).join(),
        "sla must be a duration");
    TestCluster.refuses(
        () -> eu.admin().dropKeyspaceAsync("nope").join(), "there is no keyspace 'nope'");
    TestCluster.refuses(
        () -> eu.admin().dropKeyspaceAsync("shop").join(), "named by the configuration files");
    assertThat(list(eu)).isEqualTo(before);
    assertThatThrownBy(() -> eu.session().keyspace("nope").counter("c").get())
        .hasMessageContaining("has no keyspace 'nope'");
    assertThatThrownBy(() -> eu.session().keyspace(KeyspacePolicy.CONTROL).counter("c").get())
        .hasMessageContaining("no keyspace");
  }

  @Test
  void settingsAreAlteredEverywhere_whileItServes() {
    TestCluster cluster = cluster();
    OsierClient eu = at(cluster, "eu");
    created(eu, "feeds", "sla", "1h", "propagation", "state");
    OsierClient us = at(cluster, "us");
    us.session().keyspace("feeds").counter("c").increment(1); // is held for an hour
    eu.admin().alterKeyspaceAsync("feeds", Map.of("sla", "100ms", "limits.key", "8B")).join();
    await().until(() -> eu.session().keyspace("feeds").counter("c").get() == 1);
    us.session().keyspace("feeds").counter("c").increment(1); // the next round already obeys
    await().until(() -> eu.session().keyspace("feeds").counter("c").get() == 2);
    await().until(() -> list(us).contains("\"limits.key\":\"8B\""));
    await() // it is told as altered before it is
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () -> us.session().keyspace("feeds").counter("123456789").increment(1))
                    .hasMessageContaining("allows 8"));

    // One that the files name, too.
    us.admin().alterKeyspaceAsync("shop", Map.of("sla", "123ms")).join();
    await().until(() -> list(eu).contains("\"sla\":\"123ms\""));
    await().until(() -> cluster.datacenter("ap").policy("shop").sla().toMillis() == 123);
  }

  @Test
  void whatIsDropped_isGoneEverywhere_andTheNameIsFreeForAnother() {
    TestCluster cluster = cluster();
    OsierClient eu = at(cluster, "eu");
    OsierClient us = at(cluster, "us");
    created(eu, "old", "partitions", "2");
    us.session().keyspace("old").counter("c").increment(7);
    us.admin().dropKeyspaceAsync("old").join();
    for (OsierClient client : List.of(eu, us)) {
      await()
          .ignoreExceptionsInstanceOf(OsierException.class)
          .until(() -> !list(client).contains("\"old\""));
      await() // it is told as gone before it is closed
          .untilAsserted(
              () ->
                  refused(
                      ErrorCode.UNKNOWN_KEYSPACE,
                      () -> client.session().keyspace("old").counter("c").get()));
    }
    created(eu, "old", "partitions", "5");
    OsierClient fresh = at(cluster, "us");
    assertThat(fresh.session().keyspace("old").counter("c").get()).isZero();
    fresh.session().keyspace("old").counter("c").increment(1);
    OsierClient ap = at(cluster, "ap");
    await().until(() -> ap.session().keyspace("old").counter("c").get() == 1);
  }

  /** What all that look at a datacenter are shown. */
  @Test
  void whatIsCreated_isInTheFigures_andWhatIsDroppedIsNot() {
    TestCluster cluster = cluster();
    OsierClient eu = at(cluster, "eu");
    created(eu, "seen");
    eu.session().keyspace("seen").counter("c").increment(7);
    for (Request.Topic topic : Request.Topic.values()) {
      assertThat(eu.inspectAsync("eu", topic, Optional.empty(), 3).join())
          .as("%s", topic)
          .contains("\"seen\":{");
    }
    eu.admin().dropKeyspaceAsync("seen").join();
    for (Request.Topic topic : Request.Topic.values()) {
      await() // it is told as gone before it is closed
          .untilAsserted(
              () ->
                  assertThat(eu.inspectAsync("eu", topic, Optional.empty(), 3).join())
                      .as("%s", topic)
                      .doesNotContain("\"seen\""));
    }
  }

  /** Or the window of the link would be narrower for ever. */
  @Test
  void whatADroppedOneHadUnderWay_isGivenBack() {
    TestCluster cluster = cluster();
    OsierClient eu = at(cluster, "eu");
    for (int round = 0; round < 5; round++) {
      String name = "busy" + round;
      created(eu, name, "propagation", "op", "sla", "0s");
      for (int i = 0; i < 5_000; i++) {
        var unused =
            eu.session().keyspace(name).set("s" + i % 100).addAsync(List.of(Value.of("e" + i)));
      }
      eu.admin().dropKeyspaceAsync(name).join();
    }
    await()
        .untilAsserted(
            () ->
                assertThat(cluster.datacenter("eu").inFlightBytes().values())
                    .allMatch(bytes -> bytes == 0));
  }
}
