package io.osier.datacenter.redis.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.Ports;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.server.TestCluster;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Aged;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads of a copy whose holders have gone, by clients of all kinds. */
final class StaleReadsTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");
  private static final Duration ALLOWED = Duration.ofMinutes(5);

  private final Map<String, Integer> ports = new LinkedHashMap<>();
  private final Map<String, Datacenter> running = new ConcurrentHashMap<>();
  @TempDir private Path dir;
  @AutoClose private final Opened open = new Opened();

  private void start(String name) {
    List<String> peers = new ArrayList<>();
    ports.forEach((dc, port) -> peers.add(dc + " = \"127.0.0.1:" + port + "\""));
    String config =
        """
        osier {
          dc = %s, store.dir = "%s", streams.retry = 200ms
          keyspaces.shop { sla = 300ms, replicas = [eu, us], stale-reads = 5m }
          redis.databases { 0 = shop }
          listen { client-port = 0, peer-port = %d, redis-port = 0 }
          peers { %s }
        }
        """
            .formatted(name, dir.resolve(name), ports.get(name), String.join(", ", peers));
    running.put(name, Datacenter.start(ConfigReader.read(name, config, Map.of())));
  }

  private void startAll() {
    NAMES.forEach(name -> ports.put(name, Ports.free()));
    NAMES.forEach(this::start);
    await()
        .atMost(Patience.LIMIT)
        .until(() -> running.values().stream().allMatch(Datacenter::isReady));
    await().atMost(Patience.LIMIT).until(() -> redis("ap").ask("GET nothing").equals("null"));
  }

  private Datacenter at(String dc) {
    return requireNonNull(running.get(dc));
  }

  private RawRedis redis(String dc) throws IOException {
    return open.add(new RawRedis(at(dc).redisPort().orElseThrow()));
  }

  private Snapshot.Copies copies() {
    return at("ap").elsewhere().copies();
  }

  private void awaitCopy(RawRedis reader) {
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

  private RawClient raw(int version) throws IOException {
    RawClient raw = open.add(new RawClient(at("ap").clientPort()));
    raw.send(RawClient.frame(0, new Request.Hello(version, "raw")));
    raw.reply();
    return raw;
  }

  private static Reply read(RawClient by, VersionVector after) throws IOException {
    Request.Read read =
        new Request.Read("shop", Key.of("n"), Optional.empty(), new Query.Whole(), after, false, 0);
    return by.send(RawClient.frame(1, read)).reply().message();
  }

  @AfterEach
  void stop() {
    running.values().forEach(dc -> TestCluster.inAHurry(dc::close));
  }

  @Test
  void whileNoHolderCanBeReached_theCopyAnswers_whoMayKnowItsAge() throws IOException {
    startAll();
    RawRedis ap = redis("ap");
    assertThat(redis("us").ask("INCR n")).isEqualTo(":1");
    awaitCopy(ap);
    OsierClient client = open.add(PatientClients.of("ap", at("ap").clientPort()).build());
    Keyspace shop = client.session().keyspace("shop");
    assertThat(shop.aged(space -> space.string("n").get()).isCurrent()).isTrue();
    assertThat(read(raw(Request.PROTOCOL_VERSION), VersionVector.EMPTY))
        .isInstanceOfSatisfying(Reply.Answer.class, a -> assertThat(a.age()).isEmpty());

    for (String holder : List.of("eu", "us")) {
      TestCluster.inAHurry(requireNonNull(running.remove(holder))::close);
    }
    await().atMost(Patience.LIMIT).until(() -> copies().staleObjects() == 1);
    assertThat(ap.ask("GET n")).isEqualTo("1");
    assertThat(ap.ask("MGET n m")).as("several").startsWith("-");
    assertThat(ap.ask("INCR n")).startsWith("-");

    Aged<Optional<String>> old = shop.aged(space -> space.string("n").get().map(Object::toString));
    assertThat(old.age().orElseThrow()).isBetween(Duration.ZERO, ALLOWED);
    assertThat(shop.string("n").get()).isPresent();
    Keyspace caching =
        open.add(
                PatientClients.of("ap", at("ap").clientPort())
                    .cache(Duration.ofHours(1), 100)
                    .build())
            .session()
            .keyspace("shop");
    assertThat(caching.string("n").get().map(Object::toString)).contains("1");
    Keyspace.Found found = shop.read(Key.of("n"), Optional.empty(), new Query.Whole());
    assertThat(found.age()).isPresent();

    Reply.Answer told = (Reply.Answer) read(raw(Request.AGES_VERSION), VersionVector.EMPTY);
    assertThat(told.age()).isPresent();
    assertThat(told.reading()).isPresent().get().isInstanceOf(Reading.Single.class);
    assertThat(read(raw(Request.AGES_VERSION - 1), VersionVector.EMPTY))
        .as("it does not know ages")
        .isInstanceOfSatisfying(
            Reply.Failure.class,
            f -> {
              assertThat(f.code()).isEqualTo(ErrorCode.UNAVAILABLE);
              assertThat(f.message()).contains("upgrade the client");
            });
    VersionVector more = VersionVector.of(new ReplicaId("us", 1L << 62), 1_000);
    assertThat(read(raw(Request.AGES_VERSION), more))
        .as("it has seen more")
        .isInstanceOfSatisfying(
            Reply.Failure.class, f -> assertThat(f.code()).isEqualTo(ErrorCode.UNAVAILABLE));
    assertThat(copies().staleReads()).isPositive();

    List.of("eu", "us").forEach(this::start);
    await().atMost(Patience.LIMIT).until(() -> ap.ask("INCR n").equals(":2"));
    assertThat(ap.ask("GET n")).isEqualTo("2");
    await()
        .untilAsserted(() -> assertThat(shop.aged(s -> s.string("n").get()).isCurrent()).isTrue());
    assertThat(shop.string("n").get().map(Object::toString)).contains("2");
    assertThat(caching.string("n").get().map(Object::toString)).as("none was kept").contains("2");
  }
}
