package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.InvalidRequestException;
import io.osier.proxy.Admin;
import io.osier.proxy.DatacenterStatus;
import io.osier.proxy.Keyspace;
import io.osier.proxy.KeyspaceStatus;
import io.osier.proxy.OsierClient;
import io.osier.proxy.UserStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Administering with types, of two datacenters. */
final class TypedAdminTest {
  private static TestCluster cluster;
  private static OsierClient eu;
  private static OsierClient us;

  @BeforeAll
  static void start() {
    cluster = new TestCluster("shop { sla = 1s }", new String[] {"eu", "us"});
    eu = cluster.client("eu");
    us = cluster.client("us");
    for (OsierClient client : List.of(eu, us)) {
      TestCluster.awaitSettled(client);
    }
  }

  @AfterAll
  static void stop() {
    eu.close();
    us.close();
    cluster.close();
  }

  private static Optional<KeyspaceStatus> find(Admin admin, String name) {
    return admin.keyspaces().stream().filter(k -> k.name().equals(name)).findFirst();
  }

  @Test
  void ensuredKeyspace_isCreated_leftAsItIs_orAltered() {
    Admin admin = eu.admin();
    KeyspaceStatus created =
        admin.ensureKeyspace(
            "carts", k -> k.sla(Duration.ofMillis(500)).partitions(3).hashedByTag());
    assertThat(created.settings())
        .containsEntry("sla", "500ms")
        .containsEntry("partitions", "3")
        .containsEntry("hash", "tag");
    assertThat(created.isCausal()).isFalse();
    assertThat(created.fromFile()).isFalse();
    // The answer comes after three seconds, and a slow machine may need longer.
    await().until(() -> find(admin, "carts").orElseThrow().isActive());
    Keyspace carts = eu.session().keyspace("carts");
    carts
        .program()
        .update(
            all -> List.of("{c}1", "{c}2", "{c}3", "{c}4").forEach(k -> all.counter(k).increment()))
        .run();
    KeyspaceStatus again =
        admin.ensureKeyspace("carts", k -> k.sla(Duration.ofMillis(500)).session().replicas());
    assertThat(again.changedAt()).as("nothing was changed").isEqualTo(created.changedAt());
    assertThat(again.settings()).isEqualTo(created.settings());
    await().until(() -> find(us.admin(), "carts").isPresent());
    KeyspaceStatus altered =
        us.admin().ensureKeyspace("carts", k -> k.sla(Duration.ofSeconds(2)).keyBytesMax(2_048));
    assertThat(altered.settings())
        .containsEntry("sla", "2000ms")
        .containsEntry("limits.key", "2048B")
        .containsEntry("partitions", "3");
    admin.dropKeyspace("carts");
    assertThat(find(admin, "carts")).isEmpty();
  }

  @Test
  void ensuredKeyspace_thatCannotBeSo_isRefused_andUntouched() {
    Admin admin = eu.admin();
    KeyspaceStatus shop = find(admin, "shop").orElseThrow();
    assertThat(shop.fromFile()).isTrue();
    assertThat(shop.isActive()).isTrue();
    assertThatThrownBy(
            () -> admin.ensureKeyspace("shop", k -> k.causal().sla(Duration.ofMillis(7))))
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("'shop' exists already")
        .hasMessageContaining("consistency is session, not causal");
    assertThatThrownBy(() -> admin.ensureKeyspace("shop", k -> k.hashedByTag()))
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("hash is key, not tag");
    assertThat(find(admin, "shop").orElseThrow().settings()).isEqualTo(shop.settings());
    assertThatThrownBy(() -> admin.ensureKeyspace("new", k -> k.partitions(0)))
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("partitions");
    assertThat(find(admin, "new")).isEmpty();
  }

  @Test
  void ensuredKeyspace_byManyAtOnce_isThereOnce() {
    List<KeyspaceStatus> all =
        List.of(1, 2, 3, 4).stream()
            .map(i -> eu.admin().ensureKeyspaceAsync("many", k -> k.sla(Duration.ofSeconds(1))))
            .toList()
            .stream()
            .map(ensured -> ensured.join())
            .toList();
    assertThat(all).allMatch(k -> "1000ms".equals(k.settings().get("sla")));
    assertThat(all.stream().map(KeyspaceStatus::changedAt).distinct()).hasSize(1);
  }

  @Test
  void createdAndAltered_tellWhatIsWrong() {
    Admin admin = eu.admin();
    assertThat(admin.createKeyspace("wallet", k -> k.causal()).isCausal()).isTrue();
    refused(ErrorCode.INVALID_ARGUMENT, () -> admin.createKeyspace("wallet", k -> k.causal()));
    assertThat(admin.alterKeyspace("wallet", k -> k.history(Duration.ofSeconds(30))).settings())
        .containsEntry("history", "30000ms");
    refused(
        ErrorCode.UNKNOWN_KEYSPACE, () -> admin.alterKeyspace("none", k -> k.sla(Duration.ZERO)));
  }

  @Test
  void staleReads_areAmongTheSettingsWhereTheyAreAllowed() {
    Admin admin = eu.admin();
    Duration allowed = Duration.ofMinutes(5);
    assertThat(admin.createKeyspace("stale", k -> k.staleReads(allowed)).settings())
        .containsEntry("stale-reads", "300000ms");
    assertThat(admin.alterKeyspace("stale", k -> k.staleReads(Duration.ZERO)).settings())
        .doesNotContainKey("stale-reads");
    assertThat(admin.alterKeyspace("shop", k -> k.staleReads(allowed)).settings())
        .as("one of the file")
        .containsEntry("stale-reads", "300000ms");
    assertThatThrownBy(() -> admin.alterKeyspace("stale", k -> k.staleReads(Duration.ofSeconds(9))))
        .isExactlyInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("stale-reads must be 0 (off), or 10 s to 24 h, not 9000 ms");
  }

  @Test
  void datacentersAndUsers_haveTypes() {
    List<DatacenterStatus> all = us.admin().datacenters();
    assertThat(all.stream().map(DatacenterStatus::name)).containsExactly("eu", "us");
    assertThat(all).allMatch(dc -> dc.state() == DatacenterStatus.State.ACTIVE);
    assertThat(us.admin().users().all().stream().filter(UserStatus::hasPassword)).isEmpty();
  }

  @Test
  void users_areMadeAndListed() {
    try (TestCluster one = new TestCluster("shop { sla = 1s }", new String[] {"eu"});
        OsierClient client = one.client("eu")) {
      Grant right = Grant.parse("write shop cart:");
      client.admin().users().create("checkout", "a password".toCharArray(), right);
      client.admin().users().grant("checkout", Grant.parse("read shop"));
      UserStatus made =
          client.admin().users().all().stream()
              .filter(u -> u.name().equals("checkout"))
              .findFirst()
              .orElseThrow();
      assertThat(made.hasPassword()).isTrue();
      assertThat(made.rights()).contains(right, Grant.parse("read shop"));
      assertThat(made.madeAt()).isPresent();
      client.admin().users().drop("checkout");
      assertThat(client.admin().users().all().stream().map(UserStatus::name))
          .doesNotContain("checkout");
    }
  }
}
