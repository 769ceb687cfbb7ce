package io.osier.proxy;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Refused;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AdminTest {
  private final List<Request> sent = new ArrayList<>();

  private void asks(
      Function<Admin, CompletableFuture<String>> call,
      String subject,
      String action,
      String name,
      Map<String, String> settings) {
    FakeInProcess eu = new FakeInProcess();
    eu.handler =
        (request, reply) -> {
          sent.add(request);
          reply.accept(new Reply.Report("{}"));
        };
    try (OsierClient client = OsierClient.inProcess(eu)) {
      assertThat(call.apply(client.admin()).join()).isEqualTo("{}");
    }
    assertThat(sent)
        .containsExactly(
            new AdminRequest.Administer(subject, action, name, new TreeMap<>(settings)));
    sent.clear();
  }

  @Test
  void datacenters_areListed_addedAndRemoved() {
    asks(Admin::listDatacentersAsync, "dc", "list", "", Map.of());
    asks(
        admin -> admin.addDatacenterAsync("ap", "ap.example:7401"),
        "dc",
        "add",
        "ap",
        Map.of("address", "ap.example:7401"));
    asks(admin -> admin.removeDatacenterAsync("ap", false), "dc", "remove", "ap", Map.of());
    asks(
        admin -> admin.removeDatacenterAsync("ap", true),
        "dc",
        "remove",
        "ap",
        Map.of("dead", "true"));
  }

  @ParameterizedTest
  @CsvSource({"shop, eu:1, shop@eu", "shop, likes, shop", "shop@eu, eu:1, shop@eu"})
  void keyIsAskedAbout_inItsHome(String keyspace, String key, String asked) {
    FakeInProcess eu = new FakeInProcess();
    eu.shop = new Partitioning(2, Partitioning.Hash.KEY, new Homes(List.of("eu")));
    eu.handler =
        (request, reply) -> {
          sent.add(request);
          reply.accept(new Reply.Report("{}"));
        };
    try (OsierClient client = OsierClient.inProcess(eu)) {
      client.admin().whyAsync(keyspace, Key.of(key)).join();
    }
    assertThat(sent)
        .singleElement()
        .extracting(why -> ((AdminRequest.Administer) why).settings())
        .isEqualTo(new TreeMap<>(Map.of("keyspace", asked)));
  }

  /** A client that was just built knows no homes yet. */
  @Test
  void keyIsAskedAbout_inItsHome_onceThatIsKnown() throws IOException {
    Partitioning homes = new Partitioning(2, Partitioning.Hash.KEY, new Homes(List.of("eu")));
    Reply.KeyspaceInfo shop = new Reply.KeyspaceInfo("shop", 2_000, homes, false);
    Function<Request, Reply> answers =
        request -> {
          sent.add(request);
          return new Reply.Report("{}");
        };
    try (FakeServer eu = FakeServer.of(new ReplicaId("eu", 1), List.of(shop), answers);
        OsierClient client = FakeServer.patient().endpoint("eu", eu.address()).build()) {
      client.admin().whyAsync("shop", Key.of("eu:1")).join();
    }
    assertThat(sent)
        .filteredOn(AdminRequest.Administer.class::isInstance)
        .singleElement()
        .extracting(why -> ((AdminRequest.Administer) why).settings())
        .isEqualTo(new TreeMap<>(Map.of("keyspace", "shop@eu")));
  }

  private static Reply carts(String placement) {
    return new Reply.Report(
        "{\"keyspaces\":[{\"name\":\"carts\",\"state\":\"active\",\"from\":\"command\",\"awaited\":[],"
            + placement
            + "\"replicas\":\"ap,eu\",\"sla\":\"2000ms\",\"changed_by\":\"\",\"changed_at_ms\":0}]}");
  }

  @Test
  void replicas_areNotAskedForAgain_whereTheyFollowTheLoad() {
    FakeInProcess eu = new FakeInProcess();
    for (String placement : List.of("adaptive", "pinned")) {
      eu.handler = (request, reply) -> reply.accept(carts("\"placement\":\"" + placement + "\","));
      try (OsierClient client = OsierClient.inProcess(eu)) {
        KeyspaceStatus there = client.admin().ensureKeyspace("carts", k -> k.replicas("eu", "us"));
        assertThat(there.settings()).containsEntry("replicas", "ap,eu");
      }
    }
    eu.handler = (request, reply) -> reply.accept(carts(""));
    try (OsierClient client = OsierClient.inProcess(eu)) {
      assertThatThrownBy(() -> client.admin().ensureKeyspace("carts", k -> k.replicas("eu", "us")))
          .is(Refused.with(ErrorCode.INVALID_ARGUMENT))
          .hasMessageContaining("replicas is ap,eu, not eu,us");
    }
  }

  @Test
  void firstCall_waitsUntilADatacenterIsConnected() throws IOException {
    Function<Request, Reply> answers =
        request ->
            request instanceof Request.Keyspaces
                ? new Reply.Keyspaces(FakeServer.SHOP, Reply.Elsewhere.NOTHING)
                : new Reply.Report("{}");
    try (FakeServer eu = FakeServer.of(new ReplicaId("eu", 1), FakeServer.SHOP, answers)) {
      try (OsierClient client = FakeServer.patient().endpoint("eu", eu.address()).build()) {
        assertThat(client.admin().listDatacentersAsync().join()).isEqualTo("{}");
      }
      try (OsierClient client = FakeServer.patient().endpoint("eu", eu.address()).build()) {
        assertThat(client.keyspacesAsync().join()).containsExactly("shop");
      }
    }
  }

  @Test
  void noDatacenter_isWaitedForWithinTheTimeLimit() {
    Steps steps = new Steps();
    Far eu = new Far("eu", 1);
    eu.up = false;
    OsierClient client = steps.client(OsierClient.builder(), eu);
    CompletableFuture<String> list = client.admin().listDatacentersAsync();
    steps.pass(999);
    assertThat(list).isNotDone();
    steps.pass(1);
    assertThat(Steps.codeOf(list)).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  @Test
  @SuppressWarnings("NullAway") // what is looked at is what a caller does wrong
  void whatIsMissing_isNamed() {
    try (OsierClient client = OsierClient.inProcess(new FakeInProcess())) {
      Admin admin = client.admin();
      refused(ErrorCode.INVALID_ARGUMENT, () -> admin.addDatacenterAsync(null, "ap:1"))
          .hasMessageContaining("a datacenter's name must be given");
      assertThatThrownBy(() -> admin.addDatacenterAsync("ap", null))
          .hasMessageContaining("a datacenter's address must be given");
      assertThatThrownBy(() -> admin.removeDatacenterAsync(null, true))
          .hasMessageContaining("a datacenter's name must be given");
    }
  }
}
