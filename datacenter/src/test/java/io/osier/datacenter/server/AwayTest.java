package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.scram.ScramCredential;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.EachConsistency;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is changed in {@code _osier} while a datacenter does not run holds there from its start. */
final class AwayTest {
  private static final Duration PATIENCE = Patience.LIMIT;
  private static final String USERS =
      "shop {} }, users { admin { credential = \""
          + ScramCredential.of("secret".toCharArray(), new byte[16], ScramCredential.ITERATIONS_MIN)
              .line()
          + "\", rights = [\"admin *\", \"read *\", \"write *\"] }";

  @TempDir private Path dir;
  @AutoClose private final Opened open = new Opened();

  private TestCluster cluster(String keyspaces, String... names) {
    return open.add(new TestCluster(keyspaces, "dir = \"" + dir + "\", durability = sync", names));
  }

  private OsierClient in(Datacenter datacenter) {
    return open.add(PatientClients.inProcess(datacenter.inProcess()));
  }

  private OsierClient.Builder at(TestCluster cluster, String name) {
    return PatientClients.of(name, cluster.clientPort(name));
  }

  private OsierClient as(String user, TestCluster cluster, String name) {
    return open.add(at(cluster, name).user(user, "secret".toCharArray()).build());
  }

  private static void create(OsierClient at, String consistency) {
    TreeMap<String, String> settings = new TreeMap<>(Map.of("consistency", consistency));
    TestCluster.onceSettled(() -> at.admin().createKeyspaceAsync("carts", settings).join());
  }

  private static void bob(OsierClient admin) {
    admin
        .admin()
        .users()
        .createAsync(
            "bob", Optional.of("secret".toCharArray()), List.of(Grant.onAll(Grant.Right.READ)))
        .join();
  }

  /** What was acknowledged in it would be nowhere when the name exists again. */
  @EachConsistency
  void keyspaceThatWasDroppedMeanwhile_takesNoUpdate(String consistency) {
    TestCluster cluster = cluster("shop {}", "eu", "us");
    OsierClient eu = in(cluster.datacenter("eu"));
    create(eu, consistency);
    await()
        .until(() -> cluster.datacenter("us").stored().stream().anyMatch(s -> s.contains("carts")));
    cluster.stop("us");
    eu.admin().dropKeyspaceAsync("carts").join();
    OsierClient us = in(cluster.startInReach("us"));
    refused(
        ErrorCode.UNKNOWN_KEYSPACE, () -> us.session().keyspace("carts").counter("c").increment(1));
  }

  /** The former creation's updates are not the new one's, and the first word names the new one. */
  @EachConsistency
  void keyspaceThatWasCreatedAnewMeanwhile_takesUpdatesOfTheNewOneOnly(String consistency) {
    TestCluster cluster = cluster("shop {}", "eu", "us");
    OsierClient eu = in(cluster.datacenter("eu"));
    create(eu, consistency);
    eu.session().keyspace("carts").counter("c").increment(100);
    cluster.stop("us");
    eu.admin().dropKeyspaceAsync("carts").join();
    create(eu, consistency);
    OsierClient us = in(cluster.startInReach("us"));
    us.session().keyspace("carts").counter("c").increment(1);
    cluster.awaitReady();
    for (OsierClient client : List.of(eu, us)) {
      await().until(() -> client.session().keyspace("carts").counter("c").get() == 1);
    }
  }

  /** Its file names no other datacenter: those that it stored count. */
  @Test
  void whoKnowsTheOthersOnlyFromItsStore_waitsForThemToo() {
    TestCluster cluster = cluster("", "eu");
    OsierClient first = in(cluster.datacenter("eu"));
    String place = cluster.place("us", "eu");
    TestCluster.onceSettled(() -> first.admin().addDatacenterAsync("us", place).join());
    cluster.start("us");
    cluster.awaitReady();
    OsierClient us = in(cluster.datacenter("us"));
    create(us, "session");
    await()
        .until(() -> cluster.datacenter("eu").stored().stream().anyMatch(s -> s.contains("carts")));
    cluster.stop("eu");
    us.admin().dropKeyspaceAsync("carts").join();
    OsierClient eu = in(cluster.startInReach("eu"));
    refused(
        ErrorCode.UNKNOWN_KEYSPACE, () -> eu.session().keyspace("carts").counter("c").increment(1));
  }

  @Test
  void limitThatWasLoweredMeanwhile_holdsForTheFirstUpdate() {
    TestCluster cluster = cluster("shop {}", "eu", "us");
    OsierClient eu = in(cluster.datacenter("eu"));
    cluster.stop("us");
    eu.admin().alterKeyspaceAsync("shop", Map.of("limits.key", "8B")).join();
    OsierClient us = in(cluster.startInReach("us"));
    refused(
        ErrorCode.KEY_TOO_LARGE,
        () -> us.session().keyspace("shop").counter("123456789").increment(1));
  }

  /** Returns a client of who may do everything, at the other datacenter. */
  private OsierClient usIsAwayAndKnowsBob(TestCluster cluster) {
    OsierClient admin = as("admin", cluster, "eu");
    admin.awaitConnected(PATIENCE);
    bob(admin);
    OsierClient before = as("bob", cluster, "us");
    await()
        .ignoreExceptions()
        .until(() -> before.session().keyspace("shop").counter("c").get() == 0);
    before.close();
    cluster.stop("us");
    return admin;
  }

  @Test
  void userWhoWasDroppedMeanwhile_isNotLetIn() {
    TestCluster cluster = cluster(USERS, "eu", "us");
    OsierClient admin = usIsAwayAndKnowsBob(cluster);
    admin.admin().users().dropAsync("bob").join();
    cluster.startInReach("us");
    OsierClient bob = as("bob", cluster, "us");
    refused(ErrorCode.NOT_AUTHENTICATED, () -> bob.awaitConnected(PATIENCE));
  }

  @Test
  void rightThatWasTakenMeanwhile_isNotThereAtTheFirstLogin() {
    TestCluster cluster = cluster(USERS, "eu", "us");
    OsierClient admin = usIsAwayAndKnowsBob(cluster);
    admin.admin().users().revokeAsync("bob", Grant.onAll(Grant.Right.READ)).join();
    cluster.startInReach("us");
    OsierClient bob = as("bob", cluster, "us");
    bob.awaitConnected(PATIENCE);
    refused(ErrorCode.FORBIDDEN, () -> bob.session().keyspace("shop").counter("c").get());
  }

  /** Each datacenter takes updates also where no other one can be reached, and says so. */
  @Test
  void whoHearsNobody_goesOnAndSaysSo_untilItHearsSomebody() {
    TestCluster cluster = cluster("shop {}", "eu", "us");
    cluster.stop("eu");
    cluster.stop("us");
    Datacenter us = cluster.start("us");
    in(us).session().keyspace("shop").counter("c").increment(1);
    assertThat(us.warnings())
        .singleElement()
        .asString()
        .contains("no other datacenter has answered");
    cluster.start("eu");
    await().until(() -> us.warnings().isEmpty());
  }

  /** It could not know of the drop: what is lost of what it acknowledged is told. */
  @EachConsistency
  void updatesOfAKeyspaceThatWasDroppedWhereNobodyWasInReach_areCounted_andNotInTheNextOne(
      String consistency) {
    TestCluster cluster = cluster("shop {}", "eu", "us");
    OsierClient eu = in(cluster.datacenter("eu"));
    create(eu, consistency);
    await()
        .until(() -> cluster.datacenter("us").stored().stream().anyMatch(s -> s.contains("carts")));
    cluster.stop("us");
    eu.admin().dropKeyspaceAsync("carts").join();
    cluster.stop("eu");
    Datacenter us = cluster.start("us");
    for (int i = 0; i < 3; i++) {
      in(us).session().keyspace("carts").counter("c").increment(1);
    }
    assertThat(us.droppedUpdates()).isZero();
    OsierClient again = in(cluster.start("eu"));
    await().until(() -> us.droppedUpdates() == 3);
    cluster.awaitReady();
    await()
        .ignoreExceptions()
        .until(
            () -> {
              create(again, consistency);
              return true;
            });
    await()
        .ignoreExceptions()
        .until(() -> in(us).session().keyspace("carts").counter("c").get() == 0);
    in(us).session().keyspace("carts").counter("c").increment(1);
    await().until(() -> again.session().keyspace("carts").counter("c").get() == 1);
  }

  /** Each is as old as the other, and none waits until its time is over: it would be too long. */
  @Test
  void allWhoStartAtOnce_hearEachOther() {
    TestCluster cluster = cluster("shop {}", "ap", "eu", "us");
    for (String name : List.of("ap", "eu", "us")) {
      cluster.stop(name);
    }
    for (String name : List.of("ap", "eu", "us")) {
      cluster.startInReach(name);
    }
    cluster.awaitReady();
    for (String name : List.of("ap", "eu", "us")) {
      assertThat(cluster.datacenter(name).warnings()).isEmpty();
    }
  }
}
