package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What Redis does not have, over connections to a datacenter. */
final class OsierConnectionTest {
  @SuppressWarnings("NullAway") // by start
  private static Datacenter datacenter;

  @BeforeAll
  static void start() {
    datacenter =
        TestCluster.one(
            """
            osier {
              dc = eu
              listen { client-port = 0, peer-port = 0, redis-port = 0 }
              store { dir = "" }
              shutdown-timeout = 0s
              redis { databases { 0 = shop, 1 = carts } }
              keyspaces {
                shop { partitions = 1, consistency = causal }
                carts { partitions = 8 }
              }
            }
            """);
  }

  @AfterAll
  static void stop() {
    datacenter.close();
  }

  private static RawRedis connect() throws IOException {
    return new RawRedis(datacenter.redisPort().orElseThrow());
  }

  @Test
  void transactionOfSeveralSteps_inOneBuffer_isDoneStepByStep() throws IOException {
    try (RawRedis redis = connect();
        RawRedis other = connect()) {
      List<String> answers =
          redis.askAll(
              "SET a 1",
              "OSIER.BEGIN 600",
              "OSIER.UPDATE counter incr n 2",
              "OSIER.UPDATE counter incr n 3",
              "OSIER.READ counter get n",
              "GET a",
              "OSIER.UPDATE counter incr n x",
              "OSIER.READ string get a",
              "PING");
      assertThat(answers.get(5)).startsWith("-ERR 'get' is no step of a transaction");
      assertThat(answers.get(6)).startsWith("-ERR 'x' must be a whole number");
      answers.subList(5, 7).clear();
      assertThat(answers).containsExactly("+OK", "+OK", "+OK", "+OK", ":5", "1", "+PONG");
      assertThat(other.ask("EXISTS n")).isEqualTo(":0");
      assertThat(redis.askAll("OSIER.COMMIT", "GET n")).containsExactly("+OK", "5");
      assertThat(other.ask("GET n")).isEqualTo("5");
      assertThat(redis.askAll("OSIER.BEGIN", "OSIER.UPDATE counter incr n", "RESET", "GET n"))
          .containsExactly("+OK", "+OK", "+RESET", "5");
      assertThat(redis.ask("OSIER.ABORT")).startsWith("-ERR no transaction is open");
      assertThat(redis.ask("OSIER.BEGIN 0")).isEqualTo("-ERR a transaction lasts 1 to 600 s");
      redis.ask("SELECT 1");
      assertThat(redis.ask("OSIER.BEGIN")).startsWith("-ERR ").contains("causal");
      assertThat(redis.askAll("MULTI", "OSIER.BEGIN").get(1)).contains("not allowed inside");
    }
  }

  @Test
  void token_isOfTheSelectedDatabase_behindWhatWasWritten() throws IOException {
    try (RawRedis redis = connect()) {
      for (int database = 0; database < 2; database++) {
        List<String> answers =
            redis.askAll(
                "SELECT " + database, "SET a 1", "OSIER.UPDATE set add s e", "OSIER.TOKEN");
        String token = answers.getLast();
        assertThat(token).matches("[-_A-Za-z0-9]+");
        assertThat(redis.ask("OSIER.AFTER " + token)).isEqualTo("+OK");
        assertThat(redis.ask("OSIER.AFTER " + token + " 0")).isEqualTo("+OK");
        assertThat(redis.ask("OSIER.AFTER " + token + " 60001")).startsWith("-ERR the time");
      }
      assertThat(redis.ask("OSIER.AFTER x")).startsWith("-ERR this is no session token");
      assertThat(redis.ask("OSIER.AFTER")).startsWith("-ERR wrong number of arguments");
    }
  }

  @Test
  void wait_whereThereIsNoOtherDatacenter_isAnsweredZero() throws IOException {
    try (RawRedis redis = connect()) {
      assertThat(redis.askAll("WAIT 0 0", "SET a 1", "WAIT 0 0", "WAIT 1 10", "WAITAOF 0 0 0"))
          .containsExactly(":0", "+OK", ":0", ":0", "[:0, :0]");
      assertThat(
              redis.askAll("WAIT 1 -1", "WAIT 1 x", "WAIT x 1", "WAITAOF 2 0 0", "WAITAOF 1 0 0"))
          .containsExactly(
              "-ERR timeout is negative",
              "-ERR timeout is not an integer or out of range",
              "-ERR value is not an integer or out of range",
              "-ERR value is out of range, must be 0 or 1",
              "-ERR WAITAOF cannot be used when numlocal is set but this datacenter keeps its data"
                  + " in memory only");
      assertThat(redis.askAll("MULTI", "WAIT 0 0").get(1)).contains("not allowed inside");
    }
  }

  @Test
  void watch_tellsOfChanges_andAnotherOneGoesOnFromItsPosition() throws IOException {
    String position;
    try (RawRedis redis = connect();
        RawRedis writer = connect()) {
      redis.ask("HELLO 3");
      assertThat(redis.ask("OSIER.WATCH w:*")).isEqualTo("[osier.watch, w:*, :1]");
      assertThat(redis.read()).matches(">\\[osier.changes, w:\\*, [-_A-Za-z0-9]+, :[01], \\[]]");
      writer.ask("SADD w:1 e");
      writer.ask("SET other e");
      assertThat(redis.read()).contains("[[w:1, set, eu]]");
      writer.ask("OSIER.UPDATE counter incr w:2");
      String told = redis.read();
      assertThat(told).contains("[[w:2, counter, eu]]");
      position = told.split(", ")[2];
      assertThat(redis.ask("OSIER.WATCH w:*"))
          .startsWith("-ERR this key or prefix is watched already");
      assertThat(redis.ask("GET other")).isEqualTo("e");
      assertThat(redis.ask("OSIER.UNWATCH")).isEqualTo("[osier.unwatch, w:*, :0]");
      writer.ask("SET w:3 e");
      assertThat(redis.ask("OSIER.UNWATCH")).isEqualTo("[osier.unwatch, :0]");
    }
    try (RawRedis redis = connect()) { // RESP2
      assertThat(redis.ask("OSIER.WATCH w:* from " + position)).isEqualTo("[osier.watch, w:*, :1]");
      String told = redis.read();
      if (told.endsWith(", []]")) {
        told = redis.read();
      }
      assertThat(told).contains("[w:3, string, ").doesNotContain("w:1");
      assertThat(redis.ask("GET w:1")).startsWith("-ERR Can't execute 'get'");
      assertThat(redis.ask("PING")).isEqualTo("[pong, ]");
      assertThat(redis.ask("RESET")).isEqualTo("+RESET");
      assertThat(redis.ask("GET w:3")).isEqualTo("e");
      redis.ask("OSIER.WATCH w:1 from beginning");
      assertThat(redis.read()).startsWith("[osier.changes, w:1, ").contains("[w:1, ");
    }
  }

  @Test
  void watch_thatCannotBe_isRefused_orEnds() throws IOException {
    try (RawRedis redis = connect()) {
      redis.ask("HELLO 3");
      assertThat(redis.ask("OSIER.WATCH w from x")).startsWith("-ERR this is no watcher's pos");
      assertThat(redis.ask("OSIER.WATCH w 3")).startsWith("-ERR OSIER.WATCH tells of all");
      assertThat(redis.ask("OSIER.WATCH w to x")).startsWith("-ERR usage: watch KEY");
      assertThat(redis.askAll("MULTI", "OSIER.WATCH w", "DISCARD").get(1))
          .contains("not allowed inside");
      redis.ask("SELECT 1");
      redis.ask("OSIER.WATCH *");
      String told = redis.read();
      redis.ask("SELECT 0"); // which has other partitions
      redis.ask("OSIER.WATCH a* from " + told.split(", ")[2]);
      assertThat(redis.read())
          .startsWith(">[osier.ended, a*, INVALID_ARGUMENT ")
          .contains("partitions");
      for (int i = 1; i < 100; i++) {
        redis.ask("OSIER.WATCH never" + i + "*");
        redis.read(); // its position
      }
      assertThat(redis.ask("OSIER.WATCH b*")).contains("at most 100");
    }
  }
}
