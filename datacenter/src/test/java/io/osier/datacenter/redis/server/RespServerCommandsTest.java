package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.UserLimits;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Errors, limits and the commands about the server and its connections. */
final class RespServerCommandsTest extends RespFixture {
  @Test
  void errors_areWordedAsRedisWordsThem() throws Exception {
    RawRedis redis = connect();
    assertThat(redis.ask("nope a b"))
        .isEqualTo("-ERR unknown command 'nope', with args beginning with: 'a' 'b' ");
    assertThat(redis.ask("get")).isEqualTo("-ERR wrong number of arguments for 'get' command");
    assertThat(redis.ask("PING a b"))
        .isEqualTo("-ERR wrong number of arguments for 'ping' command");
    assertThat(redis.ask("CLIENT KILL"))
        .isEqualTo("-ERR wrong number of arguments for 'client|kill' command");
    assertThat(redis.ask("CLIENT KILL ID 0")).contains("greater than 0");
    assertThat(redis.ask("CLIENT KILL USER nobody")).startsWith("-ERR No such user");
    assertThat(redis.ask("SELECT 3")).isEqualTo("-ERR DB index is out of range");
    assertThat(redis.ask("SELECT 0")).isEqualTo("+OK");
    assertThat(redis.ask("SELECT +0")) // as Redis reads numbers
        .isEqualTo("-ERR value is not an integer or out of range");
    assertThat(redis.ask("HELLO 03"))
        .isEqualTo("-ERR Protocol version is not an integer or out of range");
    assertThat(redis.ask("HELLO 4")).isEqualTo("-NOPROTO unsupported protocol version");
    assertThat(redis.ask("CLIENT NOPE"))
        .startsWith("-ERR unknown subcommand 'NOPE'. CLIENT has CACHING, GETNAME, ");
    for (String command :
        List.of(
            "ACL", "COMMAND", "CONFIG", "DEBUG", "LATENCY", "MEMORY", "OBJECT", "PUBSUB",
            "SLOWLOG")) {
      String refusal = redis.ask(command + " HELP a");
      String before = "-ERR unknown subcommand 'HELP'. " + command + " has ";
      assertThat(refusal).startsWith(before).endsWith(".");
      for (String part : refusal.substring(before.length(), refusal.length() - 1).split(", ")) {
        assertThat(redis.ask(command + " " + part)).doesNotContain("unknown subcommand");
      }
    }
    assertThat(redis.ask("LPUSH l 1")).startsWith("-ERR 'lpush' is not served by Osier: lists");
    redis.send("*2\r\n$3\r\nGET\r\n$0\r\n\r\n");
    assertThat(redis.read()).startsWith("-ERR a key has 1 to 4096 bytes");
    redis.send("*1\r\n$3\r\nG\0T\r\n");
    assertThat(redis.read()).startsWith("-ERR unknown command 'G");
    assertThat(asked).isEmpty();
    Map<ErrorCode, String> words =
        Map.of(
            ErrorCode.WRONG_TYPE, "-WRONGTYPE ",
            ErrorCode.UNAVAILABLE, "-LOADING ",
            ErrorCode.OVERLOADED, "-BUSY nothing was done",
            ErrorCode.STORE_FULL, "-MISCONF ",
            ErrorCode.REFUSED_BY_PEERS, "-MISCONF ",
            ErrorCode.FORBIDDEN, "-NOPERM ",
            ErrorCode.UNKNOWN_KEYSPACE, "-ERR DB index is out of range");
    for (Map.Entry<ErrorCode, String> each : words.entrySet()) {
      redis.commands("GET k");
      next().reply().accept(new Reply.Failure(each.getKey(), "why"));
      assertThat(redis.read()).as("%s", each.getKey()).startsWith(each.getValue());
    }
  }

  @Test
  void hello_3_answersInTheNewForm() throws Exception {
    RawRedis redis = connect();
    assertThat(redis.ask("GET")).startsWith("-");
    assertThat(redis.ask("KEYS " + "*a".repeat(513))).contains("at most 1024 bytes");
    assertThat(redis.ask("SCAN 0 MATCH " + "*a".repeat(513))).contains("at most 1024 bytes");
    assertThat(redis.ask("CLIENT SETNAME " + "n".repeat(1_025)))
        .startsWith("-ERR")
        .contains("1024");
    assertThat(redis.ask("HELLO 3 SETNAME me")).contains("proto, :3");
    assertThat(redis.ask("CLIENT GETNAME")).isEqualTo("me");
    redis.commands("CLIENT GETNAME", "RESET", "CLIENT GETNAME");
    assertThat(redis.read()).isEqualTo("me");
    assertThat(redis.read()).isEqualTo("+RESET");
    assertThat(redis.read()).isEqualTo("null"); // in the old form again
  }

  @Test
  void killedClient_isClosed_andListed() throws Exception {
    start();
    try (RawRedis one = new RawRedis(port);
        RawRedis two = new RawRedis(port)) {
      String id = one.ask("CLIENT ID").substring(1);
      assertThat(two.ask("CLIENT LIST")).contains("id=" + id + " ", "cmd=client", "user=default");
      assertThat(two.ask("CLIENT KILL ID " + id)).isEqualTo(":1");
      assertThat(one.hasEnded()).isTrue();
      await()
          .atMost(Patience.LIMIT)
          .until(() -> !two.ask("CLIENT LIST").contains("id=" + id + " "));
    }
  }

  @Test
  void killedClients_areNotListedBehindThat_whateverLoopTheyAreOn() throws Exception {
    RawRedis killer = connect();
    for (int i = 0; i < 20; i++) {
      try (RawRedis other = new RawRedis(port)) {
        String id = other.ask("CLIENT ID").substring(1);
        killer.commands("CLIENT KILL ID " + id, "CLIENT LIST", "CLIENT KILL ID " + id);
        assertThat(killer.read()).isEqualTo(":1");
        assertThat(killer.read()).doesNotContain("id=" + id + " ");
        assertThat(killer.read()).isEqualTo(":0");
        assertThat(other.hasEnded()).isTrue();
      }
    }
  }

  @Test
  void connections_overTheLimit_areToldSo() throws Exception {
    start(new PortLimits(1, 60_000, 60_000), UserLimits.NONE);
    RawRedis one = connect();
    assertThat(one.ask("PING")).isEqualTo("+PONG");
    try (RawRedis two = new RawRedis(port)) {
      assertThat(two.read()).startsWith("-ERR max number of clients reached");
      assertThat(two.hasEnded()).isTrue();
    }
  }

  @Test
  void requestsOfAUser_overTheLimit_areRefusedByName() throws Exception {
    UserLimits.Limit two = UserLimits.Limit.given(2);
    start(
        PortLimits.DEFAULT,
        new UserLimits(UserLimits.Limit.given(10), two, UserLimits.Limit.given(1 << 20)));
    try (RawRedis redis = new RawRedis(port);
        RawRedis other = new RawRedis(port)) {
      redis.commands("GET a", "GET b");
      Waiting a = next();
      Waiting b = next(); // both are under way now
      assertThat(other.ask("GET c"))
          .startsWith("-BUSY nothing was done")
          .contains("user-limits.requests");
      a.reply().accept(answer("1"));
      b.reply().accept(answer("2"));
      assertThat(redis.read()).isEqualTo("1");
      assertThat(redis.read()).isEqualTo("2");
    }
  }

  @Test
  void commands_thatWaitForTheDatacenter_areNoSlowFrame() throws Exception {
    start(new PortLimits(10, 60_000, 40), UserLimits.NONE);
    RawRedis redis = connect();
    redis.commands(Collections.nCopies(1_025, "GET k").toArray(String[]::new));
    List<Waiting> first = new ArrayList<>();
    for (int i = 0; i < 1_024; i++) {
      first.add(next());
    }
    try (RawRedis half = new RawRedis(port)) {
      half.send("*2\r\n$4\r\nECH");
      assertThat(half.hasEnded()).isTrue(); // so the other one has been looked at, too
    }
    first.forEach(w -> w.reply().accept(answer("v")));
    next().reply().accept(answer("last"));
    for (int i = 0; i < 1_024; i++) {
      assertThat(redis.read()).isEqualTo("v");
    }
    assertThat(redis.read()).isEqualTo("last");
  }

  @Test
  void commandGetKeys_ofCountedKeys_findsThem() throws Exception {
    RawRedis redis = connect();
    assertThat(redis.ask("COMMAND GETKEYS SINTERCARD 2 a b LIMIT 1")).isEqualTo("[a, b]");
    assertThat(redis.ask("COMMAND GETKEYS SINTERCARD 3 a b"))
        .isEqualTo("-ERR Invalid arguments specified for command");
    assertThat(redis.ask("COMMAND GETKEYS SINTERCARD x a b")).startsWith("-ERR Invalid");
    assertThat(redis.ask("COMMAND INFO SINTERCARD")).contains("movablekeys");
    assertThat(redis.ask("COMMAND GETKEYS MSET a 1 b 2")).isEqualTo("[a, b]");
    assertThat(redis.ask("COMMAND GETKEYS PING a")).contains("no key arguments");
  }

  @Test
  void flush_thatStopsOnItsWay_doesNotSayThatNothingWasDone() throws Exception {
    RawRedis redis = connect();
    Reply.Failure refused = new Reply.Failure(ErrorCode.OVERLOADED, "why");
    redis.commands("FLUSHDB");
    next().reply().accept(refused);
    assertThat(redis.read()).isEqualTo("-BUSY nothing was done: why");
    redis.commands("FLUSHDB");
    next()
        .reply()
        .accept(
            new Reply.Page(
                List.of(new Reply.Row(Key.of("k"), CrdtType.STRING, new Reading.Flag(true))),
                Optional.of(Key.of("l")),
                List.of()));
    next().reply().accept(new Reply.All(List.of(new Reply.Done(new Dot(EU, 1)))));
    next().reply().accept(refused);
    assertThat(redis.read()).isEqualTo("-BUSY only a part was done: why");
  }

  @Test
  void configSet_ofWhatIsNoNumber_isAnErrorWhereOneIsMeant() throws Exception {
    RawRedis redis = connect();
    for (String wrong : List.of("bla", "1x", "1.5", "--1", "1mbb")) {
      assertThat(redis.ask("CONFIG SET maxmemory " + wrong))
          .as(wrong)
          .isEqualTo(
              "-ERR CONFIG SET failed (possibly related to argument 'maxmemory') - argument must"
                  + " be a number");
    }
    for (String right : List.of("0", "-2", "100mb", "7k", "50%")) {
      assertThat(redis.ask("CONFIG SET maxmemory " + right)).as(right).isEqualTo("+OK");
    }
    assertThat(redis.ask("CONFIG SET maxmemory-policy any")).isEqualTo("+OK");
    // The former names, which older clients and Redis' own tests set.
    assertThat(redis.ask("CONFIG SET hash-max-ziplist-value 10")).isEqualTo("+OK");
    assertThat(redis.ask("CONFIG GET hash-max-ziplist-value")).contains("10");
  }

  @Test
  void configSet_ofAPassword_isNoSilentSuccess() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      assertThat(redis.ask("CONFIG SET requirepass secret"))
          .startsWith("-ERR")
          .contains("cli user");
      redis.send("CONFIG SET requirepass \"\"\r\n");
      assertThat(redis.read()).isEqualTo("+OK");
    }
  }
}
