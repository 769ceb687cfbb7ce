package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.store.files.DamagedStore;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Scan;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A block of the store is damaged while nobody looks, and met by a running datacenter. */
final class DamagedDatacenterTest {
  private static final int OBJECTS = 10_000;

  @TempDir private Path dir;

  private final int clientPort = Ports.free();

  private Datacenter start() {
    return TestCluster.one(
        "osier { dc = solo, store { dir = \""
            + dir
            + "\", durability = sync, cache = 1MiB }, admin { enabled = true, port = 0 },"
            + " listen { client-port = "
            + clientPort
            + ", peer-port = 0 }, keyspaces { shop { partitions = 1 } } }");
  }

  private OsierClient client() {
    return PatientClients.of("solo", clientPort).build();
  }

  private Keyspace shop(OsierClient client) {
    client.awaitConnected(Patience.LIMIT);
    return client.session().keyspace("shop");
  }

  private static String key(int i) {
    return "k%06d".formatted(i);
  }

  private void makeDamaged() throws Exception {
    try (Datacenter datacenter = start();
        OsierClient client = client()) {
      List<Keyspace.Change> changes = new ArrayList<>();
      for (int i = 0; i < OBJECTS; i++) {
        Value value = Value.of(i + "v".repeat(200));
        changes.add(
            new Keyspace.Change(key(i), CrdtType.LWW_REGISTER, new Operation.Assign(value)));
      }
      shop(client).updateAll(changes);
      assertThat(datacenter.failure()).isNotDone();
    }
    DamagedStore.damageOneBlock(dir.resolve("solo"));
  }

  private static String get(Datacenter datacenter, String path) throws Exception {
    return AdminHttp.get(datacenter.adminPort().orElseThrow(), path).body();
  }

  private static void assertDamaged(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    refused(ErrorCode.STORE_DAMAGED, call);
  }

  @Test
  void damagedBlock_isNamed_andTheRestIsServed() throws Exception {
    makeDamaged();
    try (Datacenter datacenter = start();
        OsierClient client = client()) {
      Keyspace shop = shop(client);
      assertThat(get(datacenter, "/readyz")).isEqualTo("ready\n");
      assertDamaged(() -> shop.count(Scan.all()));
      assertDamaged(
          () -> {
            try (Stream<Keyspace.Row> rows = shop.scan(Scan.all())) {
              assertThat(rows.count()).isZero();
            }
          });
      TreeSet<Integer> damaged = new TreeSet<>();
      for (int i = 0; i < OBJECTS; i++) {
        try {
          assertThat(shop.register(key(i)).get().orElseThrow().toString()).contains(i + "v");
        } catch (OsierException e) {
          assertThat(e.code()).isEqualTo(ErrorCode.STORE_DAMAGED);
          assertThat(e).hasMessageContaining("'" + key(i) + "'");
          damaged.add(i);
        }
      }
      assertThat(damaged).hasSizeBetween(1, 1_000);
      String bad = key(damaged.first());
      assertDamaged(() -> shop.register(bad).assign("new"));
      assertDamaged(
          () ->
              shop.updateAll(
                  List.of(
                      new Keyspace.Change(
                          bad, CrdtType.LWW_REGISTER, new Operation.Assign(Value.of("new"))))));
      String good = key(damaged.first() > 100 ? 1 : OBJECTS - 1);
      shop.register(good).assign("new");
      assertThat(shop.register(good).get()).contains(Value.of("new"));
      assertThat(datacenter.failure()).as("nothing else stops").isNotDone();
      assertIsTold(datacenter, client);
    }
  }

  private static void assertIsTold(Datacenter datacenter, OsierClient client) throws Exception {
    assertThat(get(datacenter, "/readyz"))
        .startsWith("ready\n")
        .containsPattern(
            "the store is damaged: partition shop/0: byte \\d+ of \\d+\\.sst; since .* reads");
    String stat = client.inspectAsync("solo", Request.Topic.STAT, Optional.empty(), 0).join();
    assertThat(stat).contains("\"damaged\":[\"partition shop/0: byte ");
    org.awaitility.Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(get(datacenter, "/metrics"))
                    .containsPattern("osier_store_damaged_ranges 1\\.0")
                    .containsPattern("osier_store_damaged_reads_total [1-9]"));
  }
}
