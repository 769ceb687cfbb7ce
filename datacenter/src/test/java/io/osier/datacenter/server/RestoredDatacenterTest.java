package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Value;
import io.osier.datacenter.store.files.StoreFiles;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Backups that are restored, and stores that are built anew from the peers. */
final class RestoredDatacenterTest extends DurableFixture {
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
    refused(ErrorCode.STORE_DAMAGED, () -> StoreFiles.restore(solo, bad, "osier", "solo"));
    assertThatThrownBy(() -> StoreFiles.restore(solo, bad, "osier", "solo"))
        .as("names the file that is damaged, not the copy, which is deleted")
        .hasMessageContaining(table.toString());
    Files.delete(bad.resolve("CURRENT")); // it is shared with no other backup
    for (String current : List.of("", "MANIFEST", "../../db/CURRENT\n")) {
      Files.writeString(bad.resolve("CURRENT"), current);
      assertThatThrownBy(() -> StoreFiles.restore(solo, bad, "osier", "solo"))
          .hasMessageContaining("STORE_DAMAGED")
          .hasMessageContaining("its file CURRENT is");
    }
    assertThatThrownBy(
            () -> StoreFiles.restore(solo, solo.resolve("backups/good"), "osier", "other"))
        .hasMessageContaining("is of 'solo'");
    assertThatThrownBy(() -> StoreFiles.restore(solo, dir, "osier", "solo"))
        .hasMessageContaining("is not a backup");
    try (Datacenter datacenter = alone("durability = sync");
        OsierClient client = client()) {
      assertThat(datacenter.isReady()).isTrue();
      assertThat(shop(client).register("r").get()).as("the store is untouched").isPresent();
    }
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
