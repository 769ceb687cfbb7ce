package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.store.files.StoreFiles;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Scan;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DurableDatacenterTest {
  @TempDir private Path dir;

  private final int clientPort = Ports.free();

  private Datacenter alone(String settings) {
    return Datacenter.start(
        ConfigReader.read(
            "test",
            "osier { dc = solo, store { dir = \""
                + dir
                + "\", "
                + settings
                + " }, listen { client-port = "
                + clientPort
                + ", peer-port = 0 }, keyspaces { shop {}, bank { consistency = causal } } }",
            Map.of()));
  }

  private Keyspace shop(OsierClient client) {
    client.awaitConnected(Patience.LIMIT);
    return client.session().keyspace("shop");
  }

  private OsierClient client() {
    return PatientClients.of("solo", clientPort).build();
  }

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
    try (Datacenter datacenter = alone("durability = sync");
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
          c -> Keyspace.Change.expireAfter(c.key().toString(), Duration.ofSeconds(6)));
      shop.updateAll(changes.subList(1, objects));
      shop.register("other").assign("stays");
    }
    try (Datacenter datacenter = alone("durability = sync");
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
      assertThatThrownBy(() -> alone("durability = sync"))
          .is(Refused.with(ErrorCode.CONFIGURATION))
          .hasMessageContaining("in use");
      assertThat(datacenter.replica().dc()).isEqualTo("solo");
    }
    String other =
        "osier { dc = solo, cluster = other, store.dir = \""
            + dir
            + "\", listen { client-port = 0, peer-port = 0 }, keyspaces { shop {} } }";
    assertThatThrownBy(() -> Datacenter.start(ConfigReader.read("test", other, Map.of())))
        .hasMessageContaining("'solo' in cluster 'osier'")
        .hasMessageContaining("'other'");
    String fewer =
        "osier { dc = solo, store.dir = \""
            + dir
            + "\", listen { client-port = 0, peer-port = 0 },"
            + " keyspaces { shop { partitions = 1 } } }";
    assertThatThrownBy(() -> Datacenter.start(ConfigReader.read("test", fewer, Map.of())))
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
      assertThatThrownBy(() -> shop.counter("c").increment(1))
          .is(Refused.with(ErrorCode.STORE_FULL))
          .hasMessageContaining("full");
      assertThat(shop.counter("c").get()).isEqualTo(5);
      Keyspace bank = client.session().keyspace("bank");
      assertThat(bank.readTogether(List.of(new Keyspace.Get("c", CrdtType.PN_COUNTER)))).hasSize(1);
      assertThatThrownBy(
              () ->
                  bank.updateTogether(
                      List.of(
                          new Keyspace.Change(
                              "c", CrdtType.PN_COUNTER, new Operation.Increment(1)))))
          .is(Refused.with(ErrorCode.STORE_FULL));
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

  /** The store of one datacenter of a cluster. */
  private Path storeOf(String dc) {
    return dir.resolve(dc);
  }

  @Test
  void restoredBackup_isANewIncarnation_andGetsFromItsPeersWhatCameLater() {
    String store = "dir = \"" + dir + "\"";
    try (TestCluster cluster =
            new TestCluster("shop { sla = 200ms }", store, new String[] {"eu", "us"});
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      Keyspace shop = eu.session().keyspace("shop");
      shop.counter("c").increment(5);
      shop.register("r").assign("before");
      assertThat(eu.backupAsync("eu", Optional.of("one"), Patience.LIMIT).join())
          .contains("backups/one");
      assertThatThrownBy(() -> eu.backupAsync("eu", Optional.of("one"), Patience.LIMIT).join())
          .hasMessageContaining("there is a backup 'one' already");
      assertThatThrownBy(() -> eu.backupAsync("eu", Optional.of("../one"), Patience.LIMIT).join())
          .hasMessageContaining("letters, digits");
      shop.counter("c").increment(2);
      shop.register("r").assign("after");
      await()
          .untilAsserted(
              () -> assertThat(us.session().keyspace("shop").counter("c").get()).isEqualTo(7));
      long incarnation = cluster.replica("eu").incarnation();
      cluster.stop("eu");
      Optional<Path> former =
          StoreFiles.restore(storeOf("eu"), storeOf("eu").resolve("backups/one"), "osier", "eu");
      assertThat(former).get().satisfies(f -> assertThat(f).exists());
      cluster.start("eu");
      cluster.awaitReady();
      assertThat(cluster.replica("eu").incarnation()).isGreaterThan(incarnation);
      await()
          .untilAsserted(
              () -> {
                Keyspace now = eu.session().keyspace("shop");
                assertThat(eu.nearest()).contains("eu");
                assertThat(now.counter("c").get()).isEqualTo(7);
                assertThat(now.register("r").get()).contains(Value.of("after"));
              });
      eu.session().keyspace("shop").counter("c").increment(1);
      await()
          .untilAsserted(
              () -> assertThat(us.session().keyspace("shop").counter("c").get()).isEqualTo(8));
    }
  }

  @Test
  void rebuiltStore_comesFromThePeers() {
    String store = "dir = \"" + dir + "\"";
    try (TestCluster cluster =
            new TestCluster("shop { sla = 200ms }", store, new String[] {"eu", "us"});
        OsierClient eu = cluster.client("eu")) {
      Keyspace shop = eu.session().keyspace("shop");
      for (int i = 0; i < 100; i++) {
        shop.counter("c" + i).increment(i);
      }
      cluster.stop("eu"); // which ships everything first
      assertThat(StoreFiles.verify(storeOf("eu")).bytes()).isPositive();
      assertThat(StoreFiles.setAside(storeOf("eu"))).isPresent();
      assertThat(StoreFiles.setAside(storeOf("eu"))).isEmpty();
      cluster.start("eu");
      cluster.awaitReady();
      await()
          .untilAsserted(
              () -> {
                for (int i = 0; i < 100; i++) {
                  assertThat(eu.session().keyspace("shop").counter("c" + i).get()).isEqualTo(i);
                }
                assertThat(eu.nearest()).contains("eu");
              });
    }
  }

  @Test
  void damagedBackup_isNotRestored_norOneOfAnother() throws IOException {
    Path solo = dir.resolve("solo");
    try (Datacenter datacenter = alone("durability = sync");
        OsierClient client = client()) {
      assertThat(datacenter.isReady()).isTrue();
      shop(client).register("r").assign("v".repeat(50_000));
      client.backupAsync("solo", Optional.of("good"), Patience.LIMIT).join();
      client.backupAsync("solo", Optional.of("bad"), Patience.LIMIT).join();
    }
    Path bad = solo.resolve("backups/bad");
    Path table;
    try (Stream<Path> files = Files.list(bad)) {
      table = files.filter(f -> f.toString().endsWith(".sst")).findFirst().orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(table); // the file itself is shared with the store
    bytes[50] ^= 0x5A;
    Files.delete(table);
    Files.write(table, bytes);
    assertThatThrownBy(() -> StoreFiles.restore(solo, bad, "osier", "solo"))
        .is(Refused.with(ErrorCode.STORE_DAMAGED));
    assertThatThrownBy(
            () -> StoreFiles.restore(solo, solo.resolve("backups/good"), "osier", "other"))
        .hasMessageContaining("is of 'solo'");
    assertThatThrownBy(() -> StoreFiles.restore(solo, dir, "osier", "solo"))
        .hasMessageContaining("is no backup");
    try (Datacenter datacenter = alone("durability = sync");
        OsierClient client = client()) {
      assertThat(datacenter.isReady()).isTrue();
      assertThat(shop(client).register("r").get()).as("the store is untouched").isPresent();
    }
  }

  private static JsonNode stat(OsierClient client, String dc) throws IOException {
    String report = client.inspectAsync(dc, Request.Topic.STAT, Optional.empty(), 0).join();
    return new ObjectMapper().readTree(report).get("keyspaces").get("shop");
  }

  /** At once, so that the test need not wait. */
  private String forgettingStore() {
    return "dir = \"" + dir + "\" }, streams { forget = 0s, status = 50ms";
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

  private static void awaitObjects(long objects, OsierClient... clients) {
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

  @Test
  void whatWasRemovedAndForgottenSinceABackup_doesNotComeBackWithIt() {
    try (TestCluster cluster =
            new TestCluster("shop { sla = 100ms }", forgettingStore(), new String[] {"eu", "us"});
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      Keyspace shop = eu.session().keyspace("shop");
      shop.set("gone").add("x");
      shop.counter("reset").increment(5);
      shop.counter("kept").increment(1);
      eu.backupAsync("eu", Optional.of("b"), Patience.LIMIT).join();
      shop.set("gone").remove("x");
      shop.counter("reset").clear();
      awaitObjects(1, eu, us); // both have forgotten
      shop.counter("reset").increment(2);
      cluster.stop("eu");
      StoreFiles.restore(storeOf("eu"), storeOf("eu").resolve("backups/b"), "osier", "eu");
      cluster.start("eu");
      cluster.awaitReady();
      await()
          .untilAsserted(
              () -> {
                for (OsierClient client : List.of(eu, us)) {
                  Keyspace now = client.session().keyspace("shop");
                  assertThat(now.set("gone").get()).isEmpty();
                  assertThat(now.counter("reset").get()).isEqualTo(2);
                  assertThat(now.counter("kept").get()).isEqualTo(1);
                }
                assertThat(eu.nearest()).contains("eu");
              });
      awaitObjects(2, eu, us);
    }
  }
}
