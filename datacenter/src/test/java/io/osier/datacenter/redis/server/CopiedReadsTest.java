package io.osier.datacenter.redis.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.net.Ports;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Reads at a datacenter that does not hold their keyspace, and copies what is read often. */
final class CopiedReadsTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");

  private final Map<String, Integer> ports = new LinkedHashMap<>();
  private final Map<String, Datacenter> running = new ConcurrentHashMap<>();
  @AutoClose private final Opened open = new Opened();

  private void startAll() {
    NAMES.forEach(name -> ports.put(name, Ports.free()));
    for (String name : NAMES) {
      List<String> peers = new ArrayList<>();
      ports.forEach((dc, port) -> peers.add(dc + " = \"127.0.0.1:" + port + "\""));
      String config =
          """
          osier {
            dc = %s, store.dir = "", streams.retry = 200ms
            keyspaces.shop { sla = 300ms, replicas = [eu, us], partitions = 2 }
            redis.databases { 0 = shop }
            listen { client-port = 0, peer-port = %d, redis-port = 0 }
            peers { %s }
          }
          """
              .formatted(name, ports.get(name), String.join(", ", peers));
      running.put(name, Datacenter.start(ConfigReader.read(name, config, Map.of())));
    }
    await()
        .atMost(Patience.LIMIT)
        .until(() -> running.values().stream().allMatch(Datacenter::isReady));
    await().atMost(Patience.LIMIT).until(() -> at("ap").ask("GET nothing").equals("null"));
  }

  private RawRedis at(String dc) throws IOException {
    return open.add(new RawRedis(requireNonNull(running.get(dc)).redisPort().orElseThrow()));
  }

  private Snapshot.Copies copies() {
    return requireNonNull(running.get("ap")).elsewhere().copies();
  }

  private void awaitHits(RawRedis reader) {
    long before = copies().hits();
    await()
        .atMost(Patience.LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              reader.ask("GET n");
              return copies().hits() > before + 20;
            });
  }

  @AfterEach
  void stop() {
    running.values().forEach(dc -> TestCluster.inAHurry(dc::close));
  }

  /** No answer shows less than one before it, and own updates are there. */
  @Test
  void hotKey_isReadFromACopy_thatShowsWhatWasWrittenHereAndThere() throws IOException {
    startAll();
    RawRedis ap = at("ap");
    RawRedis us = at("us");
    assertThat(us.ask("INCR n")).isEqualTo(":1");
    awaitHits(ap);
    int seen = 1;
    for (int i = 0; i < 50; i++) {
      us.ask("INCR n");
      for (int k = 0; k < 5; k++) {
        int read = Integer.parseInt(ap.ask("GET n"));
        assertThat(read).isGreaterThanOrEqualTo(seen);
        seen = read;
      }
      int own = Integer.parseInt(ap.ask("INCR n").substring(1));
      assertThat(own).isGreaterThan(seen);
      seen = own;
    }
    await().atMost(Patience.LIMIT).until(() -> ap.ask("GET n").equals("101"));
    awaitHits(ap);
    RawRedis keeps = at("ap");
    keeps.ask("HELLO 3");
    assertThat(keeps.ask("CLIENT TRACKING ON")).isEqualTo("+OK");
    long hits = copies().hits();
    for (int i = 0; i < 5; i++) {
      keeps.ask("GET n");
    }
    assertThat(copies().hits()).as("a copy may be older than what it was told of").isEqualTo(hits);

    TestCluster.inAHurry(requireNonNull(running.remove("eu"))::close);
    TestCluster.inAHurry(requireNonNull(running.remove("us"))::close);
    await().atMost(Patience.LIMIT).until(() -> copies().objects() == 0);
    assertThat(at("ap").ask("GET n")).startsWith("-");
  }
}
