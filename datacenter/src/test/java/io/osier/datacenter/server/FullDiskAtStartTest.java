package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.net.Ports;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.control.execution.StartupWaitRule;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Scan;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A datacenter that was killed while its disk was full starts, and answers what it can. */
final class FullDiskAtStartTest extends DurableFixture {
  private static final DatacenterParts.Surroundings FULL =
      new DatacenterParts.Surroundings(
          Map::of, FullDiskAtStartTest::full, StartupWaitRule.WAIT_NANOS);

  /** As if the disk had no room for what a start writes. */
  private static RocksDatabase full(
      Path dir, Durability durability, String cluster, String dc, long minimum) {
    throw new OsierException(ErrorCode.STORE_FULL, "No space left on device");
  }

  private DatacenterConfig config(String minFree, String peers) {
    return ConfigReader.read(
        "test",
        "osier { dc = solo, store { dir = \""
            + dir
            + "\", durability = sync, min-free = "
            + minFree
            + " }, listen { client-port = "
            + clientPort
            + ", peer-port = 0 }, peers { "
            + peers
            + " }, keyspaces { shop {}, bank { consistency = causal } } }",
        Map.of());
  }

  private static Keyspace of(OsierClient client, String keyspace) {
    client.awaitConnected(Patience.LIMIT);
    return client.session().keyspace(keyspace);
  }

  private ReplicaId write() {
    try (Datacenter datacenter = Datacenter.start(config("64MiB", ""));
        OsierClient client = client()) {
      for (int i = 0; i < 100; i++) {
        of(client, "shop").register("r" + i).assign("v" + i);
      }
      of(client, "bank").counter("c").increment(7);
      return datacenter.replica();
    }
  }

  private Map<String, Long> files() throws IOException {
    Map<String, Long> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(dir.resolve("solo/db"))) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        if (!file.getFileName().toString().startsWith("LOG")) { // RocksDB's diary
          files.put(file.toString(), Files.size(file));
        }
      }
    }
    return files;
  }

  /** RocksDB could not write what it has in memory, and the process would end. */
  @Test
  void lessFreeSpaceThanWhatIsInMemoryTakes_isNotLeft_andTheLogSaysSo() {
    for (String least : new String[] {"0B", "1MiB", "64MiB"}) {
      DatacenterConfig config = config(least, "");
      assertThat(config.store().leastFreeBytes()).isEqualTo(64 << 20);
      try (LoggedLines log = new LoggedLines(StoreService.class.getName()).quietly()) {
        Datacenter.start(config).close();
        assertThat(log.all().stream().anyMatch(l -> l.contains("store.min-free is")))
            .isEqualTo(!least.equals("64MiB"));
      }
    }
    assertThat(config("65MiB", "").store().leastFreeBytes()).isEqualTo(65 << 20);
  }

  @Test
  void startOnAFullDisk_answersReads_andTakesNoUpdates() throws Exception {
    ReplicaId before = write();
    Map<String, Long> files = files();
    String away = "us = \"127.0.0.1:" + Ports.free() + "\"";
    try (Datacenter datacenter = Datacenter.start(config("1EiB", away), FULL);
        OsierClient client = client()) {
      assertThat(datacenter.isReadOnly()).isTrue();
      assertThat(datacenter.isReady()).isFalse();
      assertThat(datacenter.obstacles())
          .anyMatch(o -> o.contains("read only") && o.contains("STORE_FULL"));
      Keyspace shop = of(client, "shop");
      assertThat(shop.register("r42").get()).contains(Value.of("v42"));
      assertThat(shop.count(Scan.all())).isEqualTo(100);
      assertThat(of(client, "bank").counter("c").get()).isEqualTo(7);
      for (String keyspace : new String[] {"shop", "bank"}) {
        refused(ErrorCode.STORE_FULL, () -> of(client, keyspace).counter("c").increment(1));
      }
      assertThat(datacenter.failure()).isNotDone();
    }
    assertThat(files()).as("nothing was written").isEqualTo(files);
    try (Datacenter datacenter = Datacenter.start(config("64MiB", ""));
        OsierClient client = client()) {
      assertThat(datacenter.replica()).isEqualTo(before);
      of(client, "bank").counter("c").increment(1);
      assertThat(of(client, "bank").counter("c").get()).isEqualTo(8);
    }
  }

  @Test
  void roomAgain_isToldSoThatItStartsAnew() throws Exception {
    write();
    try (Datacenter datacenter = Datacenter.start(config("64MiB", ""), FULL)) {
      assertThatThrownBy(() -> datacenter.failure().get(Patience.SECONDS, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("has room again");
    }
  }

  @Test
  void storeThatWasNeverWritten_cannotBeRead() {
    refused(ErrorCode.STORE_FULL, () -> Datacenter.start(config("64MiB", ""), FULL));
  }
}
