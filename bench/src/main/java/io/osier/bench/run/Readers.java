package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Read what the datacenters' admin ports serve, as a browser or a scraper does. */
final class Readers implements AutoCloseable {
  private static final int OK = 200;

  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
  private final int everyMillis;
  private volatile boolean closed;

  Readers(LocalCluster cluster, Config readers) {
    everyMillis = readers.getInt("every-ms");
    for (String dc : cluster.dcs()) {
      URI uri = URI.create(cluster.dashboard(dc) + readers.getString("path"));
      Thread.ofVirtual().start(() -> read(uri));
    }
  }

  private void read(URI uri) {
    HttpRequest get = HttpRequest.newBuilder(uri).build();
    byte[] buffer = new byte[64 << 10];
    while (!closed) {
      try {
        HttpResponse<InputStream> answer =
            http.send(get, HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream stream = answer.body()) {
          if (answer.statusCode() != OK) {
            throw new IOException("status " + answer.statusCode());
          }
          for (int n = stream.read(buffer); n >= 0 && !closed; n = stream.read(buffer)) {
            bytes.addAndGet(n);
          }
        }
      } catch (IOException | InterruptedException e) {
        if (!closed) {
          failure.compareAndSet(null, uri + ": " + e.getMessage());
        }
        return;
      }
      LockSupport.parkNanos(everyMillis * 1_000_000L);
    }
  }

  /** Looks whether they have read all the time. */
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
