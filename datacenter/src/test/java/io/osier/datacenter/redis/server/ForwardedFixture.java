package io.osier.datacenter.redis.server;

import static org.awaitility.Awaitility.await;

import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.io.TempDir;

/** Clients of a datacenter, ap, that does not hold their keyspace, while two others do. */
abstract class ForwardedFixture {
  private static final int CONNECTIONS = 4;

  @TempDir private Path dir;
  @AutoClose final Opened open = new Opened();

  /** What clients did at ap and were told, */
  final AtomicInteger done = new AtomicInteger();

  /** and of what they were told nothing. */
  final AtomicInteger unknown = new AtomicInteger();

  /** Whether they are to end. */
  final AtomicBoolean ends = new AtomicBoolean();

  ThreeRedis start(String settings) {
    ThreeRedis all = open.add(new ThreeRedis(dir, settings));
    all.awaitForwarding("ap");
    return all;
  }

  /** What a client does over one connection until that ends. */
  interface Connection {
    void run(ThreeRedis all, int number);
  }

  /** Clients do this again and again while each holder ends and begins again. */
  void whileHoldersEnd(ThreeRedis all, Connection client) {
    List<CompletableFuture<Void>> clients = new ArrayList<>();
    try (var threads = Executors.newFixedThreadPool(CONNECTIONS)) {
      for (int i = 0; i < CONNECTIONS; i++) {
        int own = i;
        clients.add(
            CompletableFuture.runAsync(
                () -> {
                  while (!ends.get()) {
                    client.run(all, own);
                  }
                },
                threads));
      }
      for (String holder : List.of("eu", "us")) { // one of them is asked
        awaitMore(clients);
        all.kill(holder);
        awaitMore(clients);
        all.start(holder);
        await().atMost(Patience.LIMIT).until(() -> all.dc(holder).isReady());
      }
      ends.set(true);
      CompletableFuture.allOf(clients.toArray(CompletableFuture<?>[]::new)).join();
    }
  }

  private void awaitMore(List<CompletableFuture<Void>> by) {
    int before = done.get();
    await()
        .atMost(Patience.LIMIT)
        .until(
            () ->
                done.get() > before + 50
                    || by.stream().anyMatch(CompletableFuture::isCompletedExceptionally));
  }
}
