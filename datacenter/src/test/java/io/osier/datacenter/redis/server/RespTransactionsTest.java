package io.osier.datacenter.redis.server;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.UserLimits;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** MULTI, EXEC and WATCH over connections. */
final class RespTransactionsTest extends RespFixture {
  @Test
  void transactionsInOneBuffer_areAskedWithoutAWait_andAnsweredInOrder() throws Exception {
    RawRedis redis = connect();
    redis.commands(
        "MULTI", "GET a", "PING", "EXEC", "MULTI", "GET b", "GET b", "EXEC", "GET c", "MULTI");
    assertThat(redis.read()).isEqualTo("+OK");
    assertThat(redis.read()).isEqualTo("+QUEUED");
    assertThat(redis.read()).isEqualTo("+QUEUED");
    Waiting first = next();
    assertThat(asked).as("what its connection does comes before what follows").isEmpty();
    run(first, step -> answer("1"));
    assertThat(redis.read()).isEqualTo("[1, +PONG]");
    Waiting second = next();
    Waiting get = next();
    assertThat(((Request.Read) get.request()).ordered()).isTrue();
    get.reply().accept(answer("3"));
    run(second, step -> answer("2"));
    for (String answer : List.of("+OK", "+QUEUED", "+QUEUED", "[2, 2]", "3", "+OK")) {
      assertThat(redis.read()).isEqualTo(answer);
    }
  }

  @Test
  void exec_afterARightWasLost_noPermInItsPlace_andTheOthersAreDone() throws Exception {
    withUsers();
    RawRedis redis = loggedIn("cart", "secret");
    redis.commands("MULTI", "GET cart:1", "SET cart:1 v", "GET other", "EXEC");
    for (int i = 0; i < 4; i++) {
      redis.read();
    }
    List<Request> steps = new ArrayList<>();
    Waiting exec = next();
    run(
        exec,
        step -> {
          steps.add(step);
          return step instanceof Request.Read
              ? answer("1")
              : new Reply.Evaluated(true, Optional.empty(), List.of(answer("x")));
        });
    assertThat(redis.read()).startsWith("[1, +OK, -NOPERM ");
    assertThat(steps).hasSize(2);
    redis.commands("MULTI", "GET cart:1", "SET cart:1 v");
    users =
        new Users(
            List.of(user("cart", "secret", Grant.on(Grant.Right.READ, "shop", Key.of("cart:")))));
    redis.commands("EXEC");
    for (int i = 0; i < 3; i++) {
      redis.read();
    }
    run(next(), step -> answer("1"));
    assertThat(redis.read()).startsWith("[1, -NOPERM ");
  }

  @Test
  void queued_beyondTheUsersShare_isRefused_andGivenBackWhenTheConnectionEnds() throws Exception {
    UserLimits.Limit many = UserLimits.Limit.given(100);
    start(PortLimits.DEFAULT, new UserLimits(many, many, UserLimits.Limit.given(256 << 10)));
    String large = "x".repeat(50_000);
    try (RawRedis other = new RawRedis(port)) { // by whom its user stays connected
      for (int round = 0; round < 3; round++) {
        queueTooMuch("SET k " + large);
        await()
            .atMost(Patience.LIMIT)
            .until(() -> !other.ask("CLIENT LIST").strip().contains("\n"));
      }
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void watch_thatFailsOnceItsConnectionHasEnded_givesBackNothingTwice() throws Exception {
    UserLimits.Limit many = UserLimits.Limit.given(100);
    start(PortLimits.DEFAULT, new UserLimits(many, many, UserLimits.Limit.given(256 << 10)));
    try (RawRedis other = new RawRedis(port)) { // by whom its user stays connected
      Waiting watch;
      try (RawRedis redis = new RawRedis(port)) {
        redis.commands(
            "WATCH " + IntStream.range(0, 100).mapToObj(i -> "k" + i).collect(joining(" ")));
        watch = next();
      }
      await().until(() -> !other.ask("CLIENT LIST").strip().contains("\n"));
      watch.reply().accept(new Reply.Failure(ErrorCode.UNAVAILABLE, "not now"));
      queueTooMuch("SET k " + "x".repeat(50_000));
    }
  }

  private void queueTooMuch(String set) throws IOException {
    try (RawRedis redis = new RawRedis(port)) {
      assertThat(redis.ask("MULTI")).isEqualTo("+OK");
      for (int i = 0; i < 5; i++) {
        assertThat(redis.ask(set)).isEqualTo("+QUEUED");
      }
      assertThat(redis.ask(set)).startsWith("-BUSY there is no memory for ");
      assertThat(redis.ask(set)).isEqualTo("+QUEUED"); // and not kept
      assertThat(redis.ask("EXEC")).startsWith("-EXECABORT");
      assertThat(redis.ask("MULTI")).isEqualTo("+OK");
      assertThat(redis.ask(set)).isEqualTo("+QUEUED");
    }
  }

  /** Answers of 48 MiB each time, which are shared: more than all connections may have. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void exec_whoseAnswerNobodyGets_givesBackWhatItsAnswersTook(boolean clientGoes) throws Exception {
    start();
    Reply large = answer(Value.of(new byte[16 << 20]));
    long rounds = MemoryPlan.ofThisProcess().answerBytes() / (48 << 20) + 2;
    try (RawRedis other = new RawRedis(port)) {
      for (int round = 0; round < rounds; round++) {
        Waiting exec;
        try (RawRedis redis = new RawRedis(port)) {
          redis.commands("MULTI", "GET k", "GET k", "GET k", "EXEC");
          exec = next();
          ((Call.Script) ((Request.Evaluate) exec.request()).calls().getFirst())
              .steps()
              .run(step -> large);
          if (!clientGoes) {
            exec.reply().accept(new Reply.Failure(ErrorCode.TIMEOUT, "nobody knows"));
          }
        }
        await().until(() -> !other.ask("CLIENT LIST").strip().contains("\n"));
        if (clientGoes) {
          exec.reply()
              .accept(new Reply.Evaluated(true, Optional.of(new Dot(EU, 1)), List.of(answer("x"))));
        }
      }
      other.commands("MULTI", "GET k", "EXEC");
      run(next(), step -> large);
      assertThat(List.of(other.read(), other.read())).containsExactly("+OK", "+QUEUED");
      assertThat(other.read()).hasSize((16 << 20) + 2);
    }
  }
}
