package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.UserLimits;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.testing.Patience;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What connections that speak the Redis protocol send together, and in which order it is answered.
 */
final class RespConnectionTest extends RespFixture {
  private static String key(Waiting waiting) {
    return ((Request.Read) waiting.request()).key().toString();
  }

  private void answerSum(Waiting increment, String sum) {
    increment
        .reply()
        .accept(new Reply.Done(new Dot(EU, 1), Optional.of((Reply.Answer) answer(sum))));
  }

  @Test
  void pipeline_repliesInAnyOrder_leaveInTheCommandsOrder() throws Exception {
    RawRedis redis = connect();
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      List<String> commands = new ArrayList<>();
      List<String> expected = new ArrayList<>();
      List<Waiting> all = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        String word = "r" + round + "-" + i;
        boolean isRead = random.nextInt(3) > 0;
        commands.add((isRead ? "GET " : "ECHO ") + word);
        expected.add(isRead ? "value of " + word : word);
      }
      redis.commands(commands.toArray(String[]::new));
      for (String command : commands) {
        if (command.startsWith("GET")) {
          all.add(next());
        }
      }
      Collections.shuffle(all, random);
      all.forEach(w -> w.reply().accept(answer("value of " + key(w))));
      for (String text : expected) {
        assertThat(redis.read()).as("seed " + seed).isEqualTo(text);
      }
    }
  }

  @Test
  void read_behindAnUpdate_waitsForItsTurnThere() throws Exception {
    RawRedis redis = connect();
    redis.commands("GET k", "INCR k", "GET k");
    Waiting before = next();
    Waiting increment = next();
    Waiting behind = next();
    assertThat(((Request.Read) before.request()).ordered()).isFalse();
    assertThat(((Request.Read) behind.request()).ordered()).isTrue();
    before.reply().accept(answer("1"));
    answerSum(increment, "2");
    behind.reply().accept(answer("2"));
    assertThat(List.of(redis.read(), redis.read(), redis.read())).containsExactly("1", ":2", "2");
    redis.commands("GET k");
    Waiting later = next();
    assertThat(((Request.Read) later.request()).ordered()).isFalse();
    later.reply().accept(answer("2"));
    assertThat(redis.read()).isEqualTo("2");
  }

  @Test
  void command_ofSeveralSteps_holdsUpThoseBehindIt() throws Exception {
    RawRedis redis = connect();
    redis.commands("APPEND k x", "PING", "GET k");
    Waiting append = next();
    assertThat(redisWaits()).isTrue();
    append.reply().accept(new Reply.Failure(ErrorCode.STORE_FULL, "the disk is full"));
    assertThat(redis.read()).isEqualTo("-MISCONF the disk is full");
    assertThat(redis.read()).isEqualTo("+PONG");
    next().reply().accept(answer("v"));
    assertThat(redis.read()).isEqualTo("v");
  }

  /** Nothing was asked: what another connection asks behind it comes first. */
  private boolean redisWaits() throws Exception {
    try (RawRedis other = new RawRedis(port)) {
      other.commands("GET other");
      Waiting next = next();
      next.reply().accept(answer("o"));
      return key(next).equals("other") && other.read().equals("o");
    }
  }

  @Test
  void scan_behindUpdates_waitsUntilTheyAreAnswered() throws Exception {
    RawRedis redis = connect();
    redis.commands("INCR k", "KEYS *");
    Waiting increment = next();
    assertThat(redisWaits()).isTrue();
    answerSum(increment, "1");
    Waiting scan = next();
    assertThat(scan.request()).isInstanceOf(ScanRequest.class);
    scan.reply()
        .accept(
            new Reply.Page(
                List.of(
                    new Reply.Row(Key.of("k"), CrdtType.STRING, new Reading.Flag(true)),
                    new Reply.Row(Key.of("k"), CrdtType.AW_SET, new Reading.Flag(true))),
                Optional.empty(),
                List.of()));
    assertThat(redis.read()).isEqualTo(":1");
    assertThat(redis.read()).isEqualTo("[k]");
  }

  @ParameterizedTest
  @EnumSource(names = {"TIMEOUT", "SESSION_BEHIND"})
  void replyThatNoAnswerCanSay_endsTheConnectionBehindEarlierAnswers(ErrorCode code)
      throws Exception {
    RawRedis redis = connect();
    redis.commands("GET a", "INCR b", "GET c");
    Waiting a = next();
    Waiting b = next();
    Waiting c = next();
    c.reply().accept(answer("c"));
    b.reply().accept(new Reply.Failure(code, "it may be done, or lacks something"));
    a.reply().accept(answer("a"));
    assertThat(redis.read()).isEqualTo("a");
    assertThat(redis.hasEnded()).isTrue();
  }

  @Test
  void requestOfABrowser_doesNothing_andIsTold() throws Exception {
    start();
    for (String head : List.of("POST / HTTP/1.1\r\nHost: localhost", "GET / HTTP/1.1\r\nhost: x")) {
      try (RawRedis redis = new RawRedis(port)) {
        redis.send(head + "\r\nContent-Length: 9\r\n\r\nSET k v\r\n");
        String told = redis.read();
        while (!told.contains("HTTP")) {
          told = redis.read();
        }
        assertThat(told).contains("this looks like HTTP");
        assertThat(redis.hasEnded()).isTrue();
      }
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void protocolError_behindCommands_isToldBehindTheirAnswers() throws Exception {
    RawRedis redis = connect();
    redis.send("GET a\r\n*1\r\nPING\r\nGET b\r\n");
    next().reply().accept(answer("1"));
    assertThat(redis.read()).isEqualTo("1");
    assertThat(redis.read()).isEqualTo("-ERR Protocol error: expected '$', got 'P'");
    assertThat(redis.hasEnded()).isTrue();
    assertThat(asked).isEmpty();
  }

  @Test
  void pipeline_ofMoreThanAreUnderWayAtOnce_goesOnAsAnswersLeave() throws Exception {
    start();
    int count = 3_000;
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands(Collections.nCopies(count, "GET k").toArray(String[]::new));
      List<Waiting> first = new ArrayList<>();
      for (int i = 0; i < 1_024; i++) {
        first.add(next());
      }
      assertThat(redisWaits()).isTrue();
      first.forEach(w -> w.reply().accept(answer("v")));
      for (int i = first.size(); i < count; i++) {
        next().reply().accept(answer("v"));
      }
      for (int i = 0; i < count; i++) {
        assertThat(redis.read()).isEqualTo("v");
      }
    }
  }

  @Test
  void pipeline_ofLargeAnswers_isAskedAFewAtATime() throws Exception {
    RawRedis redis = connect();
    Reply large = answer(Value.of(new byte[4 << 20]));
    redis.commands("GET first");
    next().reply().accept(large);
    assertThat(redis.read()).hasSize(4 << 20);
    redis.commands("GET a", "GET b", "GET c", "GET d", "GET e", "GET f");
    List<Waiting> few = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      few.add(next());
    }
    assertThat(redisWaits()).isTrue();
    few.forEach(w -> w.reply().accept(large));
    for (int i = 0; i < 4; i++) {
      assertThat(redis.read()).hasSize(4 << 20);
    }
    for (int i = 0; i < 2; i++) {
      next().reply().accept(answer("small"));
    }
    assertThat(List.of(redis.read(), redis.read())).containsOnly("small");
  }

  @Test
  void pipeline_ofUnexpectedlyLargeAnswers_keepsNoMoreThanOneMayHave() throws Exception {
    start();
    Reply large = answer(Value.of(new byte[16 << 20])); // shared by all of them
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands(Collections.nCopies(10, "GET k").toArray(String[]::new));
      Waiting head = next();
      List<Waiting> others = new ArrayList<>();
      for (int i = 0; i < 9; i++) {
        others.add(next()); // all are under way before one is known to be large
      }
      others.forEach(w -> w.reply().accept(large));
      head.reply().accept(answer("head"));
      assertThat(redis.read()).isEqualTo("head");
      for (int i = 0; i < 7; i++) {
        assertThat(redis.read()).hasSize(16 << 20);
      }
      for (int i = 0; i < 2; i++) {
        assertThat(redis.read())
            .startsWith("-BUSY nothing was done")
            .contains("there is no memory for the answer");
      }
    }
  }

  @Test
  void whatFollowsFromMuch_isDecidedBesideTheLoop_andInOrder() throws Exception {
    keepsLarge = true;
    RawRedis redis = connect();
    redis.commands("GET small", "GET large", "PING");
    next().reply().accept(answer("s"));
    next().reply().accept(answer("x".repeat(1 << 20)));
    assertThat(redis.read()).isEqualTo("s");
    Runnable large = larges.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(large).isNotNull();
    assertThat(redisWaits()).isTrue(); // others are served meanwhile
    assertThat(larges).isEmpty();
    large.run();
    assertThat(redis.read()).hasSize(1 << 20);
    assertThat(redis.read()).isEqualTo("+PONG");
  }

  @Test
  void clientReply_offAndSkip_sendNothing() throws Exception {
    RawRedis redis = connect();
    redis.commands(
        "CLIENT REPLY OFF", "PING a", "CLIENT REPLY ON", "CLIENT REPLY SKIP", "PING b", "PING c");
    assertThat(redis.read()).isEqualTo("+OK");
    assertThat(redis.read()).isEqualTo("c");
  }

  @Test
  void quit_behindCommands_endsBehindItsAnswer() throws Exception {
    RawRedis redis = connect();
    redis.commands("GET a", "QUIT", "PING");
    next().reply().accept(answer("1"));
    assertThat(redis.read()).isEqualTo("1");
    assertThat(redis.read()).isEqualTo("+OK");
    assertThat(redis.hasEnded()).isTrue();
  }

  @Test
  void value_thatFindsNoRoom_endsTheConnectionWithWhy() throws Exception {
    UserLimits.Limit many = UserLimits.Limit.given(100);
    start(PortLimits.DEFAULT, new UserLimits(many, many, UserLimits.Limit.given(256 << 10)));
    try (RawRedis redis = new RawRedis(port)) {
      redis.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n" + "x".repeat(900_000));
      assertThat(redis.read()).contains("user-limits.bytes");
      try {
        assertThat(redis.hasEnded()).isTrue();
      } catch (IOException e) {
        // The system's word for bytes that nobody has read.
      }
    }
    assertThat(asked).isEmpty();
    await()
        .atMost(Patience.LIMIT)
        .until(() -> server.figures().users().stream().allMatch(u -> u.bytes() == 0));
  }

  @Test
  void command_ofSeveralSteps_countsWhatItHoldsMeanwhile() throws Exception {
    UserLimits.Limit many = UserLimits.Limit.given(100);
    start(PortLimits.DEFAULT, new UserLimits(many, many, UserLimits.Limit.given(256 << 10)));
    String payload = "x".repeat(150 << 10);
    try (RawRedis one = new RawRedis(port);
        RawRedis two = new RawRedis(port)) {
      one.commands("RESTORE k 0 " + payload); // looks first whether the key is there
      Waiting first = next();
      assertThat(two.ask("RESTORE l 0 " + payload)).startsWith("-BUSY nothing was done");
      first.reply().accept(new Reply.Failure(ErrorCode.STORE_FULL, "why"));
      assertThat(one.read()).startsWith("-MISCONF");
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void connection_thatEndsBeforeItsReplies_costsNobodyElse() throws Exception {
    start();
    List<Waiting> left = new ArrayList<>();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("GET a", "INCR b", "APPEND c x", "GET d");
      for (int i = 0; i < 3; i++) {
        left.add(next());
      }
    }
    try (RawRedis other = new RawRedis(port)) {
      await().atMost(Patience.LIMIT).until(() -> !other.ask("CLIENT LIST").strip().contains("\n"));
      left.forEach(w -> w.reply().accept(new Reply.Failure(ErrorCode.OVERLOADED, "late")));
      assertThat(other.ask("PING")).isEqualTo("+PONG");
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void inlineCommands_andHalfOnes_areServedByBytes() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      for (char c : "PING\r\n\r\nECHO \"a b\"\r\n*1\r\n$4\r\nPING\r\n".toCharArray()) {
        redis.send(String.valueOf(c));
      }
      assertThat(redis.read()).isEqualTo("+PONG");
      assertThat(redis.read()).isEqualTo("a b");
      assertThat(redis.read()).isEqualTo("+PONG");
      redis.send("*2\r\n$4\r\nECH");
    }
    assertThatThrownBy(
            () -> {
              try (RawRedis redis = new RawRedis(port)) {
                redis.ask("QUIT");
                redis.read();
              }
            })
        .isInstanceOf(EOFException.class);
  }
}
