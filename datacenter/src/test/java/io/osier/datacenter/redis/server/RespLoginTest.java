package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.datacenter.server.LoggedLines;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Logins and rights of connections that speak the Redis protocol. */
final class RespLoginTest extends RespFixture {
  @BeforeEach
  void users() {
    withUsers();
  }

  @Test
  void auth_rightAndWrong_isJudgedBesideTheLoopAndInOrder() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      assertThat(redis.ask("PING")).isEqualTo("-NOAUTH Authentication required.");
      assertThat(redis.ask("GET cart:1")).startsWith("-NOAUTH");
      redis.commands("AUTH cart wrong", "PING", "AUTH nobody secret", "AUTH cart secret", "PING");
      hashNext();
      assertThat(redis.read()).startsWith("-WRONGPASS ");
      assertThat(redis.read()).startsWith("-NOAUTH ");
      hashNext();
      assertThat(redis.read()).startsWith("-WRONGPASS ");
      hashNext();
      assertThat(redis.read()).isEqualTo("+OK");
      assertThat(redis.read()).isEqualTo("+PONG");
      assertThat(redis.ask("ACL WHOAMI")).isEqualTo("cart");
      assertThat(asked).isEmpty();
    }
    try (RawRedis again = new RawRedis(port)) {
      assertThat(again.ask("HELLO 3 AUTH cart secret")).contains("proto, :3"); // is remembered
    }
    assertThat(passwords).isEmpty();
  }

  @Test
  void reset_behindALogin_isNobodyAgain() throws Exception {
    RawRedis redis = loggedIn("cart", "secret");
    assertThat(redis.ask("RESET")).isEqualTo("+RESET");
    assertThat(redis.ask("GET cart:1")).startsWith("-NOAUTH");
    redis.send("*11\r\n");
    assertThat(redis.read()).startsWith("-ERR Protocol error: unauthenticated ");
    assertThat(asked).isEmpty();
  }

  @Test
  void auth_behindCommands_isJudgedOnceTheyAreDoneToTheirEnd() throws Exception {
    RawRedis redis = loggedIn("cart", "secret");
    redis.commands("SADD cart:1 x", "AUTH admin root", "GET other");
    next().reply().accept(new Reply.Failure(ErrorCode.WRONG_TYPE, "of another type"));
    Waiting second = next(); // as the first user still, who may ask for it
    assertThat(second.request()).isInstanceOf(Request.Read.class);
    assertThat(passwords).isEmpty();
    second.reply().accept(new Reply.Failure(ErrorCode.WRONG_TYPE, "of another type"));
    assertThat(redis.read()).startsWith("-WRONGTYPE");
    hashNext();
    assertThat(redis.read()).isEqualTo("+OK");
    assertThat(redis.read()).startsWith("-NOPERM"); // an administrator without any other right
  }

  @Test
  void auth_newPassword_isNotTheRememberedOne() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      logIn(redis, "cart", "secret");
    }
    users = new Users(List.of(user("cart", "other")));
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("AUTH cart secret");
      hashNext();
      assertThat(redis.read()).startsWith("-WRONGPASS ");
    }
  }

  @Test
  void auth_manyWrong_mustWait() throws Exception {
    RawRedis redis = connect();
    for (int i = 0; i < 5; i++) {
      redis.commands("AUTH cart wrong");
      hashNext();
      assertThat(redis.read()).startsWith("-WRONGPASS ");
    }
    assertThat(redis.ask("AUTH cart secret")).startsWith("-BUSY nothing was done: too many logins");
  }

  @Test
  void auth_manyWrongAtOnce_areNotAllTried() throws Exception {
    start();
    List<RawRedis> all = new ArrayList<>();
    try {
      for (int i = 0; i < 6; i++) {
        all.add(new RawRedis(port));
        all.getLast().commands("AUTH cart wrong"); // before any has failed
      }
      List<Runnable> waiting = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        Runnable next = passwords.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(next).isNotNull();
        waiting.add(next);
      }
      waiting.forEach(Runnable::run);
      List<String> answers = new ArrayList<>();
      for (RawRedis redis : all) {
        answers.add(redis.read());
      }
      assertThat(answers).filteredOn(a -> a.startsWith("-WRONGPASS ")).hasSize(5);
      assertThat(answers).filteredOn(a -> a.contains("too many logins")).hasSize(1);
    } finally {
      for (RawRedis redis : all) {
        redis.close();
      }
    }
  }

  @Test
  void auth_moreThanMayWait_isRefused() throws Exception {
    refusesPasswords = true;
    RawRedis redis = connect();
    assertThat(redis.ask("AUTH cart secret")).startsWith("-BUSY nothing was done");
    assertThat(redis.ask("PING")).startsWith("-NOAUTH");
  }

  @Test
  void rights_holdForEveryCommand() throws Exception {
    RawRedis redis = loggedIn("cart", "secret");
    for (String command : List.of("GET other", "SET other 1", "DEL other", "KEYS *", "DBSIZE")) {
      assertThat(redis.ask(command)).as(command).startsWith("-NOPERM ");
    }
    for (String command : List.of("CONFIG GET *", "CLIENT LIST", "ACL LIST", "SLOWLOG GET")) {
      assertThat(redis.ask(command)).as(command).startsWith("-NOPERM ");
    }
    assertThat(asked).isEmpty();
    redis.commands("GET cart:1");
    next().reply().accept(answer("v"));
    assertThat(redis.read()).isEqualTo("v");
  }

  @Test
  void whatIsAdministered_standsInTheAuditLog_andWhatIsRefusedOfIt() throws Exception {
    start();
    try (LoggedLines audit = new LoggedLines(AuditLog.LOGGER);
        RawRedis cart = new RawRedis(port);
        RawRedis admin = new RawRedis(port)) {
      logIn(cart, "cart", "secret");
      for (String refused : List.of("CONFIG SET maxmemory 1", "CLIENT KILL ID 1", "ACL LIST")) {
        cart.ask(refused);
      }
      logIn(admin, "admin", "root");
      admin.ask("CONFIG SET maxmemory 4711 timeout 1");
      admin.ask("CONFIG SET unknown 1");
      admin.ask("CONFIG RESETSTAT");
      assertThat(admin.ask("CLIENT KILL USER cart")).isEqualTo(":1");
      assertThat(audit.all())
          .filteredOn(line -> line.contains("\"event\":\"refused\""))
          .extracting(line -> line.replaceAll(".*\"request\":\"([^\"]*)\".*", "$1"))
          .containsExactly("config", "client|kill", "acl|list");
      assertThat(audit.all())
          .filteredOn(line -> line.contains("\"event\":\"admin\""))
          .allMatch(line -> line.contains("\"user\":\"admin\"") && !line.contains("4711"))
          .extracting(line -> line.replaceAll(".*\"command\":\"([^\"]*)\".*", "$1"))
          .satisfiesExactly(
              line -> assertThat(line).isEqualTo("config set maxmemory timeout"),
              line -> assertThat(line).isEqualTo("config resetstat"),
              line -> assertThat(line).startsWith("client kill id=").endsWith(" user=cart"));
    }
  }

  @Test
  void info_ofWhoMayReadAPart_tellsNothingOfTheRest() throws Exception {
    RawRedis redis = loggedIn("cart", "secret");
    assertThat(redis.ask("INFO keyspace")).isEqualTo("# Keyspace\r\n");
    assertThat(redis.ask("INFO everything")).contains("redis_version", "# Keyspace");
    assertThat(asked).isEmpty();
  }

  @Test
  void aclDryRun_ofAnyCommand_saysWhatItsUserWouldBeTold() throws Exception {
    RawRedis redis = loggedIn("admin", "root");
    assertThat(redis.ask("ACL DRYRUN cart CONFIG GET x")).contains("has not the right: admin *");
    assertThat(redis.ask("ACL DRYRUN cart KEYS *")).contains("has not the right: read shop");
    assertThat(redis.ask("ACL DRYRUN cart KEYS cart:*")).isEqualTo("+OK");
    assertThat(redis.ask("ACL DRYRUN cart GET cart:1")).isEqualTo("+OK");
    assertThat(redis.ask("ACL DRYRUN cart QUIT")).isEqualTo("+OK");
    assertThat(redis.ask("PING")).isEqualTo("+PONG");
    assertThat(asked).isEmpty();
  }

  @Test
  void userWithoutLogin_hasTenWordsOf16KiB() throws Exception {
    start();
    for (String sent : List.of("*11\r\n", "*1\r\n$16385\r\n")) {
      try (RawRedis redis = new RawRedis(port)) {
        redis.send(sent);
        assertThat(redis.read()).startsWith("-ERR Protocol error: unauthenticated ");
        assertThat(redis.hasEnded()).isTrue();
      }
    }
  }

  @Test
  void userWhoIsDropped_isDisconnected() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      logIn(redis, "cart", "secret");
      users = new Users(List.of(user("admin", "root", Grant.onAll(Grant.Right.ADMIN))));
      assertThatThrownBy(
              () -> {
                while (true) {
                  assertThat(redis.ask("PING")).isEqualTo("+PONG"); // until it is looked for
                }
              })
          .isInstanceOf(IOException.class);
    }
  }
}
