package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Reads a path of each datacenter's admin port again and again, as a browser or a scraper does. */
final class Readers implements AutoCloseable {
  private static final int OK = 200;

  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
  private final int everyMillis;
  private volatile boolean closed;

  /** Starts one reader for each datacenter. */
  Readers(LocalCluster cluster, Config readers) {
    everyMillis = readers.getInt("every-ms");
    for (String dc : cluster.dcs()) {
      URI uri = URI.create(cluster.dashboard(dc) + readers.getString("path"));
      read(uri);
    }
  }

  private void read(URI uri) {
    http.sendAsync(
            HttpRequest.newBuilder(uri).build(),
            BodyHandlers.ofByteArrayConsumer(
                part -> bytes.addAndGet(part.map(some -> some.length).orElse(0))))
        .whenComplete(
            (answer, error) -> {
              if (error == null && answer.statusCode() == OK && !closed) {
                CompletableFuture.delayedExecutor(everyMillis, TimeUnit.MILLISECONDS)
                    .execute(() -> read(uri));
              } else if (!closed) {
                failure.compareAndSet(null, error == null ? answer.toString() : uri + ": " + error);
              }
            });
  }

  /**
   * Checks that each reader has read all the time.
   *
   * @throws OsierException UNAVAILABLE if a read failed, or no byte came
   */
  void check() {
    String why = failure.get() == null && bytes.get() == 0 ? "nothing came" : failure.get();
    if (why != null) {
      throw new OsierException(ErrorCode.UNAVAILABLE, "the admin port was not read: " + why);
    }
  }

  @Override
  public void close() {
    closed = true;
    http.shutdownNow();
  }
}
