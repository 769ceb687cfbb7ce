package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.proxy.Changes;
import io.osier.proxy.Changes.Change;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Scan;
import io.osier.proxy.Watch;
import io.osier.proxy.WatchPosition;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Watchers of changes, by network and in the process, as a stranger uses them. */
final class WatchTest extends WatchFixture {
  @EachWay
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
  @EachWay
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

  @BothWays
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
  @BothWays
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

  @Test
  void badInput_isNamed() {
    Keyspace shop = ways.here("network", "shop");
    failed(ErrorCode.INVALID_ARGUMENT, () -> shop.watch(""));
    failed(ErrorCode.INVALID_ARGUMENT, () -> WatchPosition.decode("?"));
    failed(ErrorCode.INVALID_ARGUMENT, () -> WatchPosition.decode(""));
    Told bad = new Told(shop.watch("bad"));
    await().until(() -> !bad.groups.isEmpty());
    WatchPosition ofAKey = bad.groups.element().position();
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
