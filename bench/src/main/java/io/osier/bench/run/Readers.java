package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Read what the datacenters' admin ports serve, as a browser or a scraper does. */
final class Readers implements AutoCloseable {
  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicLong bytes = new AtomicLong();
  private final int everyMillis;
  private volatile boolean closed;

  /** Begin, one at each datacenter. */
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
      try (InputStream stream = http.send(get, HttpResponse.BodyHandlers.ofInputStream()).body()) {
        for (int n = stream.read(buffer); n >= 0 && !closed; n = stream.read(buffer)) {
          bytes.addAndGet(n);
        }
      } catch (IOException e) {
        if (!closed) {
          System.err.println(uri + ": " + e);
        }
      } catch (InterruptedException e) {
        return;
      }
      LockSupport.parkNanos(everyMillis * 1_000_000L);
    }
  }

  /** Bytes that were read so far. */
  long bytes() {
    return bytes.get();
  }

  @Override
  public void close() {
    closed = true;
    http.shutdownNow();
  }
}
