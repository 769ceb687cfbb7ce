package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Patience;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Two datacenters that are not configured alike. */
final class KeyspaceDisagreementTest {
  private final int euPort = Ports.free();
  private final int usPort = Ports.free();
  private final int adminPort = Ports.free();

  private Datacenter eu(String cluster, String keyspaces) {
    return start("eu", cluster, euPort, "us", usPort, Optional.of(adminPort), keyspaces);
  }

  private Datacenter us(String keyspaces) {
    return start("us", "osier", usPort, "eu", euPort, Optional.empty(), keyspaces);
  }

  private static Datacenter start(
      String dc,
      String cluster,
      int port,
      String peer,
      int peerPort,
      Optional<Integer> admin,
      String keyspaces) {
    String adminPart = admin.map(a -> "admin { enabled = true, port = " + a + " },").orElse("");
    String config =
        String.format(
            Locale.ROOT,
            "osier { dc = %s, cluster = %s, store { dir = \"\" }, shutdown-timeout = 1s, %s"
                + " listen { client-port = 0, peer-port = %d }, peers { %s = \"127.0.0.1:%d\" },"
                + " keyspaces { %s } }",
            dc,
            cluster,
            adminPart,
            port,
            peer,
            peerPort,
            keyspaces);
    return TestCluster.one(config);
  }

  private static OsierClient client(Datacenter of) {
    await().until(of::isReady);
    OsierClient client = PatientClients.of(of.replica().dc(), of.clientPort()).build();
    client.awaitConnected(Patience.LIMIT);
    return client;
  }

  private HttpResponse<String> get(String path) throws Exception {
    return AdminHttp.get(adminPort, path);
  }

  /** The keyspaces of which a datacenter says that every peer refuses them. */
  private static List<String> refusedKeyspaces(Datacenter of) {
    return of.obstacles().stream()
        .filter(o -> o.contains("' is refused by every peer"))
        .map(o -> o.split("'")[1])
        .toList();
  }

  private static void isRefused(Runnable update, String why) {
    refused(ErrorCode.REFUSED_BY_PEERS, update::run).hasMessageContaining(why);
  }

  @Test
  void keyspaceThatDiffers_isRefusedAlone_byName_untilBothAgree() throws Exception {
    String same = "same { sla = 200ms }, ";
    try (Datacenter eu = eu("osier", same + "shop { partitions = 2 }")) {
      try (Datacenter us = us(same + "shop { partitions = 4 }, more {}");
          OsierClient atEu = client(eu);
          OsierClient atUs = client(us)) {
        Keyspace shop = atEu.session().keyspace("shop");
        atEu.session().keyspace("same").counter("c").increment(3);
        await().until(() -> atUs.session().keyspace("same").counter("c").get() == 3);
        await().until(() -> refusedKeyspaces(eu).contains("shop"));
        isRefused(() -> shop.counter("c").increment(1), "partitions is 2 at eu and 4 at us");
        assertThat(shop.counter("c").get()).as("reads go on").isZero();
        assertThat(get("/health").statusCode()).isEqualTo(503);
        await()
            .untilAsserted(
                () ->
                    assertThat(get("/health").body())
                        .contains("'shop'", "partitions is 2 at eu and 4 at us")
                        .contains("'more' is not replicated with us: not configured at eu for us"));
        await()
            .untilAsserted(
                () ->
                    assertThat(get("/metrics").body())
                        .contains("osier_keyspace_refused{keyspace=\"shop\",peer=\"us\"} 1.0")
                        .contains("osier_keyspace_refused{keyspace=\"same\",peer=\"us\"} 0.0"));
        await() // who is told by itself what eu has
            .untilAsserted(
                () -> assertThat(us.obstacles().toString()).contains("'shop'", "'more'"));
      }
      try (Datacenter us = us(same + "shop { partitions = 2 }");
          OsierClient atEu = client(eu);
          OsierClient atUs = client(us)) {
        await().until(() -> eu.obstacles().isEmpty());
        atEu.session().keyspace("shop").counter("c").increment(5);
        await().until(() -> atUs.session().keyspace("shop").counter("c").get() == 5);
        assertThat(get("/health").body()).isEqualTo("ready\n");
      }
    }
  }

  /** A name that is mistyped in the other's file is no removal: what is here is not old. */
  @Test
  void datacenterThatTheOtherOneDoesNotKnow_takesNoUpdates_butIsRead() {
    try (Datacenter eu = eu("osier", "shop {}");
        OsierClient atEu = client(eu)) {
      Keyspace shop = atEu.session().keyspace("shop");
      shop.counter("c").increment(1); // nobody is there yet
      try (Datacenter us =
          start("us", "osier", usPort, "eau", euPort, Optional.empty(), "shop {}")) {
        await().until(() -> refusedKeyspaces(eu).contains("shop"));
        isRefused(() -> shop.counter("c").increment(1), "'eu' is not among the peers [eau] of us");
        assertThat(shop.counter("c").get()).isEqualTo(1);
      }
    }
  }

  @Test
  void datacenterThatAllPeersRefuse_takesNoUpdates_butOneThatReachesNoneDoes() throws Exception {
    String keyspaces = "shop {}, bank { consistency = causal }";
    try (Datacenter eu = eu("other", keyspaces);
        OsierClient atEu = client(eu)) {
      Keyspace shop = atEu.session().keyspace("shop");
      shop.counter("c").increment(1); // nobody is there yet
      assertThat(get("/health").statusCode()).isEqualTo(200);
      try (Datacenter us = us(keyspaces)) {
        await().until(() -> refusedKeyspaces(eu).containsAll(List.of("shop", "bank")));
        isRefused(() -> shop.counter("c").increment(1), "'other' is not 'osier'");
        isRefused(
            () ->
                atEu.session()
                    .keyspace("bank")
                    .updateTogether(
                        List.of(
                            new Keyspace.Change(
                                "c", CrdtType.PN_COUNTER, new Operation.Increment(1)))),
            "us");
        assertThat(shop.counter("c").get()).isEqualTo(1);
        assertThat(get("/health").body()).contains("refused by every peer", "'other'");
        assertThat(us.replica().dc()).isEqualTo("us");
      }
    }
  }
}
