package io.osier.datacenter.embedded;

import static io.osier.datacenter.embedded.Ways.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.Changes;
import io.osier.proxy.Changes.Change;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Watch;
import io.osier.proxy.WatchPosition;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Watchers that go on from a position, there or elsewhere. */
final class WatchPositionsTest extends WatchFixture {
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

  /** Who never asks keeps nobody waiting, and is told so when it comes back. */
  @EachWay
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
}
