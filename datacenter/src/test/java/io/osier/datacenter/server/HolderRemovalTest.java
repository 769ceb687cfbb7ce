package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A datacenter of three gives up a keyspace that all hold, while clients use it everywhere. */
final class HolderRemovalTest {
  private static final String[] NAMES = {"ap", "eu", "us"};
  private static final String KEYSPACES = "pair { sla = 100ms, replicas = [ap, eu, us] }";

  @TempDir private Path folder;

  @AutoClose private final Opened open = new Opened();

  private int done;

  private static String listed(OsierClient client) {
    return client.admin().listKeyspacesAsync().join();
  }

  private List<Keyspace> all(TestCluster cluster) {
    List<Keyspace> all = new ArrayList<>();
    for (String name : NAMES) {
      all.add(cluster.clientOf(name).session().keyspace("pair"));
    }
    return all;
  }

  private void increment(List<Keyspace> all) {
    for (Keyspace pair : all) {
      pair.counter("c").increment(1);
      done++;
    }
  }

  private static void becomes(long expected, LongSupplier value) {
    await().untilAsserted(() -> assertThat(value.getAsLong()).isEqualTo(expected));
  }

  private void alter(TestCluster cluster, List<Keyspace> all, String replicas, String state) {
    OsierClient client = cluster.clientOf("eu");
    Map<String, String> to = Map.of("replicas", replicas);
    TestCluster.onceSettled(() -> client.admin().alterKeyspaceAsync("pair", to).join());
    boolean removes = state.isEmpty();
    for (long end = System.nanoTime() + Patience.LIMIT.toNanos();
        removes
            ? listed(client).contains("\"dc\":\"ap\"")
            : !listed(client).contains("\"ap\",\"state\":\"" + state + "\""); ) {
      increment(all);
      LockSupport.parkNanos(20_000_000);
      assertThat(System.nanoTime()).isLessThan(end);
    }
  }

  @Test
  void holderThatIsRemoved_losesNothing_andMayBeAddedAgain() {
    TestCluster cluster = open.add(new TestCluster(KEYSPACES, NAMES));
    List<Keyspace> all = all(cluster);
    Keyspace ap = all.getFirst();
    ap.boundedCounter("b").create(0, 90);
    ap.boundedCounter("b").increment(10);
    ap.set("s").add("x");
    alter(cluster, all, "eu,us", "");
    increment(all);
    Map<String, Reading.Share> shares = all.get(1).boundedCounter("b").rights().shares();
    assertThat(shares.get("ap")).isEqualTo(new Reading.Share(0, 0));
    assertThat(shares.values().stream().mapToLong(Reading.Share::up).sum()).isEqualTo(80);
    all.get(2).boundedCounter("b").increment(20);
    becomes(30, ap.boundedCounter("b")::get); // ap asks eu, which hears of it from us
    assertThat(ap.set("s").contains(Value.of("x"))).isTrue();
    all.get(1).boundedCounter("after").create(0, 10);
    assertThat(all.get(1).boundedCounter("after").rights().shares()).containsOnlyKeys("eu", "us");

    alter(cluster, all, "ap,eu,us", "holds");
    increment(all);
    ap.boundedCounter("again").create(0, 9);
    assertThat(ap.boundedCounter("again").rights().shares()).containsOnlyKeys("ap", "eu", "us");
    OsierClient client = cluster.clientOf("ap");
    cluster.stop("eu");
    cluster.stop("us");
    Keyspace alone = client.session().keyspace("pair");
    assertThat(alone.set("s").contains(Value.of("x"))).isTrue();
    assertThat(alone.boundedCounter("b").get()).isEqualTo(30);
    becomes(done, alone.counter("c")::get);
  }

  /** Its file says that it holds the keyspace, and what it had is on its disk. */
  @Test
  void holderThatStartsAgain_goesOn_andGivesNoNumberTwice() {
    TestCluster cluster =
        open.add(new TestCluster(KEYSPACES, "dir = \"" + folder + "\", durability = sync", NAMES));
    List<Keyspace> all = all(cluster);
    increment(all);
    OsierClient client = cluster.clientOf("eu");
    TestCluster.awaitSettled(client);
    cluster.stop("us"); // who must agree
    Map<String, String> two = Map.of("replicas", "eu,us");
    TestCluster.onceSettled(() -> client.admin().alterKeyspaceAsync("pair", two).join());
    cluster.stop("ap");
    assertThat(listed(client)).contains("\"dc\":\"ap\"");
    cluster.start("us");
    cluster.start("ap");
    alter(cluster, all, "eu,us", "");
    cluster.stop("ap");
    cluster.start("ap");
    increment(all);
    await() // eu may have known sooner than ap that ap has gone
        .untilAsserted(() -> assertThat(cluster.datacenter("ap").stored()).doesNotContain("pair"));
    alter(cluster, all, "ap,eu,us", "holds");
    increment(all);
    cluster.stop("ap");
    cluster.start("ap");
    increment(all);
    alter(cluster, all, "eu,us", "");
    for (Keyspace pair : all) { // what others did comes within δ
      becomes(done, pair.counter("c")::get);
    }
  }
}
