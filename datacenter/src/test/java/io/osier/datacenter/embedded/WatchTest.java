package io.osier.datacenter.embedded;

import static io.osier.datacenter.embedded.Ways.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.Changes;
import io.osier.proxy.Changes.Change;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Scan;
import io.osier.proxy.Watch;
import io.osier.proxy.WatchPosition;
import io.osier.proxy.values.Values;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Watchers of changes, by network and in the process, as a stranger uses them. */
final class WatchTest {
  private static final String KEYSPACES =
      "shop { sla = 200ms, partitions = 3 }, bank { sla = 200ms, consistency = causal }";

  /** So few changes are kept that a watcher is soon too slow. */
  private static final String LITTLE = "dir = \"\" }, memory { changes = 64KiB";

  @AutoClose private static final Ways ways = new Ways(KEYSPACES, LITTLE, Values.plain());

  /** A watcher that notes what it is told. */
  private static final class Told {
    final Queue<Changes> groups = new ConcurrentLinkedQueue<>();
    final Watch.Watching watching;

    Told(Watch watch) {
      watching = watch.listen(groups::add);
      watching.begun().orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }

    List<Change> all() {
      return groups.stream().flatMap(g -> g.changes().stream()).toList();
    }

    long count(String key) {
      return all().stream().filter(c -> c.key().equals(Key.of(key))).count();
    }

    Set<Key> keys() {
      assertThat(watching.ended()).isNotCompletedExceptionally();
      return all().stream().map(Change::key).collect(Collectors.toSet());
    }

    void awaitKey(String key) {
      await().until(() -> count(key) > 0);
    }
  }

  private static void failed(ErrorCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .satisfies(
            e -> {
              Throwable cause = e instanceof CompletionException ? e.getCause() : e;
              assertThat(cause).isInstanceOf(OsierException.class);
              assertThat(((OsierException) cause).code()).as("%s", cause).isEqualTo(code);
            });
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "network, bank", "embedded, shop", "embedded, bank"})
  void changes_areTold_ofAKey_aPrefix_andAll(String how, String name) {
    Keyspace here = ways.here(how, name);
    here.counter("told:before").increment();
    Told key = new Told(here.watch("told:1"));
    Told prefix = new Told(here.watchPrefix("told:"));
    Told all = new Told(here.changes());
    here.counter("told:1").increment();
    here.counter("told:2").increment();
    here.counter("tole:1").increment();
    ways.there(how, name).set("told:3").add("x");
    ways.there(how, name).set("told:1x").add("x");
    for (Told told : List.of(prefix, all)) {
      told.awaitKey("told:3");
      told.awaitKey("told:1x");
      told.awaitKey("told:1");
      told.awaitKey("told:2");
      assertThat(told.all())
          .contains(
              new Change(Key.of("told:1"), Optional.of(CrdtType.PN_COUNTER), Optional.of("eu")));
      Change ofUs = new Change(Key.of("told:3"), Optional.of(CrdtType.AW_SET), Optional.of("us"));
      await()
          .until(
              () -> {
                // Where it was late it has come as a state, which has no origin.
                ways.there(how, name).set("told:3").add("once more");
                return told.all().contains(ofUs);
              });
      assertThat(told.all())
          .filteredOn(c -> c.key().equals(ofUs.key()))
          .allMatch(c -> c.equals(ofUs) || c.origin().isEmpty());
      assertThat(told.count("told:before")).isZero();
    }
    all.awaitKey("tole:1");
    assertThat(prefix.count("tole:1")).isZero();
    key.awaitKey("told:1");
    assertThat(key.all()).allMatch(c -> c.key().equals(Key.of("told:1"))).hasSize(1);
    ways.there(how, name).counter("told:1").increment();
    await().until(() -> key.count("told:1") == 2);
    for (Told told : List.of(key, prefix, all)) {
      told.watching.close();
      told.watching.ended().join();
    }
    int before = all.groups.size();
    here.counter("told:2").increment();
    new Told(here.watch("told:2").fromTheBeginning()).awaitKey("told:2");
    assertThat(all.groups).as("it was closed").hasSize(before);
  }

  /** Nothing is missed between what there was and what comes, while others write. */
  @ParameterizedTest
  @CsvSource({"network, shop", "network, bank", "embedded, shop", "embedded, bank"})
  void fromTheBeginning_thereIsNoGap(String how, String name) throws InterruptedException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Keyspace here = ways.here(how, name);
    CountDownLatch some = new CountDownLatch(300);
    List<Thread> writers = new ArrayList<>();
    for (Keyspace at : List.of(ways.here(how, name), ways.there(how, name))) {
      long own = random.nextLong();
      writers.add(
          Thread.startVirtualThread(
              () -> {
                Random drawn = new Random(own);
                for (int i = 0; i < 1_500; i++) {
                  at.counter("gap:" + drawn.nextInt(400)).increment();
                  some.countDown();
                }
              }));
    }
    some.await();
    Map<Key, Long> mirror = new ConcurrentHashMap<>();
    Following following =
        new Following(
            here.watchPrefix("gap:"),
            told ->
                told.changes()
                    .forEach(c -> mirror.put(c.key(), here.counter(c.key().toString()).get())));
    for (Thread writer : writers) {
      writer.join();
    }
    await()
        .untilAsserted(
            () -> {
              Map<Key, Long> there = new TreeMap<>();
              try (Stream<Keyspace.Row> rows = here.scan(Scan.prefix("gap:"))) {
                rows.forEach(r -> there.put(r.key(), ((Reading.Count) r.value()).value()));
              }
              assertThat(new TreeMap<>(mirror))
                  .as("seed %d, %s", seed, following.watching.ended())
                  .isEqualTo(there);
            });
    following.watching.close();
  }

  /** It may be cut off before it is told the first time. */
  @Test
  void whoGoesOnFromAPosition_hasItBeforeItIsTold() {
    Told told = new Told(ways.here("embedded", "shop").watch("begins"));
    WatchPosition position =
        told.watching.begun().thenApply(b -> told.watching.position()).join().get();
    Watch again = ways.here("embedded", "shop").watch("begins").from(position);
    try (Watch.Watching untold = again.on(task -> {}).listen(c -> {})) {
      assertThat(untold.position().orElseThrow().encode()).isEqualTo(position.encode());
    }
    told.watching.close();
  }

  /** A watcher that goes on where it was cut off. */
  private static final class Following {
    private final Watch watch;
    private final Consumer<Changes> callback;
    volatile Watch.Watching watching;

    Following(Watch watch, Consumer<Changes> callback) {
      this.watch = watch;
      this.callback = callback;
      this.watching = follow(watch.fromTheBeginning());
    }

    private Watch.Watching follow(Watch from) {
      Watch.Watching follows = from.listen(callback);
      follows
          .ended()
          .exceptionally(
              e -> {
                if (e instanceof OsierException o && o.code() == ErrorCode.WATCHER_TOO_SLOW) {
                  watching =
                      follow(
                          follows.position().map(watch::from).orElseGet(watch::fromTheBeginning));
                }
                return null;
              });
      return follows;
    }
  }

  /** Who never asks keeps nobody waiting, and is told so when it comes back. */
  @ParameterizedTest
  @CsvSource({"network, shop", "network, bank", "embedded, shop", "embedded, bank"})
  void watcherThatIsTooSlow_isCutOff_andGoesOnFromItsPosition(String how, String name) {
    Keyspace here = ways.here(how, name);
    CompletableFuture<Flow.Subscription> slow = new CompletableFuture<>();
    Queue<Changes> groups = new ConcurrentLinkedQueue<>();
    CompletableFuture<Throwable> error = new CompletableFuture<>();
    here.watchPrefix("slow:")
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                slow.complete(subscription);
                subscription.request(1);
              }

              @Override
              public void onNext(Changes told) {
                groups.add(told);
              }

              @Override
              public void onError(Throwable e) {
                error.complete(e);
              }

              @Override
              public void onComplete() {}
            });
    await().until(() -> groups.size() == 1);
    List<Keyspace.Change> changes = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      changes.add(
          new Keyspace.Change("slow:" + i, CrdtType.PN_COUNTER, new Operation.Increment(1)));
    }
    here.updateAll(changes);
    slow.join().request(10);
    Throwable why = error.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    failed(
        ErrorCode.WATCHER_TOO_SLOW,
        () -> {
          throw why;
        });
    WatchPosition left =
        WatchPosition.decode(groups.stream().reduce((a, b) -> b).get().position().encode());
    Told again = new Told(here.watchPrefix("slow:").from(left));
    await().until(() -> again.all().stream().map(Change::key).distinct().count() == 3_000);
    here.counter("slow:1").increment();
    await().until(() -> again.count("slow:1") >= 2);
    again.watching.close();
  }

  @ParameterizedTest
  @CsvSource({"network", "embedded"})
  void watcherThatThrowsOrBlocks_harmsOnlyItself(String how) throws InterruptedException {
    Keyspace here = ways.here(how, "shop");
    IllegalStateException fault = new IllegalStateException("mine");
    Watch.Watching throwing =
        here.watch("harm")
            .listen(
                told -> {
                  if (!told.changes().isEmpty()) {
                    throw fault;
                  }
                });
    CountDownLatch never = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(1);
    Watch.Watching blocking =
        here.watch("harm")
            .listen(
                told -> {
                  if (!told.changes().isEmpty()) {
                    blocked.countDown();
                    try {
                      never.await();
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  }
                });
    Told good = new Told(here.watch("harm"));
    throwing.begun().join();
    blocking.begun().join();
    here.counter("harm").increment();
    good.awaitKey("harm");
    blocked.await();
    assertThatThrownBy(() -> throwing.ended().orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join())
        .hasCause(fault);
    here.counter("harm").increment();
    await().until(() -> good.count("harm") == 2);
    assertThat(blocking.ended()).isNotDone();
    blocking.close();
    never.countDown();
    good.watching.close();
  }

  /** A transaction is told as a whole, here and elsewhere. */
  @ParameterizedTest
  @CsvSource({"network", "embedded"})
  void transaction_isToldAsAWhole(String how) {
    List<Told> all =
        List.of(
            new Told(ways.here(how, "bank").watchPrefix("whole:")),
            new Told(ways.there(how, "bank").watchPrefix("whole:")));
    for (int t = 0; t < 60; t++) {
      List<Keyspace.Change> changes = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        changes.add(
            new Keyspace.Change(
                "whole:" + t + ":" + i, CrdtType.PN_COUNTER, new Operation.Increment(1)));
      }
      (t % 2 == 0 ? ways.here(how, "bank") : ways.there(how, "bank")).updateTogether(changes);
      if (t % 5 == 4) { // little is kept, and none of them is to be cut off
        int so = 5 * (t + 1);
        all.forEach(told -> await().until(() -> told.keys().size() == so));
      }
    }
    for (Told told : all) {
      await().until(() -> told.keys().size() == 300);
      for (Changes group : told.groups) {
        assertThat(group.isWhole()).isTrue();
        Map<String, Integer> parts = new TreeMap<>();
        group
            .changes()
            .forEach(c -> parts.merge(c.key().toString().split(":")[1], 1, Integer::sum));
        assertThat(parts.values()).as("%s", group).allMatch(n -> n == 5);
      }
      told.watching.close();
    }
  }

  private static List<Key> keys(Keyspace keyspace) {
    try (Stream<Keyspace.Row> rows = keyspace.scan(Scan.prefix("move:").keysOnly())) {
      return rows.map(Keyspace.Row::key).toList();
    }
  }

  /** It goes on elsewhere, and misses nothing that was acknowledged anywhere. */
  @ParameterizedTest
  @CsvSource({"shop", "bank"})
  void watcherThatMoves_missesNothing(String name) throws InterruptedException {
    try (TestCluster own = new TestCluster(KEYSPACES, new String[] {"eu", "us"});
        OsierClient client = own.client("eu");
        OsierClient other = own.client("us")) {
      Told told = new Told(client.session().keyspace(name).watchPrefix("move:"));
      CountDownLatch some = new CountDownLatch(400);
      CountDownLatch stopped = new CountDownLatch(1);
      List<Thread> writers = new ArrayList<>();
      for (OsierClient by : List.of(client, other)) {
        String at = by.nearest().orElseThrow();
        writers.add(
            Thread.startVirtualThread(
                () -> {
                  Keyspace to = by.session().keyspace(name);
                  try {
                    for (int i = 1; stopped.getCount() > 0 || i < 1_000; i++) {
                      to.counter("move:" + at + ":" + i).increment();
                      some.countDown();
                    }
                  } catch (OsierException e) {
                    // It has ended while this was under way.
                  }
                }));
      }
      some.await();
      own.stop("eu");
      stopped.countDown();
      for (Thread writer : writers) {
        writer.join();
      }
      List<Key> there = keys(other.session().keyspace(name));
      assertThat(there).hasSizeGreaterThan(400);
      await()
          .untilAsserted(
              () -> {
                assertThat(told.watching.ended()).isNotDone();
                Set<Key> missed = new TreeSet<>(there);
                missed.removeAll(told.keys());
                assertThat(missed).isEmpty();
              });
      // Back at the first one, which has lost its memory and got it back.
      own.start("eu");
      own.awaitReady();
      await().until(() -> client.nearest().filter("eu"::equals).isPresent());
      other.session().keyspace(name).counter("move:again").increment();
      told.awaitKey("move:again");
      assertThat(told.keys()).containsAll(keys(other.session().keyspace(name)));
      assertThat(told.watching.ended()).isNotDone();
    }
  }

  /** A position outlives the process that gave it, where the store does. */
  @ParameterizedTest
  @CsvSource({"shop", "bank"})
  void position_outlivesARestart(String name, @TempDir Path dir) {
    try (TestCluster own =
            new TestCluster(KEYSPACES, "dir = \"" + dir + "\"", new String[] {"eu"});
        OsierClient client = own.client("eu")) {
      Keyspace here = client.session().keyspace(name);
      here.counter("restart:before").increment();
      Told told = new Told(here.watchPrefix("restart:"));
      here.counter("restart:1").increment();
      told.awaitKey("restart:1");
      WatchPosition position = told.watching.position().orElseThrow();
      here.counter("restart:2").increment();
      own.stop("eu");
      own.start("eu");
      own.awaitReady();
      await().ignoreExceptions().until(() -> here.counter("restart:3").incrementAndGet(1) > 0);
      Told again = new Told(here.watchPrefix("restart:").from(position));
      for (Told each : List.of(told, again)) {
        each.awaitKey("restart:2");
        each.awaitKey("restart:3");
        assertThat(each.count("restart:before")).isZero();
        assertThat(each.watching.ended()).isNotDone();
      }
      assertThat(again.count("restart:1")).isZero();
    }
  }

  /** What was lost with the memory is said, and not passed over. */
  @ParameterizedTest
  @CsvSource({"shop", "bank"})
  void positionOfWhatWasLost_isRefused(String name) {
    try (TestCluster own = new TestCluster(KEYSPACES, new String[] {"eu"});
        OsierClient client = own.client("eu")) {
      Keyspace here = client.session().keyspace(name);
      Told told = new Told(here.watchPrefix("lost:"));
      here.counter("lost:1").increment();
      told.awaitKey("lost:1");
      own.stop("eu");
      own.start("eu");
      own.awaitReady();
      assertThat(told.watching.ended())
          .failsWithin(LONG)
          .withThrowableOfType(ExecutionException.class)
          .withMessageContaining("was lost with its memory");
      Told again = new Told(client.session().keyspace(name).watchPrefix("lost:"));
      client.session().keyspace(name).counter("lost:2").increment();
      again.awaitKey("lost:2");
    }
  }

  @Test
  void badInput_isNamed() {
    Keyspace shop = ways.here("network", "shop");
    failed(ErrorCode.INVALID_ARGUMENT, () -> shop.watch(""));
    failed(ErrorCode.INVALID_ARGUMENT, () -> WatchPosition.decode("?"));
    failed(ErrorCode.INVALID_ARGUMENT, () -> WatchPosition.decode(""));
    WatchPosition ofAKey = new Told(shop.watch("bad")).groups.stream().findFirst().get().position();
    assertThat(WatchPosition.decode(ofAKey.encode())).isEqualTo(ofAKey);
    failed(
        ErrorCode.INVALID_ARGUMENT,
        () -> shop.changes().from(ofAKey).listen(told -> {}).ended().join());
    failed(
        ErrorCode.UNKNOWN_KEYSPACE,
        () -> ways.here("network", "none").changes().listen(told -> {}).ended().join());
    failed(
        ErrorCode.KEY_TOO_LARGE,
        () -> shop.watch("k".repeat(4_000)).listen(told -> {}).ended().join());
  }
}
