package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.store.files.DamagedStore;
import io.osier.datacenter.store.files.StoreFiles;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Scan;
import io.osier.testing.EachConsistency;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is damaged of a store comes back from a peer with the next start. */
final class MendedDatacenterTest extends DurableFixture {
  private static final int OBJECTS = 5_000;
  private static final int READ = 100;

  private TestCluster cluster(String consistency) {
    return withKeyspaces("shop { partitions = 1, consistency = " + consistency + " }");
  }

  private TestCluster withKeyspaces(String keyspaces) {
    String store = "dir = \"" + dir + "\", durability = sync, cache = 1MiB, min-free = 64MiB";
    // What cannot be read cannot be shipped either.
    store += " }, shutdown-timeout = 500ms, streams {";
    return new TestCluster(keyspaces, store, new String[] {"eu", "us"});
  }

  private static String key(int i) {
    return "k%06d".formatted(i);
  }

  private static Value value(int i) {
    return Value.of(i + "v".repeat(200));
  }

  private static void write(TestCluster cluster, int objects) {
    write(cluster, "eu", objects);
  }

  private static void write(TestCluster cluster, String dc, int objects) {
    try (OsierClient client = cluster.client(dc)) {
      List<Keyspace.Change> changes = new ArrayList<>();
      for (int i = 0; i < objects; i++) {
        Value value = value(i);
        changes.add(
            new Keyspace.Change(key(i), CrdtType.LWW_REGISTER, new Operation.Assign(value)));
      }
      for (int from = 0; from < objects; from += 500) {
        shop(client).updateAll(changes.subList(from, from + 500));
      }
    }
  }

  private static void awaitAll(TestCluster cluster, String dc, int objects) {
    try (OsierClient client = cluster.client(dc)) {
      await().ignoreExceptions().until(() -> shop(client).count(Scan.all()) == objects);
    }
  }

  private static void awaitValue(OsierClient client, String key, String value) {
    await().until(() -> shop(client).register(key).get().equals(Optional.of(Value.of(value))));
  }

  /** All but the first two and one more. */
  private static void assertUnchanged(Keyspace shop, String butFor) {
    int unchanged = 0;
    try (Stream<Keyspace.Row> rows = shop.scan(Scan.prefix("k"))) {
      for (Keyspace.Row row : (Iterable<Keyspace.Row>) rows::iterator) {
        String key = row.key().toString();
        int i = Integer.parseInt(key.substring(1));
        if (i >= 2 && !key.equals(butFor)) {
          assertThat(row.value()).isEqualTo(new Reading.Single(Optional.of(value(i))));
          unchanged++;
        }
      }
    }
    assertThat(unchanged).isEqualTo(OBJECTS - 3);
  }

  /** The first key that cannot be read at eu. */
  private static String firstDamaged(TestCluster cluster) {
    try (OsierClient client = cluster.clientOf("eu")) {
      Keyspace shop = shop(client);
      for (int from = 2; from < OBJECTS; from += READ) {
        List<String> keys =
            IntStream.range(from, Math.min(OBJECTS, from + READ)).mapToObj(i -> key(i)).toList();
        if (!isDamaged(() -> shop.getAll(keys))) {
          continue;
        }
        for (String key : keys) {
          if (isDamaged(() -> shop.register(key).get())) {
            return key;
          }
        }
      }
    }
    throw new AssertionError("all can be read");
  }

  private static boolean isDamaged(Runnable read) {
    try {
      read.run();
      return false;
    } catch (OsierException e) {
      assertThat(e.code()).isEqualTo(ErrorCode.STORE_DAMAGED);
      return true;
    }
  }

  private Path eu() {
    return dir.resolve("eu");
  }

  @EachConsistency
  void damage_isMendedFromAPeer_withTheNextStart(String consistency) throws Exception {
    try (TestCluster cluster = cluster(consistency)) {
      write(cluster, OBJECTS);
      awaitAll(cluster, "us", OBJECTS);
      ReplicaId before = cluster.replica("eu");
      cluster.stop("eu");
      DamagedStore.damageOneBlock(eu());
      cluster.start("eu");
      cluster.awaitReady();
      try (OsierClient client = cluster.client("eu")) {
        refused(ErrorCode.STORE_DAMAGED, () -> shop(client).count(Scan.all()));
        shop(client).register(key(1)).assign("a new one");
        shop(client).register(key(1)).get();
      }
      try (OsierClient client = cluster.client("us")) {
        awaitValue(client, key(1), "a new one");
      }
      String damaged = firstDamaged(cluster);
      try (OsierClient client = cluster.client("us")) {
        shop(client).register(damaged).assign("from us"); // eu cannot join that to what it has
        shop(client).register("another").assign("from us");
      }
      assertThat(cluster.datacenter("eu").failure()).isNotDone();
      awaitNoneLogged(cluster); // what is in the log of own updates is not mended
      cluster.stop("eu");
      cluster.start("eu");
      cluster.awaitReady();
      assertThat(cluster.replica("eu").incarnation()).isGreaterThan(before.incarnation());
      awaitAll(cluster, "eu", OBJECTS + 1);
      for (String dc : List.of("eu", "us")) {
        try (OsierClient client = cluster.client(dc)) {
          awaitValue(client, key(1), "a new one");
          awaitValue(client, damaged, "from us");
          assertUnchanged(shop(client), damaged);
        }
      }
      cluster.stop("eu");
      assertThat(StoreFiles.verify(eu()).bytes()).isPositive();
      assertThat(eu().resolve("damaged")).doesNotExist();
    }
  }

  /** What everybody has leaves the log at once where damage is known: it is not worth it else. */
  @Test
  void ownUpdatesThatWereJustMade_areMended_onceEverybodyHasThem() throws Exception {
    try (TestCluster cluster = cluster("session")) {
      write(cluster, 500); // fewer than are dropped from the log otherwise
      awaitAll(cluster, "us", 500);
      stopAndDamage(cluster);
      assertThat(catchThrowableOfType(OsierException.class, () -> mend())).isNotNull();
      cluster.start("eu"); // is not mended so far
      cluster.awaitReady();
      firstDamaged(cluster);
      await()
          .pollInterval(Duration.ofSeconds(1))
          .until(
              () -> {
                cluster.stop("eu");
                boolean isMended = isMendedNow();
                cluster.start("eu");
                cluster.awaitReady();
                if (!isMended) {
                  firstDamaged(cluster); // it is known again
                  assertThat(cluster.datacenter("eu").failure()).isNotDone();
                }
                return isMended;
              });
      awaitAll(cluster, "eu", 500);
    }
  }

  /** Waits until eu knows that us has all of its updates, and has dropped them from its log. */
  private static void awaitNoneLogged(TestCluster cluster) {
    try (OsierClient client = cluster.clientOf("eu")) {
      await()
          .untilAsserted(
              () ->
                  assertThat(
                          client
                              .inspectAsync("eu", Request.Topic.STAT, Optional.of("shop"), 0)
                              .join())
                      .contains("\"log_entries\":0"));
    }
  }

  private void stopAndDamage(TestCluster cluster) throws Exception {
    cluster.stop("eu");
    DamagedStore.damageOneBlock(eu());
    Files.createFile(eu().resolve("damaged"));
  }

  private boolean isMendedNow() {
    try {
      return mend().isPresent();
    } catch (OsierException e) {
      return false; // an own update is still in the log
    }
  }

  private Optional<String> mend() {
    return StoreFiles.mend(eu(), 1_000_000, keyspace -> true);
  }

  private static void setHolders(TestCluster cluster, String holders, String listed) {
    try (OsierClient client = cluster.client("us")) {
      Map<String, String> to = Map.of("replicas", holders);
      TestCluster.onceSettled(() -> client.admin().alterKeyspaceAsync("shop", to).join());
      await().until(() -> client.admin().listKeyspacesAsync().join().contains(listed));
    }
  }

  /** Its store has updates of two terms of one life, in {@code _osier} and the keyspace. */
  @Test
  void holderThatWasAddedAgain_isMended_inItsTerm() throws Exception {
    try (TestCluster cluster =
        withKeyspaces("shop { partitions = 1, sla = 100ms, replicas = [eu, us] }")) {
      setHolders(cluster, "us", "\"holders\":[{\"dc\":\"us\",\"state\":\"holds\"}]");
      setHolders(cluster, "eu,us", "\"eu\",\"state\":\"holds\"");
      try (OsierClient client = cluster.clientOf("eu")) {
        shop(client).register("zz").assign("from eu");
      }
      write(cluster, "us", OBJECTS);
      awaitAll(cluster, "eu", OBJECTS + 1);
      awaitAll(cluster, "us", OBJECTS + 1);
      ReplicaId before = cluster.replica("eu");
      stopAndDamage(cluster);
      cluster.start("eu");
      cluster.awaitReady();
      assertThat(cluster.replica("eu").incarnation()).isGreaterThan(before.incarnation());
      awaitAll(cluster, "eu", OBJECTS + 1);
      assertThat(eu().resolve("damaged")).doesNotExist();
    }
  }

  /** A peer may lack it, so it is not dropped: whoever runs the datacenter decides. */
  @Test
  void ownUpdatesThatAPeerMayLack_areNotGivenUp() throws Exception {
    try (TestCluster cluster = cluster("session")) {
      cluster.stop("us");
      write(cluster, OBJECTS);
      stopAndDamage(cluster);
      refused(ErrorCode.STORE_DAMAGED, this::mend)
          .hasMessageContaining("own update")
          .hasMessageContaining("osier rebuild");
      assertThat(eu().resolve("db.mending")).doesNotExist();
      assertThat(eu().resolve("damaged")).exists();
    }
  }

  /** It would never come back, and its keys would be missing without a word. */
  @Test
  void whatNoOtherDatacenterHolds_isNotMended() throws Exception {
    try (TestCluster cluster = withKeyspaces("shop { partitions = 1, replicas = [eu] }")) {
      write(cluster, OBJECTS);
      stopAndDamage(cluster);
      cluster.start("eu");
      cluster.awaitReady();
      firstDamaged(cluster);
      cluster.stop("eu");
      assertThat(eu().resolve("damaged")).exists();
    }
  }

  /** What the file says of datacenters is not all: the store says who of them has gone. */
  @Test
  void whatARemovedDatacenterHeld_isNotMended() throws Exception {
    try (TestCluster cluster = cluster("session")) {
      write(cluster, OBJECTS);
      awaitAll(cluster, "us", OBJECTS);
      cluster.stop("us");
      try (OsierClient client = cluster.client("eu")) {
        await()
            .ignoreExceptions() // until it is seen that it has gone
            .until(() -> !client.admin().removeDatacenterAsync("us", true).join().isEmpty());
        await().until(() -> client.admin().listDatacentersAsync().join().contains("\"removed\""));
      }
      stopAndDamage(cluster);
      cluster.start("eu");
      cluster.awaitReady();
      firstDamaged(cluster);
    }
  }
}
