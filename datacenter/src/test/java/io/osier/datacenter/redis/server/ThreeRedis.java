package io.osier.datacenter.redis.server;

import static java.util.Objects.requireNonNull;
import static org.awaitility.Awaitility.await;

import io.osier.core.net.Ports;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Three datacenters on this machine that speak the Redis protocol, each with a store. */
final class ThreeRedis implements AutoCloseable {
  static final List<String> NAMES = List.of("ap", "eu", "us");

  private final Path dir;
  private final String settings;
  private final Map<String, Integer> ports = new LinkedHashMap<>();
  private final Map<String, Datacenter> running = new ConcurrentHashMap<>();

  /**
   * Starts them, and waits until they are ready.
   *
   * @param dir of their stores
   * @param settings of all three
   */
  ThreeRedis(Path dir, String settings) {
    this.dir = dir;
    this.settings = settings;
    NAMES.forEach(name -> ports.put(name, Ports.free()));
    NAMES.forEach(this::start);
    await()
        .atMost(Patience.LIMIT)
        .until(() -> running.values().stream().allMatch(Datacenter::isReady));
  }

  void start(String name) {
    List<String> peers = new ArrayList<>();
    ports.forEach((dc, port) -> peers.add(dc + " = \"127.0.0.1:" + port + "\""));
    String config =
        """
        osier {
          dc = %s, store.dir = "%s", streams.retry = 200ms
          listen { client-port = 0, peer-port = %d, redis-port = 0 }
          peers { %s }
          %s
        }
        """
            .formatted(name, dir, ports.get(name), String.join(", ", peers), settings);
    running.put(name, TestCluster.one(config));
  }

  /** As a killed process ends: what it has not shipped is on its disk alone. */
  void kill(String name) {
    TestCluster.inAHurry(requireNonNull(running.remove(name))::close);
  }

  Datacenter dc(String name) {
    return requireNonNull(running.get(name));
  }

  int port(String name) {
    return dc(name).redisPort().orElseThrow();
  }

  RawRedis connect(String name) throws IOException {
    return new RawRedis(port(name));
  }

  /** Waits until a datacenter that does not hold it answers about database 0. */
  void awaitForwarding(String name) {
    await()
        .atMost(Patience.LIMIT)
        .until(
            () -> {
              try (RawRedis redis = connect(name)) {
                return redis.ask("GET nothing").equals("null");
              }
            });
  }

  /** What ap, which does not hold the keyspace, has copied of it. */
  Snapshot.Copies copies() {
    return dc("ap").elsewhere().copies();
  }

  /** Reads the key n at ap until 20 reads were answered by a copy. */
  void awaitCopy(RawRedis ap) {
    long before = copies().hits();
    await()
        .atMost(Patience.LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              ap.ask("GET n");
              return copies().hits() > before + 20;
            });
  }

  @Override
  public void close() {
    running.values().forEach(dc -> TestCluster.inAHurry(dc::close));
  }
}
