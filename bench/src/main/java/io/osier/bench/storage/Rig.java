package io.osier.bench.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/** A datacenter with a directory of its own, and a client of it. */
final class Rig implements AutoCloseable {
  final Datacenter datacenter;
  final OsierClient client;

  Rig(Path dir, String durability, String cache) {
    this(dir, durability, cache, "");
  }

  Rig(Path dir, String durability, String cache, String peers) {
    String config =
        """
        osier {
          dc = bench
          store { dir = "%s", durability = %s, cache = %s }
          listen { client-port = 0, peer-port = 0 }
          peers { %s }
          keyspaces { bench { sla = 1s, partitions = 2 } }
        }
        """
            .formatted(dir, durability, cache, peers);
    this.datacenter = Datacenter.start(ConfigReader.read("bench", config, Map.of()));
    this.client =
        OsierClient.builder()
            .endpoint("bench", "127.0.0.1:" + datacenter.clientPort())
            .timeout(Duration.ofSeconds(60))
            .build();
    client.awaitConnected(Duration.ofSeconds(20));
    await(datacenter);
  }

  private static void await(Datacenter datacenter) {
    while (!datacenter.isReady()) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Updates made and writes to the disk, so far. */
  long[] updatesAndWrites() {
    try {
      JsonNode stat =
          new ObjectMapper()
              .readTree(
                  client.inspectAsync("bench", Request.Topic.STAT, Optional.empty(), 0).join());
      return new long[] {
        stat.at("/keyspaces/bench/updates").asLong(), stat.at("/store/writes").asLong()
      };
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  Keyspace space() {
    return client.session().keyspace("bench");
  }

  @Override
  public void close() {
    client.close();
    datacenter.close();
  }

  /** Updates each object in turn until so many updates were made. */
  void fill(int objects, int updates) {
    Semaphore room = new Semaphore(2_000);
    Keyspace space = space();
    for (int i = 0; i < updates; i++) {
      room.acquireUninterruptibly();
      var unused =
          space
              .counter("k" + i % objects)
              .incrementAsync(1)
              .whenComplete(
                  (v, e) -> {
                    room.release();
                    if (e != null) {
                      throw new IllegalStateException(e);
                    }
                  });
    }
    room.acquireUninterruptibly(2_000);
  }
}
