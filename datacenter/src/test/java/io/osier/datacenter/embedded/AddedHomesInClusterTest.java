package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.InvalidRequestException;
import io.osier.core.Key;
import io.osier.core.TransientException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.KeyspaceStatus;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Scan;
import io.osier.proxy.Session;
import io.osier.proxy.Watch;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * Homes are added to keyspaces of three datacenters, which eu and us hold, while clients of all
 * three write, in their processes and by network.
 */
final class AddedHomesInClusterTest {
  @AutoClose
  private static final EmbeddedCluster cluster = new EmbeddedCluster("shop { sla = 100ms }");

  @AutoClose private final Opened open = new Opened();

  private static void create(String keyspace) {
    cluster
        .dc("eu")
        .client()
        .admin()
        .createKeyspace(
            keyspace,
            k -> k.homes("us").partitions(2).replicas("eu", "us").sla(Duration.ofMillis(100)));
    EmbeddedCluster.NAMES.forEach(dc -> await().until(() -> isOpen(dc, keyspace + "@us")));
  }

  /** Asks until it may: all must have heard of the last change. */
  private static void add(String keyspace, String... homes) {
    await()
        .ignoreExceptionsMatching(
            e -> e instanceof InvalidRequestException || e instanceof TransientException)
        .until(
            () ->
                cluster
                    .dc("ap")
                    .client()
                    .admin()
                    .alterKeyspace(keyspace, k -> k.homes(homes))
                    .name()
                    .equals(keyspace));
  }

  private static boolean isOpen(String dc, String keyspace) {
    return cluster.dc(dc).client().admin().keyspaces().stream()
        .anyMatch(k -> k.name().equals(keyspace) && k.isActive());
  }

  private static String adding(String keyspace) {
    return cluster.dc("us").client().admin().keyspaces().stream()
        .filter(k -> k.name().equals(keyspace))
        .map(KeyspaceStatus::settings)
        .map(settings -> settings.getOrDefault("adding", ""))
        .findFirst()
        .orElseThrow();
  }

  /** In the process and by network. */
  private List<Session> sessions() {
    List<Session> sessions = new ArrayList<>();
    for (String dc : EmbeddedCluster.NAMES) {
      sessions.add(cluster.dc(dc).session());
      OsierClient client = open.add(PatientClients.of(dc, cluster.dc(dc).clientPort()).build());
      client.awaitConnected(Patience.LIMIT);
      sessions.add(client.session());
    }
    return sessions;
  }

  private static List<String> scanned(Keyspace carts) {
    return carts.scan(Scan.all().pageRows(3)).map(row -> row.key().toString()).toList();
  }

  private static long sum(Keyspace keyspace, String key) {
    return keyspace.counter(key).get();
  }

  @Test
  void home_isAddedWhileAllWriteOtherKeys() {
    create("carts");
    List<Keyspace> all = sessions().stream().map(s -> s.keyspace("carts")).toList();
    Queue<String> told = new ConcurrentLinkedQueue<>();
    List<Watch.Watching> watching = new ArrayList<>();
    for (Keyspace carts : all) {
      watching.add(
          carts.changes().listen(c -> c.changes().forEach(of -> told.add(of.key().toString()))));
    }
    watching.forEach(w -> w.begun().join());
    OsierClient keeping =
        open.add(
            PatientClients.of("us", cluster.dc("us").clientPort())
                .cache(Duration.ofMillis(1), 1_000)
                .cacheFollowing("carts", "", Duration.ofDays(1))
                .build());
    keeping.awaitConnected(Patience.LIMIT);
    Keyspace kept = keeping.session().keyspace("carts");
    int[] rounds = {0};
    Runnable round =
        () -> {
          rounds[0]++;
          for (Keyspace carts : all) {
            carts.counter("plain").increment(1);
            carts.counter("us:all").increment(1);
            assertThat(carts.counter("sa:1").get()).as("nobody has it").isZero();
          }
          assertThat(kept.counter("sa:1").get()).as("and that is kept").isZero();
        };
    round.run();
    add("carts", "us", "sa");
    for (String dc : EmbeddedCluster.NAMES) {
      await()
          .until(
              () -> {
                round.run();
                return isOpen(dc, "carts@sa");
              });
    }
    round.run();
    for (Keyspace carts : all) { // those by network have not been told of the home
      carts.updateAll(
          batch -> {
            batch.set("cart:{sa}:2").add("x");
            batch.set("plain2").add("x");
          });
      carts.counter("sa:1").increment(1);
      assertThat(sum(carts, "sa:1")).isPositive();
    }
    for (Keyspace carts : all) {
      await()
          .untilAsserted(
              () -> {
                assertThat(sum(carts, "plain")).isEqualTo((long) rounds[0] * all.size());
                assertThat(sum(carts, "us:all")).isEqualTo((long) rounds[0] * all.size());
                assertThat(sum(carts, "sa:1")).isEqualTo(all.size());
                assertThat(scanned(carts))
                    .containsExactly("cart:{sa}:2", "plain", "plain2", "sa:1", "us:all");
              });
    }
    await().untilAsserted(() -> assertThat(sum(kept, "sa:1")).isEqualTo(all.size()));
    for (Keyspace home : sessions().stream().map(s -> s.keyspace("carts@sa")).toList()) {
      assertThat(scanned(home)).containsExactly("cart:{sa}:2", "sa:1");
    }
    await()
        .untilAsserted(
            () ->
                assertThat(told.stream().filter(key -> key.equals("sa:1")).count())
                    .as("each watcher has heard of it")
                    .isGreaterThanOrEqualTo(all.size()));
  }

  @Test
  void homeThatWouldTakeAKey_isNotAdded_andNothingIsLost() {
    create("bags");
    List<Keyspace> all = sessions().stream().map(s -> s.keyspace("bags")).toList();
    all.forEach(bags -> bags.counter("sa:1").increment(1));
    add("bags", "us", "sa");
    await().until(() -> adding("bags").contains("sa not added"));
    assertThat(adding("bags")).contains("has key 'sa:1' in 'bags'");
    assertThat(isOpen("eu", "bags@sa")).isFalse();
    all.forEach(bags -> bags.counter("sa:1").increment(1));
    for (Keyspace bags : all) {
      await().untilAsserted(() -> assertThat(sum(bags, "sa:1")).isEqualTo(2L * all.size()));
    }
    // Once it is deleted everywhere there is no such key.
    all.getFirst().delete("sa:1");
    for (Keyspace bags : all) {
      await().untilAsserted(() -> assertThat(sum(bags, "sa:1")).isZero());
    }
    add("bags", "us", "sa");
    EmbeddedCluster.NAMES.forEach(dc -> await().until(() -> isOpen(dc, "bags@sa")));
    all.forEach(bags -> bags.counter("sa:1").increment(1));
    for (Keyspace bags : all) {
      await().untilAsserted(() -> assertThat(sum(bags, "sa:1")).isEqualTo(all.size()));
    }
  }

  /** Whatever comes of the addition, what was acknowledged is there, in one home. */
  @Test
  void updatesOfKeysThatTheHomeWouldTake_areRefusedOrFound() throws Exception {
    create("boxes");
    List<Keyspace> all = sessions().stream().map(s -> s.keyspace("boxes")).toList();
    Map<String, AtomicInteger> done = new ConcurrentHashMap<>();
    AtomicBoolean ends = new AtomicBoolean();
    AtomicInteger begun = new AtomicInteger();
    List<Thread> writers = new ArrayList<>();
    for (Keyspace boxes : all) {
      writers.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    for (int i = 0; !ends.get(); i++) {
                      begun.incrementAndGet();
                      String key = i % 2 == 0 ? "plain" : "sa:" + i;
                      if (key.equals("plain") || begun.get() > 3_000) {
                        boxes.counter(key).increment(1); // waits while it is refused
                        done.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
                      }
                    }
                  }));
    }
    await().until(() -> begun.get() > 2_000);
    add("boxes", "us", "sa");
    await()
        .until(
            () ->
                begun.get() > 4_000
                    && (adding("boxes").contains("not added") || isOpen("us", "boxes@sa")));
    ends.set(true);
    for (Thread writer : writers) {
      writer.join(Patience.LIMIT);
    }
    assertThat(writers).noneMatch(Thread::isAlive);
    assertThat(done).containsKey("plain");
    for (Keyspace boxes : all) {
      await()
          .untilAsserted(
              () ->
                  done.forEach((key, n) -> assertThat(sum(boxes, key)).as(key).isEqualTo(n.get())));
    }
    boolean isAdded = isOpen("us", "boxes@sa");
    List<Key> ofDefault = all.getFirst().scan(Scan.all()).map(Keyspace.Row::key).toList();
    assertThat(ofDefault).doesNotHaveDuplicates().hasSize(done.size());
    if (isAdded) {
      assertThat(scanned(cluster.dc("us").session().keyspace("boxes@sa"))).hasSize(done.size() - 1);
    }
  }
}
