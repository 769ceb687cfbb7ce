package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.values.Values;
import io.osier.testing.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Embedded, one caller's thread answers the others; sessions are shared by many threads. */
final class SharedSessionsTest {
  private static final int THREADS = 16;
  private static final int ROUNDS = 30;
  private static final int WINDOW = 400;

  @Test
  void manyThreadsOfTwoSessions_neverWaitForEachOther() throws InterruptedException {
    EmbeddedDatacenter eu =
        EmbeddedCluster.start(
            "osier { dc = eu, shutdown-timeout = 1s, listen { client-port = 0, peer-port = 0 },"
                + " store { dir = \"\" }, keyspaces { shop { partitions = 2 } } }",
            Values.plain());
    eu.awaitReady(Patience.LIMIT);
    List<Keyspace> shops = List.of(eu.session().keyspace("shop"), eu.session().keyspace("shop"));
    AtomicInteger done = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      Keyspace shop = shops.get(t % 2);
      int number = t;
      threads.add(
          Thread.ofPlatform()
              .daemon(true)
              .start(
                  () -> {
                    for (int i = 0; i < ROUNDS; i++) {
                      assignSome(shop, number, i);
                      done.incrementAndGet();
                    }
                  }));
    }
    long deadline = System.nanoTime() + Patience.LIMIT.toNanos();
    for (Thread thread : threads) {
      thread.join(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
    }
    assertThat(done).as("rounds done in time").hasValue(THREADS * ROUNDS);
    eu.close(); // not if it hangs: nor would this come back
  }

  private static void assignSome(Keyspace shop, int thread, int round) {
    List<CompletableFuture<?>> open = new ArrayList<>();
    for (int i = 0; i < WINDOW; i++) {
      open.add(shop.register("r" + (thread + i) % 40).assignAsync(Value.of(round)));
    }
    CompletableFuture.allOf(open.toArray(new CompletableFuture<?>[0])).join();
  }
}
