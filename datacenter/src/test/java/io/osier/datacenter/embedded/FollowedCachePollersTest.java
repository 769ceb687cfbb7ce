package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.server.TestCluster;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers who poll caches that follow the change feed, while others write. */
final class FollowedCachePollersTest extends FollowedCacheFixture {
  /** Who writes, until it is told to stop: counters only grow. */
  private static Thread writer(
      Keyspace to, String prefix, int keys, long seed, int least, AtomicBoolean stop) {
    return Thread.startVirtualThread(
        () -> {
          Random random = new Random(seed);
          for (int i = 0; i < least || !stop.get(); i++) {
            try {
              to.counter(prefix + random.nextInt(keys)).increment();
            } catch (OsierException e) {
              // Its datacenter has just been stopped.
            }
          }
        });
  }

  /** Reads all the time, until it is told to stop; what it notes is wrong. */
  private static Thread polling(
      Keyspace by, String prefix, int keys, AtomicBoolean stop, Queue<String> wrong) {
    // A virtual one whose reads are all answered by the cache would not let others run.
    Thread thread = new Thread(() -> poll(by, prefix, keys, stop, wrong), "polling");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void poll(
      Keyspace by, String prefix, int keys, AtomicBoolean stop, Queue<String> wrong) {
    Map<Integer, Long> seen = new HashMap<>();
    while (!stop.get()) {
      for (int k = 0; k < keys; k++) {
        try {
          long value = by.counter(prefix + k).get();
          long before = seen.getOrDefault(k, 0L);
          if (value < before) {
            wrong.add(prefix + k + " went back from " + before + " to " + value);
          }
          seen.put(k, value);
        } catch (OsierException e) {
          if (!e.code().retryable() && e.code() != ErrorCode.TIMEOUT) {
            wrong.add(e.toString());
          }
        }
      }
    }
  }

  /** All readers come to what a session without a cache reads, at both datacenters. */
  private static void converges(
      String what, List<Keyspace> readers, List<Keyspace> plain, String prefix, int keys) {
    await()
        .pollInterval(Duration.ofMillis(5))
        .untilAsserted(
            () -> {
              for (int k = 0; k < keys; k++) {
                long value = plain.getFirst().counter(prefix + k).get();
                for (Keyspace each : plain) {
                  assertThat(each.counter(prefix + k).get()).as(what).isEqualTo(value);
                }
                for (Keyspace each : readers) {
                  assertThat(each.counter(prefix + k).get()).as(what).isEqualTo(value);
                }
              }
            });
  }

  @BothWays
  void readersWhoPoll_convergeToWhatOthersWrote(String how) throws InterruptedException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Hits hits = new Hits();
    String prefix = "f:poll:" + how + ":";
    int keys = 8;
    try (OsierClient client = reader(how, hits);
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      boolean network = how.equals("network");
      Keyspace here = network ? eu.session().keyspace("shop") : embedded.keyspace("eu", "shop");
      Keyspace there = network ? us.session().keyspace("shop") : embedded.keyspace("us", "shop");
      List<Keyspace> readers =
          List.of(client.session().keyspace("shop"), client.session().keyspace("shop"));
      Queue<String> wrong = new ConcurrentLinkedQueue<>();
      AtomicBoolean stop = new AtomicBoolean();
      List<Thread> polling = new ArrayList<>();
      readers.forEach(r -> polling.add(polling(r, prefix, keys, stop, wrong)));
      AtomicBoolean enough = new AtomicBoolean(true);
      for (int round = 0; round < 10; round++) {
        String what = "seed " + seed + ", round " + round;
        List<Thread> writers =
            List.of(
                writer(here, prefix, keys, random.nextLong(), 200, enough),
                writer(there, prefix, keys, random.nextLong(), 200, enough));
        join(writers);
        converges(what, readers, List.of(here, there), prefix, keys);
        long before = hits.count.get();
        await().until(() -> hits.count.get() > before + 100);
      }
      stop.set(true);
      join(polling);
      assertThat(wrong).as("seed %d", seed).isEmpty();
    }
  }

  /** Bursts of other keys' changes: more than is kept, so that the client is cut off. */
  @Test
  void clientThatIsCutOff_convergesAllTheSame() throws InterruptedException {
    long seed = System.nanoTime();
    Hits hits = new Hits();
    String prefix = "f:burst:";
    int keys = 4;
    try (OsierClient client = reader("network", hits);
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      Keyspace here = eu.session().keyspace("shop");
      Keyspace reader = client.session().keyspace("shop");
      long cutOff = cutOff(eu);
      for (int k = 0; k < keys; k++) {
        String key = prefix + k;
        awaitHit(hits, () -> reader.counter(key).get());
      }
      for (int round = 0; round < 6; round++) {
        List<Keyspace.Change> changes = new ArrayList<>();
        for (int i = 0; i < 4_000; i++) {
          String key = i == 10 ? prefix + round % keys : "f:others:" + i;
          changes.add(new Keyspace.Change(key, CrdtType.PN_COUNTER, new Operation.Increment(1)));
        }
        here.updateAll(changes);
        join(
            List.of(
                writer(
                    us.session().keyspace("shop"),
                    prefix,
                    keys,
                    seed,
                    20,
                    new AtomicBoolean(true))));
        converges(
            "seed " + seed + ", round " + round,
            List.of(reader),
            List.of(here, us.session().keyspace("shop")),
            prefix,
            keys);
      }
      awaitHit(hits, () -> reader.counter(prefix + 1).get());
      assertThat(cutOff(eu)).as("bursts that are large enough").isGreaterThan(cutOff);
    }
  }

  /** How often a watcher of the keyspace was cut off. */
  private static long cutOff(OsierClient client) {
    String stat = client.inspectAsync("eu", Request.Topic.STAT, Optional.of("shop"), 0).join();
    Matcher figure = Pattern.compile("\"watchers_cut_off\":(\\d+)").matcher(stat);
    assertThat(figure.find()).as(stat).isTrue();
    return Long.parseLong(figure.group(1));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void restartOfTheDatacenter_andBack(boolean keepsItsStore, @TempDir Path dir)
      throws InterruptedException {
    long seed = System.nanoTime();
    Hits hits = new Hits();
    String prefix = "f:restart:";
    int keys = 4;
    String store = keepsItsStore ? "dir = \"" + dir + "\"" : "dir = \"\"";
    try (TestCluster own = new TestCluster(KEYSPACES, store, new String[] {"eu", "us"});
        OsierClient client = own.client("eu", following(hits));
        OsierClient us = own.client("us")) {
      Keyspace reader = client.session().keyspace("shop");
      Keyspace there = us.session().keyspace("shop");
      Queue<String> wrong = new ConcurrentLinkedQueue<>();
      AtomicBoolean stop = new AtomicBoolean();
      List<Thread> threads = new ArrayList<>();
      threads.add(polling(reader, prefix, keys, stop, wrong));
      threads.add(polling(client.session().keyspace("shop"), prefix, keys, stop, wrong));
      threads.add(writer(there, prefix, keys, seed, 100, stop));
      awaitHit(hits, () -> reader.counter(prefix + 0).get());
      own.stop("eu");
      await().until(() -> client.nearest().filter("us"::equals).isPresent());
      long elsewhere = hits.count.get();
      await().until(() -> hits.count.get() > elsewhere + 100);
      own.start("eu");
      own.awaitReady();
      await().until(() -> client.nearest().filter("eu"::equals).isPresent());
      long back = hits.count.get();
      await().until(() -> hits.count.get() > back + 100);
      stop.set(true);
      join(threads);
      assertThat(wrong).as("seed %d", seed).isEmpty();
      converges("seed " + seed, List.of(reader), List.of(there), prefix, keys);
      awaitHit(hits, () -> reader.counter(prefix + 0).get());
      there.counter(prefix + 0).increment();
      converges("seed " + seed, List.of(reader), List.of(there), prefix, keys);
    }
  }
}
