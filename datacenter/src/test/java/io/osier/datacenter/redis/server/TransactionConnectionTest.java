package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** MULTI to EXEC over connections to a datacenter, byte by byte. */
final class TransactionConnectionTest {
  private static final String ABORTED =
      "-EXECABORT Transaction discarded because of previous errors.";

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
              keyspaces { shop { partitions = 1 }, carts { partitions = 8 } }
            }
            """);
  }

  @AfterAll
  static void stop() {
    datacenter.close();
  }

  @BeforeEach
  void flush() throws IOException {
    try (RawRedis redis = connect()) {
      assertThat(redis.ask("FLUSHALL")).isEqualTo("+OK");
    }
  }

  private static RawRedis connect() throws IOException {
    return new RawRedis(datacenter.redisPort().orElseThrow());
  }

  @Test
  void transactionsInOneBuffer_areDoneInOrder() throws IOException {
    try (RawRedis redis = connect()) {
      List<String> commands = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        commands.addAll(
            List.of("APPEND s x", "MULTI", "INCR n", "APPEND s y", "STRLEN s", "EXEC", "GET s"));
      }
      List<String> answers = redis.askAll(commands.toArray(new String[0]));
      for (int i = 0; i < 100; i++) {
        int length = 2 * i + 2;
        assertThat(answers.subList(7 * i, 7 * i + 7))
            .containsExactly(
                ":" + (length - 1),
                "+OK",
                "+QUEUED",
                "+QUEUED",
                "+QUEUED",
                "[:" + (i + 1) + ", :" + length + ", :" + length + "]",
                "xy".repeat(i + 1));
      }
    }
  }

  @Test
  void watch_changedByAnotherConnection_nullArray() throws IOException {
    try (RawRedis redis = connect();
        RawRedis other = connect()) {
      assertThat(redis.askAll("WATCH s", "GET s")).containsExactly("+OK", "null");
      assertThat(other.ask("SET s 1")).isEqualTo("+OK");
      redis.commands("MULTI", "SET s 2", "EXEC");
      redis.read();
      redis.read();
      assertThat(redis.readLine()).isEqualTo("*-1");
      assertThat(redis.askAll("HELLO 3", "WATCH s", "SET s 3", "MULTI", "EXEC").getLast())
          .as("its own update, in RESP3")
          .isEqualTo("_");
    }
  }

  @Test
  void errorsWhileQueued_abort() throws IOException {
    try (RawRedis redis = connect()) {
      for (String wrong :
          List.of("NOSUCH", "SET s", "ZADD z 1 a", "KEYS *", "LCS s s", "AUTH a b", "SELECT 1")) {
        List<String> answers = redis.askAll("MULTI", "SET s 1", wrong, "SET s 2", "EXEC", "GET s");
        assertThat(answers.get(2)).as(wrong).startsWith("-ERR ");
        assertThat(answers.subList(3, 6)).as(wrong).containsExactly("+QUEUED", ABORTED, "null");
      }
      assertThat(redis.askAll("MULTI", "EXEC now", "EXEC"))
          .containsExactly(
              "+OK",
              "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec'"
                  + " command",
              "-ERR EXEC without MULTI");
      assertThat(
              redis.askAll("DISCARD", "MULTI", "MULTI", "WATCH s", "UNWATCH", "SELECT 0", "EXEC"))
          .containsExactly(
              "-ERR DISCARD without MULTI",
              "+OK",
              "-ERR MULTI calls can not be nested",
              "-ERR WATCH inside MULTI is not allowed",
              "+QUEUED",
              "+QUEUED",
              "[+OK, +OK]");
    }
  }

  @Test
  void keysOfOnePartition_ofOneDatabase() throws IOException {
    try (RawRedis redis = connect()) {
      assertThat(redis.askAll("SELECT 1", "MULTI", "SET a 1", "SET b 1", "SET c 1", "EXEC"))
          .contains("-CROSSSLOT Keys in request don't hash to the same slot")
          .endsWith(ABORTED);
      assertThat(redis.askAll("WATCH a", "SELECT 0", "MULTI", "GET a", "EXEC"))
          .endsWith(
              "-CROSSSLOT the keys of a transaction, and those it watches, are of one database",
              ABORTED);
      assertThat(redis.askAll("SELECT 1", "WATCH a", "SELECT 0", "MULTI", "PING", "EXEC").getLast())
          .startsWith("-EXECABORT the database");
      assertThat(redis.askAll("MULTI", "SADD s 1", "SORT s BY w_*", "EXEC").getLast())
          .isEqualTo("[:1, -ERR a step of a program is about 'w_1', which it does not name]");
    }
  }

  @Test
  void publish_isDoneWithTheTransaction() throws IOException {
    try (RawRedis redis = connect();
        RawRedis subscriber = connect()) {
      subscriber.ask("SUBSCRIBE news");
      assertThat(redis.askAll("MULTI", "PUBLISH news forgotten", "DISCARD").getLast())
          .isEqualTo("+OK");
      assertThat(redis.askAll("MULTI", "PUBLISH news aborted", "NOSUCH", "EXEC").getLast())
          .isEqualTo(ABORTED);
      assertThat(redis.askAll("MULTI", "SET s 1", "PUBLISH news done", "EXEC").getLast())
          .isEqualTo("[+OK, :1]");
      assertThat(subscriber.read()).isEqualTo("[message, news, done]");
    }
  }

  @Test
  void resetAndQuit_forgetAll() throws IOException {
    try (RawRedis redis = connect()) {
      assertThat(redis.askAll("MULTI", "SET s 1", "RESET", "EXEC", "GET s"))
          .containsExactly("+OK", "+QUEUED", "+RESET", "-ERR EXEC without MULTI", "null");
      assertThat(redis.askAll("WATCH s", "CLIENT INFO").getLast()).contains(" multi=-1 watch=1 ");
      assertThat(redis.askAll("MULTI", "SET s 1", "QUIT")).containsExactly("+OK", "+QUEUED", "+OK");
      assertThat(redis.hasEnded()).isTrue();
    }
    try (RawRedis redis = connect()) {
      assertThat(redis.ask("GET s")).isEqualTo("null");
    }
  }

  @Test
  void counters_ofManyConnectionsThatWatch_loseNothing() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      threads.add(
          Thread.ofPlatform()
              .uncaughtExceptionHandler((thread, e) -> failures.add(e))
              .start(
                  () -> {
                    try (RawRedis redis = connect()) {
                      for (int n = 0; n < 50; ) {
                        String read = redis.askAll("WATCH n", "GET n").getLast();
                        int next = read.equals("null") ? 1 : Integer.parseInt(read) + 1;
                        redis.commands("MULTI", "SET n " + next, "EXEC");
                        redis.read();
                        redis.read();
                        if (redis.readLine().equals("*1")) {
                          redis.readLine();
                          n++;
                        }
                      }
                    } catch (IOException e) {
                      throw new IllegalStateException(e);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).isEmpty();
    try (RawRedis redis = connect()) {
      assertThat(redis.ask("GET n")).isEqualTo("150");
    }
  }
}
