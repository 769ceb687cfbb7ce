package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A database of Redis is a keyspace that has homes, or one of the homes. */
final class HomeDatabasesTest {
  private static final String CONFIG =
      """
      osier {
        dc = eu, store.dir = ""
        redis.databases { 0 = carts, 1 = "carts@eu" }
        listen { client-port = 0, peer-port = 0, redis-port = 0 }
      }
      """;

  private static final String OTHER_SLOT = "-CROSSSLOT Keys in request don't hash to the same slot";

  private final Datacenter datacenter = Datacenter.start(ConfigReader.read("eu", CONFIG, Map.of()));

  @AutoClose private final Opened open = new Opened();

  private OsierClient client;

  @BeforeEach
  void create() {
    client = open.add(PatientClients.of("eu", datacenter.clientPort()).build());
    client.awaitConnected(Patience.LIMIT);
    await().atMost(Patience.LIMIT).until(datacenter::isReady);
    client.admin().createKeyspace("carts", k -> k.homes("eu", "us").partitions(2));
  }

  @AfterEach
  void stop() {
    TestCluster.inAHurry(datacenter::close);
  }

  private RawRedis connect() throws Exception {
    RawRedis redis = open.add(new RawRedis(datacenter.redisPort().orElseThrow()));
    await()
        .atMost(Patience.LIMIT)
        .until(() -> redis.ask("MGET a eu:a us:a").equals("[null, null, null]"));
    return redis;
  }

  @Test
  void commands_goToTheHomesOfTheirKeys() throws Exception {
    RawRedis redis = connect();
    assertThat(redis.ask("MSET a 1 eu:a 2 us:{eu}b 3 us:c 4 d 5")).isEqualTo("+OK");
    assertThat(redis.ask("INCR eu:a")).isEqualTo(":3");
    assertThat(redis.ask("APPEND us:c 7")).isEqualTo(":2");
    assertThat(redis.ask("OSIER.UPDATE counter incr eu:n 3")).isEqualTo("+OK");
    assertThat(redis.ask("OSIER.READ counter get eu:n")).isEqualTo(":3");
    assertThat(redis.ask("MGET us:c a eu:a none us:{eu}b")).isEqualTo("[47, 1, 3, null, 3]");
    assertThat(redis.ask("EXISTS a eu:a us:c us:d eu:n")).isEqualTo(":4");
    assertThat(redis.ask("DBSIZE")).isEqualTo(":6");
    assertThat(redis.ask("INFO keyspace")).contains("db0:keys=6,", "db1:keys=3,");
    assertThat(List.of("a", "d", "eu:a", "eu:n", "us:c", "us:{eu}b"))
        .contains(redis.ask("RANDOMKEY"));
    Keyspace carts = client.session().keyspace("carts");
    assertThat(carts.getAll(List.of("a", "eu:a", "us:{eu}b", "us:c", "d")).values())
        .as("what Java finds")
        .allMatch(Keyspace.Found::exists);
    for (String command : List.of("RENAME a eu:a", "COPY us:c eu:c", "SINTER a eu:a")) {
      assertThat(redis.ask(command)).as(command).isEqualTo(OTHER_SLOT);
    }
    assertThat(redis.ask("DEL a eu:a us:c none")).isEqualTo(":3");
    assertThat(redis.ask("DBSIZE")).isEqualTo(":3");
    assertThat(redis.ask("FLUSHDB")).isEqualTo("+OK");
    assertThat(redis.ask("DBSIZE")).isEqualTo(":0");
    assertThat(redis.ask("RANDOMKEY")).isEqualTo("null");
  }

  @Test
  void walks_goThroughAllHomes_fromAnyPlace() throws Exception {
    RawRedis redis = connect();
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      keys.addAll(List.of("k" + i, "eu:k" + i, "us:k" + i));
    }
    for (String key : keys) {
      redis.ask("SET " + key + " 1");
    }
    assertThat(words(redis.ask("KEYS *"))).containsExactlyInAnyOrderElementsOf(keys);
    assertThat(words(redis.ask("KEYS us:k1*"))).hasSize(11).allMatch(k -> k.startsWith("us:k1"));
    for (String count : List.of("1", "7", "25", "1000")) {
      List<String> shown = new ArrayList<>();
      String cursor = "0";
      do {
        String answer = redis.ask("SCAN " + cursor + " COUNT " + count);
        int comma = answer.indexOf(',');
        cursor = answer.substring(1, comma);
        shown.addAll(words(answer.substring(comma + 2, answer.length() - 1)));
      } while (!cursor.equals("0"));
      assertThat(shown).as("by %s", count).containsExactlyInAnyOrderElementsOf(keys);
    }
    assertThat(redis.ask("SELECT 1")).isEqualTo("+OK");
    assertThat(redis.ask("FLUSHALL")).isEqualTo("+OK");
    assertThat(redis.ask("DBSIZE")).isEqualTo(":0");
    assertThat(redis.ask("SELECT 0")).isEqualTo("+OK");
    assertThat(redis.ask("DBSIZE")).isEqualTo(":0");
  }

  private static List<String> words(String array) {
    String inside = array.substring(1, array.length() - 1);
    return inside.isEmpty() ? List.of() : List.of(inside.split(", "));
  }

  @Test
  void transaction_isOfOneHomeAndPartition() throws Exception {
    RawRedis redis = connect();
    RawRedis other = connect();
    assertThat(redis.askAll("WATCH us:a", "MULTI", "INCR us:a", "GET us:a", "EXEC"))
        .isEqualTo(List.of("+OK", "+OK", "+QUEUED", "+QUEUED", "[:1, 1]"));
    assertThat(redis.ask("WATCH us:a")).isEqualTo("+OK");
    assertThat(other.ask("INCR us:a")).isEqualTo(":2");
    assertThat(redis.askAll("MULTI", "INCR us:a", "EXEC").getLast()).as("nil").isEqualTo("[]");
    assertThat(redis.askAll("MULTI", "INCR us:a", "INCR eu:a", "EXEC"))
        .satisfies(answers -> assertThat(answers.get(2)).isEqualTo(OTHER_SLOT))
        .satisfies(answers -> assertThat(answers.get(3)).startsWith("-EXECABORT"));
    assertThat(redis.ask("GET us:a")).isEqualTo("2");
  }

  @Test
  void token_isOfAllHomes_andSoIsWait() throws Exception {
    RawRedis redis = connect();
    redis.ask("MSET a 1 eu:a 2 us:a 3");
    String token = redis.ask("OSIER.TOKEN");
    assertThat(redis.ask("OSIER.AFTER " + token)).isEqualTo("+OK");
    assertThat(redis.ask("WAIT 0 0")).isEqualTo(":0");
  }

  @Test
  void caches_hearOfTheKeysOfAllHomes() throws Exception {
    RawRedis redis = connect();
    RawRedis other = connect();
    redis.ask("HELLO 3");
    assertThat(redis.ask("CLIENT TRACKING ON")).isEqualTo("+OK");
    redis.ask("MGET a eu:a us:a");
    for (String key : List.of("us:a", "a", "eu:a")) {
      other.ask("SET " + key + " 1");
      assertThat(redis.read()).isEqualTo(">[invalidate, [" + key + "]]");
    }
    assertThat(redis.ask("CLIENT TRACKING OFF")).isEqualTo("+OK");
    assertThat(redis.ask("CLIENT TRACKING ON BCAST PREFIX us:")).isEqualTo("+OK");
    other.askAll("SET eu:b 1", "SET us:b 1");
    assertThat(redis.read()).isEqualTo(">[invalidate, [us:b]]");
  }

  /** Else the client took it for ended, and what it asks next would be queued. */
  @Test
  void execOfADroppedKeyspace_endsItsTransaction() throws Exception {
    RawRedis redis = connect();
    redis.ask("HELLO 3");
    assertThat(redis.ask("CLIENT TRACKING ON")).isEqualTo("+OK");
    assertThat(redis.askAll("WATCH eu:a", "MULTI", "GET eu:a").getLast()).isEqualTo("+QUEUED");
    client.admin().dropKeyspace("carts");
    assertThat(redis.ask("EXEC")) // as long as the port does not look at its keyspaces anew
        .matches("-(ERR DB index is out of range|EXECABORT Transaction discarded because of: .*)");
    assertThat(redis.ask("PING")).isEqualTo("+PONG");
    assertThat(redis.ask("EXEC")).isEqualTo("-ERR EXEC without MULTI");
  }

  /** Its first updates have the numbers that those of the former one had. */
  @Test
  void execBehindAWatchOfAFormerKeyspaceOfTheName_doesNothing() throws Exception {
    RawRedis redis = connect();
    RawRedis empty = connect();
    assertThat(redis.askAll("SET eu:a 1", "WATCH eu:a", "MULTI", "SET eu:a 2").getLast())
        .isEqualTo("+QUEUED");
    assertThat(empty.askAll("WATCH us:a", "MULTI", "SET us:a 2").getLast()).isEqualTo("+QUEUED");
    client.admin().dropKeyspace("carts");
    client.admin().createKeyspace("carts", k -> k.homes("eu", "us").partitions(2));
    RawRedis other = connect();
    assertThat(other.ask("SET eu:a 1")).isEqualTo("+OK");
    assertThat(redis.ask("EXEC")).isEqualTo("[]");
    assertThat(empty.ask("EXEC")).isEqualTo("[]");
    assertThat(other.ask("MGET eu:a us:a")).isEqualTo("[1, null]");
    assertThat(redis.askAll("WATCH eu:a", "MULTI", "SET eu:a 2", "EXEC").getLast())
        .isEqualTo("[+OK]");
  }

  @Test
  void whatADatacenterDoesWithAKeyspace_isToldOfAllHomesThatAreHere() throws Exception {
    RawRedis redis = connect();
    redis.askAll("INCR n", "INCR eu:n", "INCR us:n");
    assertThat(inspected(Request.Topic.HOT, "carts")).contains("\"n\"", "\"eu:n\"", "\"us:n\"");
    assertThat(inspected(Request.Topic.HOT, "carts@eu")).contains("eu:n").doesNotContain("us:n");
    assertThat(inspected(Request.Topic.STAT, "carts")).contains("\"carts@us\"");
    assertThat(inspected(Request.Topic.DIGEST, "carts")).contains("\"carts\"", "\"carts@us\"");
  }

  private String inspected(Request.Topic topic, String keyspace) {
    return client.inspectAsync("eu", topic, Optional.of(keyspace), 5).join();
  }

  @Test
  void changes_areWatchedByKey_andByPrefixInOneHome() throws Exception {
    RawRedis redis = connect();
    redis.ask("HELLO 3");
    assertThat(redis.ask("OSIER.WATCH us:a")).isEqualTo("[osier.watch, us:a, :1]");
    assertThat(redis.read()).startsWith(">[osier.changes, us:a, ");
    redis.commands("SET us:a 1");
    assertThat(List.of(redis.read(), redis.read()))
        .anyMatch(answer -> answer.contains("[us:a, string, eu]"));
    assertThat(redis.ask("OSIER.WATCH us:*")).startsWith("-ERR").contains("carts@us");
    assertThat(redis.ask("OSIER.UNWATCH us:a us:*"))
        .as("a prefix is not watched, which is no error")
        .isEqualTo("[osier.unwatch, us:a, us:*, :0]");
    redis.ask("SELECT 1");
    assertThat(redis.ask("OSIER.WATCH eu:*")).isEqualTo("[osier.watch, eu:*, :1]");
  }

  @Test
  void databaseOfOneHome_refusesTheKeysOfOthersByName() throws Exception {
    RawRedis redis = connect();
    assertThat(redis.ask("SELECT 1")).isEqualTo("+OK");
    assertThat(redis.ask("MSET eu:a 2 us:{eu}b 3")).isEqualTo("+OK");
    refused(redis, "a", "SET a 1", "HSET a f 1", "COPY eu:a a", "MSET eu:a 7 eu:b 8 a 9");
    assertThat(redis.ask("MULTI")).isEqualTo("+OK");
    redis.ask("INCR eu:a");
    assertThat(redis.ask("INCR us:a")).contains("its home is 'carts@us'");
    assertThat(redis.ask("EXEC")).startsWith("-EXECABORT");
    assertThat(redis.ask("GET eu:a")).as("nothing of it was done").isEqualTo("2");
    assertThat(redis.ask("DBSIZE")).isEqualTo(":2");
    assertThat(redis.ask("KEYS *")).isEqualTo("[eu:a, us:{eu}b]");
  }

  private static void refused(RawRedis redis, String key, String... commands) throws Exception {
    for (String command : commands) {
      assertThat(redis.ask(command))
          .as(command)
          .startsWith("-ERR")
          .contains("with key '" + key + "': it is not in keyspace 'carts@eu'");
    }
  }
}
