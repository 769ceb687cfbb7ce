package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.InvalidRequestException;
import io.osier.core.TransientException;
import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A database of Redis whose homes are held by one datacenter each, at all three. */
final class ForwardedHomesTest {
  @TempDir private Path dir;
  @AutoClose private final Opened open = new Opened();

  /** The default home is held by eu and us, each other one by the datacenter of its name. */
  private ThreeRedis start() throws Exception {
    ThreeRedis all = open.add(new ThreeRedis(dir, "redis.databases { 0 = carts }"));
    OsierClient admin = open.add(PatientClients.inProcess(all.dc("eu").inProcess()));
    TestCluster.onceSettled(
        () ->
            admin
                .admin()
                .createKeyspace(
                    "carts",
                    k ->
                        k.homes("ap", "eu", "us")
                            .partitions(2)
                            .replicas("eu", "us")
                            .holdersMin(1)
                            .sla(Duration.ofMillis(100))));
    alter(admin, "carts@ap", "ap", "eu", "us");
    alter(admin, "carts@ap", "ap");
    alter(admin, "carts@eu", "eu");
    alter(admin, "carts@us", "us");
    for (String name : ThreeRedis.NAMES) {
      RawRedis redis = open.add(all.connect(name));
      await()
          .atMost(Patience.LIMIT)
          .until(() -> redis.ask("MGET a ap:a eu:a us:a").equals("[null, null, null, null]"));
    }
    return all;
  }

  private static void alter(OsierClient admin, String keyspace, String... replicas) {
    await()
        .atMost(Patience.LIMIT)
        .ignoreExceptionsMatching(
            e -> e instanceof InvalidRequestException || e instanceof TransientException)
        .until(
            () ->
                admin.admin().alterKeyspace(keyspace, k -> k.replicas(replicas)).name() != null
                    && admin.admin().keyspaces().stream()
                        .anyMatch(
                            k ->
                                k.name().equals(keyspace)
                                    && k.isActive()
                                    && String.join(",", replicas)
                                        .equals(k.settings().get("replicas"))));
  }

  @Test
  void commandsGoToTheHomesOfTheirKeys_whereverThoseAre() throws Exception {
    ThreeRedis all = start();
    long there = 0;
    for (String name : ThreeRedis.NAMES) {
      RawRedis redis = open.add(all.connect(name));
      List<String> pipeline = new ArrayList<>();
      for (int i = 1; i <= 50; i++) {
        for (String key : List.of("n", "ap:n", "eu:n", "us:n")) {
          pipeline.add("INCR " + key + name);
          pipeline.add("GET " + key + name);
        }
      }
      List<String> answers = redis.askAll(pipeline.toArray(String[]::new));
      for (int i = 0; i < answers.size(); i += 2) {
        assertThat(answers.subList(i, i + 2))
            .as("%s at %s", pipeline.get(i), name)
            .isEqualTo(List.of(":" + (i / 8 + 1), "" + (i / 8 + 1)));
      }
      there += 4;
      assertThat(redis.ask("MSET {ap}x 1 {eu}x 2 {us}x 3 x 4")).isEqualTo("+OK");
      assertThat(redis.ask("MGET {us}x x {ap}x none {eu}x")).isEqualTo("[3, 4, 1, null, 2]");
      assertThat(redis.ask("DEL {us}x x {ap}x none {eu}x")).isEqualTo(":4");
      String keys = redis.ask("KEYS *" + name);
      assertThat(keys).contains("ap:n" + name, "eu:n" + name, "us:n" + name);
      assertThat(redis.ask("RENAME ap:n" + name + " eu:n")).startsWith("-CROSSSLOT");
      String token = redis.ask("OSIER.TOKEN");
      RawRedis elsewhere = open.add(all.connect(name.equals("ap") ? "us" : "ap"));
      assertThat(elsewhere.ask("OSIER.AFTER " + token + " 60000")).isEqualTo("+OK");
      assertThat(elsewhere.ask("MGET n" + name + " eu:n" + name)).isEqualTo("[50, 50]");
      String count = ":" + there; // of each home what the holder has that is asked
      await().untilAsserted(() -> assertThat(elsewhere.ask("DBSIZE")).isEqualTo(count));
    }
    publish(all);
    cache(all);
  }

  /** Of each key's home, held here or elsewhere. */
  private void cache(ThreeRedis all) throws Exception {
    List<String> keys = List.of("k", "ap:k", "eu:k", "us:k");
    RawRedis hears = open.add(all.connect("ap"));
    hears.ask("HELLO 3");
    assertThat(hears.ask("CLIENT TRACKING ON BCAST")).isEqualTo("+OK");
    RawRedis keeps = open.add(all.connect("ap"));
    keeps.ask("HELLO 3");
    assertThat(keeps.ask("CLIENT TRACKING ON")).isEqualTo("+OK");
    RawRedis writes = open.add(all.connect("us"));
    for (String key : keys) {
      keeps.commands("GET " + key);
      while (!keeps.read().equals("_")) {} // until then it is told of what was before
      hears.dropPushed();
      writes.ask("SET " + key + " 1");
      for (RawRedis each : List.of(keeps, hears)) {
        each.awaitForgotten(key);
      }
    }
  }

  /** Channels are the database's, wherever one of its homes is held. */
  private void publish(ThreeRedis all) throws Exception {
    RawRedis hears = open.add(all.connect("ap"));
    assertThat(hears.ask("SUBSCRIBE eu:news")).isEqualTo("[subscribe, eu:news, :1]");
    RawRedis tells = open.add(all.connect("eu"));
    assertThat(tells.ask("PUBLISH eu:news one")).isEqualTo(":0");
    assertThat(hears.read()).isEqualTo("[message, eu:news, one]");
    RawRedis here = open.add(all.connect("us"));
    assertThat(here.ask("SUBSCRIBE x")).isEqualTo("[subscribe, x, :1]");
    RawRedis away = open.add(all.connect("ap"));
    away.ask("PUBLISH x two");
    assertThat(here.read()).isEqualTo("[message, x, two]");
  }

  /** A home whose only holder has ended is out of reach; the others serve, and it comes back. */
  @Test
  void homeWithoutItsHolder_isNamed_andTheOthersServe() throws Exception {
    ThreeRedis all = start();
    RawRedis redis = open.add(all.connect("ap"));
    assertThat(redis.ask("MSET eu:k 1 us:k 2 ap:k 3")).isEqualTo("+OK");
    all.kill("us");
    await()
        .atMost(Patience.LIMIT)
        .until(
            () -> {
              try (RawRedis asks = all.connect("ap")) {
                return asks.ask("GET us:k").startsWith("-LOADING");
              }
            });
    try (RawRedis asks = all.connect("ap")) {
      assertThat(asks.ask("MGET eu:k ap:k")).isEqualTo("[1, 3]");
      assertThat(asks.ask("INFO everything")).as("of what is in reach").contains("# Keyspace");
      for (String command : List.of("MGET eu:k us:k", "DBSIZE", "KEYS *", "SET us:k 7")) {
        assertThat(asks.ask(command)).as(command).startsWith("-LOADING").contains("us");
      }
    }
    all.start("us");
    await()
        .atMost(Patience.LIMIT)
        .until(
            () -> {
              try (RawRedis asks = all.connect("ap")) {
                return asks.ask("MGET eu:k us:k ap:k").equals("[1, 2, 3]");
              }
            });
  }
}
