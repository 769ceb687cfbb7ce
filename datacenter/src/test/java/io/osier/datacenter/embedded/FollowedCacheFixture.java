package io.osier.datacenter.embedded;

import static org.awaitility.Awaitility.await;

import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.TestInstance;

/**
 * Caches that follow the change feed. Without it an answer serves for a nanosecond, with it for an
 * hour: so each hit is owed to the feed, and a change of which it does not tell is not seen before
 * the test's time is over.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FollowedCacheFixture {
  static final String KEYSPACES =
      "shop { sla = 200ms, partitions = 3 }, bank { sla = 200ms, consistency = causal }";
  static final Duration LONG = Patience.LIMIT;
  static final Duration PLAIN = Duration.ofNanos(1);
  static final Duration AT_MOST = Duration.ofHours(1);

  /** So few changes are kept that a burst of them cuts watchers off. */
  static final String LITTLE = "dir = \"\" }, memory { changes = 64KiB";

  @AutoClose final EmbeddedCluster embedded = new EmbeddedCluster(KEYSPACES, LITTLE);

  @AutoClose
  final TestCluster cluster = new TestCluster(KEYSPACES, LITTLE, new String[] {"eu", "us"});

  /** A client, and how often its cache has answered. */
  static final class Hits implements ClientMetrics {
    final AtomicLong count = new AtomicLong();

    @Override
    public void cacheHit() {
      count.incrementAndGet();
    }
  }

  static OsierClient.Builder following(Hits hits) {
    return PatientClients.builder()
        .cache(PLAIN, 10_000)
        .cacheFollowing("shop", "f:", AT_MOST)
        .cacheFollowing("bank", "", AT_MOST)
        .metrics(hits);
  }

  OsierClient reader(String how, Hits hits) {
    return how.equals("network")
        ? cluster.client("eu", following(hits))
        : connected(
            following(hits).endpoint("eu", "127.0.0.1:" + embedded.dc("eu").clientPort()).build());
  }

  static OsierClient connected(OsierClient client) {
    client.awaitConnected(LONG);
    return client;
  }

  /** Reads until the cache answers. */
  static void awaitHit(Hits hits, Runnable read) {
    await()
        .pollInterval(Duration.ofMillis(2))
        .until(
            () -> {
              long before = hits.count.get();
              read.run();
              return hits.count.get() > before;
            });
  }

  static void join(List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
  }
}
