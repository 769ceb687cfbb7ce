package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Scan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class DurableDatacenterTest extends DurableFixture {
  /** Most of them are on the disk alone. */
  @Test
  void scan_findsWhatIsNotInMemory() {
    int objects = 30_000;
    try (Datacenter datacenter = alone("durability = none, cache = 1MiB");
        OsierClient client = client()) {
      Keyspace shop = shop(client);
      for (int from = 0; from < objects; from += 10_000) {
        List<Keyspace.Change> changes = new ArrayList<>();
        for (int i = from; i < from + 10_000; i++) {
          changes.add(
              new Keyspace.Change(
                  "k%06d".formatted(i), CrdtType.PN_COUNTER, new Operation.Increment(i)));
        }
        shop.updateAll(changes);
      }
      assertThat(shop.count(Scan.all())).isEqualTo(objects);
      AtomicInteger next = new AtomicInteger();
      try (Stream<Keyspace.Row> rows = shop.scan(Scan.all())) {
        rows.forEach(
            row -> {
              int i = next.getAndIncrement();
              assertThat(row.key()).isEqualTo(Key.of("k%06d".formatted(i)));
              assertThat(row.value()).isEqualTo(new Reading.Count(i));
            });
      }
      assertThat(next).hasValue(objects);
      assertThat(shop.exists("k000000")).isTrue();
      assertThat(shop.type("k029999")).contains(CrdtType.PN_COUNTER);
    }
  }

  /** Also those that were never in the memory of the second life. */
  @Test
  void deadlines_actAfterARestart() {
    int objects = 10_000; // of each of two partitions more than are read at once
    // What has been removed is forgotten at once, so that the test need not wait.
    String settings = "durability = sync }, streams { forget = 0s, status = 50ms";
    try (Datacenter datacenter = alone(settings);
        OsierClient client = client()) {
      Keyspace shop = shop(client);
      List<Keyspace.Change> changes = new ArrayList<>();
      for (int i = 0; i < objects; i++) {
        changes.add(new Keyspace.Change("k" + i, CrdtType.PN_COUNTER, new Operation.Increment(1)));
      }
      shop.updateAll(changes);
      changes.replaceAll(c -> Keyspace.Change.expireAfter(c.key().toString(), Duration.ofHours(1)));
      shop.updateAll(changes);
      changes.replaceAll(
          c -> Keyspace.Change.expireAfter(c.key().toString(), Duration.ofSeconds(4)));
      shop.updateAll(changes.subList(1, objects));
      shop.register("other").assign("stays");
    }
    try (Datacenter datacenter = alone(settings);
        OsierClient client = client()) {
      Keyspace shop = shop(client);
      // Seldom, as each count reads all that has not gone yet.
      await().pollInterval(Duration.ofMillis(500)).until(() -> shop.count(Scan.all()) == 2);
      assertThat(shop.timeToLive("k0").orElseThrow()).isGreaterThan(Duration.ofMinutes(30));
      await()
          .until(
              () ->
                  client
                      .inspectAsync("solo", Request.Topic.STAT, Optional.of("shop"), 0)
                      .join()
                      .contains("\"objects\":2,"));
      assertThat(shop.register("other").get()).contains(Value.of("stays"));
    }
  }

  @Test
  void storeOfAnother_isRefused_andOneInUseToo() {
    try (Datacenter datacenter = alone("durability = sync")) {
      refused(ErrorCode.CONFIGURATION, () -> alone("durability = sync"))
          .hasMessageContaining("in use");
      assertThat(datacenter.replica().dc()).isEqualTo("solo");
    }
    String other =
        "osier { dc = solo, cluster = other, store.dir = \""
            + dir
            + "\", listen { client-port = 0, peer-port = 0 }, keyspaces { shop {} } }";
    assertThatThrownBy(() -> TestCluster.one(other))
        .hasMessageContaining("'solo' in cluster 'osier'")
        .hasMessageContaining("'other'");
    String fewer =
        "osier { dc = solo, store.dir = \""
            + dir
            + "\", listen { client-port = 0, peer-port = 0 },"
            + " keyspaces { shop { partitions = 1 } } }";
    assertThatThrownBy(() -> TestCluster.one(fewer))
        .hasMessageContaining("osier.keyspaces.shop.partitions")
        .hasMessageContaining("cannot become 1");
  }

  @Test
  void fullDisk_refusesUpdates_andReadsGoOn() {
    try (Datacenter first = alone("durability = sync");
        OsierClient client = client()) {
      shop(client).counter("c").increment(5);
      assertThat(first.isReady()).isTrue();
    }
    // No disk has so much.
    try (Datacenter full = alone("durability = sync, min-free = 1000000GiB");
        OsierClient client = client()) {
      assertThat(full.isReady()).as("reads are served").isTrue();
      assertThat(full.obstacles()).hasSize(1).first().asString().contains("the disk is full");
      Keyspace shop = shop(client);
      refused(ErrorCode.STORE_FULL, () -> shop.counter("c").increment(1))
          .hasMessageContaining("full");
      assertThat(shop.counter("c").get()).isEqualTo(5);
      Keyspace bank = client.session().keyspace("bank");
      assertThat(bank.readTogether(List.of(new Keyspace.Get("c", CrdtType.PN_COUNTER)))).hasSize(1);
      refused(
          ErrorCode.STORE_FULL,
          () ->
              bank.updateTogether(
                  List.of(
                      new Keyspace.Change("c", CrdtType.PN_COUNTER, new Operation.Increment(1)))));
    }
  }

  @Test
  void whatPeersMissedDuringAStop_isShippedAfterTheStart() {
    String store = "dir = \"" + dir + "\"";
    try (TestCluster cluster =
            new TestCluster("shop { sla = 200ms }", store, new String[] {"eu", "us"});
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      cluster.stop("us");
      Keyspace shop = eu.session().keyspace("shop");
      for (int i = 0; i < 300; i++) {
        shop.counter("c" + i % 10).increment(1);
      }
      assertThat(eu.inspectAsync("eu", Request.Topic.STAT, Optional.empty(), 0).join())
          .as("who holds the horizon back, and what the store does")
          .contains("\"log_held_back_by\":\"us\"")
          .contains("\"durability\":\"sync\"")
          .contains("\"log_entries\":300");
      cluster.stop("eu"); // with what us has not got
      cluster.start("eu");
      cluster.start("us");
      cluster.awaitReady();
      await()
          .untilAsserted(
              () -> {
                long sum = 0;
                for (int i = 0; i < 10; i++) {
                  sum += us.session().keyspace("shop").counter("c" + i).get();
                }
                assertThat(us.nearest()).contains("us");
                assertThat(sum).isEqualTo(300);
              });
    }
  }

  @Test
  void removedObjects_leaveNothing_alsoNotAfterARestart_andTheirKeysCanBeUsedAgain() {
    try (TestCluster cluster =
            new TestCluster("shop { sla = 100ms }", forgettingStore(), new String[] {"eu", "us"});
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      Keyspace shop = eu.session().keyspace("shop");
      for (int i = 0; i < 50; i++) {
        shop.counter("c" + i).increment(3);
        shop.set("s" + i).add("a", "b");
        shop.register("r" + i).assign("v");
      }
      for (int i = 0; i < 50; i++) {
        shop.counter("c" + i).clear();
        shop.set("s" + i).remove("a", "b");
        shop.register("r" + i).clear();
      }
      awaitObjects(0, eu, us);
      shop.counter("c1").increment(4);
      us.session().keyspace("shop").set("s1").add("again");
      awaitObjects(2, eu, us);
      cluster.stop("us");
      shop.counter("c1").clear();
      cluster.stop("eu"); // before us has seen that
      cluster.start("us");
      cluster.start("eu");
      cluster.awaitReady();
      awaitObjects(1, eu, us);
      assertThat(us.session().keyspace("shop").counter("c1").get()).isZero();
      assertThat(eu.session().keyspace("shop").set("s1").get()).containsExactly(Value.of("again"));
    }
  }
}
