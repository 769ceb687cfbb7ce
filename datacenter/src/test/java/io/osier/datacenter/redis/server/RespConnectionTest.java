package io.osier.datacenter.redis.server;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.scram.ScramCredential;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.server.LoggedLines;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that speak the Redis protocol, in front of partitions that answer when told to. */
final class RespConnectionTest {
  private static final ReplicaId EU = ServedClients.EU;
  private static final byte[] SALT = new byte[ScramCredential.SALT_BYTES];

  /** What was asked and waits for its answer. */
  private record Waiting(Request request, Consumer<Reply> reply) {}

  private final BlockingQueue<Waiting> asked = new LinkedBlockingQueue<>();
  private final BlockingQueue<Runnable> passwords = new LinkedBlockingQueue<>();
  private volatile Users users = Users.OPEN;
  private final BlockingQueue<Runnable> larges = new LinkedBlockingQueue<>();
  private volatile boolean refusesPasswords;
  private volatile boolean keepsLarge;

  @SuppressWarnings("NullAway") // by start, with which each test begins
  private ClientServer server;

  private int port;

  private void start() {
    start(PortLimits.DEFAULT, UserLimits.NONE);
  }

  private void start(PortLimits limits, UserLimits ofUsers) {
    ClientServer.Handler handler =
        new ClientServer.Handler() {
          @Override
          public Reply.Elsewhere elsewhere() { // which does not take 0 from the only one here
            Reply.KeyspaceInfo other = new Reply.KeyspaceInfo("default", 500, 1, false);
            return new Reply.Elsewhere(
                List.of(new Reply.HeldElsewhere(other, List.of("us"))), Map.of());
          }

          @Override
          public List<Reply.KeyspaceInfo> keyspaces() {
            return List.of(new Reply.KeyspaceInfo("shop", 500, 1, false));
          }

          @Override
          public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
            asked.add(new Waiting(request, reply));
          }

          @Override
          public void administer(Request.Administer request, String by, Consumer<Reply> reply) {
            throw new AssertionError("nobody administers");
          }
        };
    server = ServedClients.start(limits, ofUsers, () -> users, handler);
    RedisPort redis =
        new RedisPort(
            Map.of(),
            handler,
            new RedisPort.Around(
                EU,
                "test",
                () -> 1_000,
                new Random(1),
                this::hash,
                this::runBeside,
                ServedClients.pushes(),
                false));
    port = server.listen(ServedClients.anyPort(), redis).address().getPort();
  }

  private void runBeside(Runnable large) {
    if (keepsLarge) {
      larges.add(large);
    } else {
      large.run();
    }
  }

  private void hash(Runnable password) {
    if (refusesPasswords) {
      throw new RejectedExecutionException();
    }
    passwords.add(password);
  }

  private void hashNext() throws InterruptedException {
    Runnable next = passwords.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(next).as("a password to hash").isNotNull();
    next.run();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Waiting next() throws InterruptedException {
    Waiting waiting = asked.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(waiting).as("a request").isNotNull();
    return waiting;
  }

  private static Reply answer(String text) {
    return answer(Value.of(text));
  }

  private static Reply answer(Value value) {
    return new Reply.Answer(
        Optional.of(CrdtType.STRING),
        Optional.of(new Reading.Single(Optional.of(value))),
        true,
        VersionVector.EMPTY);
  }

  private static String key(Waiting waiting) {
    return ((Request.Read) waiting.request).key().toString();
  }

  private void answerSum(Waiting increment, String sum) {
    increment.reply.accept(new Reply.Done(new Dot(EU, 1), Optional.of((Reply.Answer) answer(sum))));
  }

  @Test
  void pipeline_repliesInAnyOrder_leaveInTheCommandsOrder() throws Exception {
    start();
    long seed = System.nanoTime();
    Random random = new Random(seed);
    try (RawRedis redis = new RawRedis(port)) {
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
        all.forEach(w -> w.reply.accept(answer("value of " + key(w))));
        for (String text : expected) {
          assertThat(redis.read()).as("seed " + seed).isEqualTo(text);
        }
      }
    }
  }

  @Test
  void read_behindAnUpdate_waitsForItsTurnThere() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("GET k", "INCR k", "GET k");
      Waiting before = next();
      Waiting increment = next();
      Waiting behind = next();
      assertThat(((Request.Read) before.request).ordered()).isFalse();
      assertThat(((Request.Read) behind.request).ordered()).isTrue();
      before.reply.accept(answer("1"));
      answerSum(increment, "2");
      behind.reply.accept(answer("2"));
      assertThat(List.of(redis.read(), redis.read(), redis.read())).containsExactly("1", ":2", "2");
      redis.commands("GET k");
      Waiting later = next();
      assertThat(((Request.Read) later.request).ordered()).isFalse();
      later.reply.accept(answer("2"));
      assertThat(redis.read()).isEqualTo("2");
    }
  }

  @Test
  void command_ofSeveralSteps_holdsUpThoseBehindIt() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("APPEND k x", "PING", "GET k");
      Waiting append = next();
      assertThat(redisWaits()).isTrue();
      append.reply.accept(new Reply.Failure(ErrorCode.STORE_FULL, "the disk is full"));
      assertThat(redis.read()).isEqualTo("-MISCONF the disk is full");
      assertThat(redis.read()).isEqualTo("+PONG");
      next().reply.accept(answer("v"));
      assertThat(redis.read()).isEqualTo("v");
    }
  }

  /** Nothing was asked: what another connection asks behind it comes first. */
  private boolean redisWaits() throws Exception {
    try (RawRedis other = new RawRedis(port)) {
      other.commands("GET other");
      Waiting next = next();
      next.reply.accept(answer("o"));
      return key(next).equals("other") && other.read().equals("o");
    }
  }

  @Test
  void scan_behindUpdates_waitsUntilTheyAreAnswered() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("INCR k", "KEYS *");
      Waiting increment = next();
      assertThat(redisWaits()).isTrue();
      answerSum(increment, "1");
      Waiting scan = next();
      assertThat(scan.request).isInstanceOf(Request.Scan.class);
      scan.reply.accept(
          new Reply.Page(
              List.of(
                  new Reply.Row(Key.of("k"), CrdtType.STRING, new Reading.Flag(true)),
                  new Reply.Row(Key.of("k"), CrdtType.AW_SET, new Reading.Flag(true))),
              Optional.empty(),
              List.of()));
      assertThat(redis.read()).isEqualTo(":1");
      assertThat(redis.read()).isEqualTo("[k]");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"TIMEOUT", "SESSION_BEHIND"})
  void replyThatNoAnswerCanSay_endsTheConnectionBehindEarlierAnswers(ErrorCode code)
      throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("GET a", "INCR b", "GET c");
      Waiting a = next();
      Waiting b = next();
      Waiting c = next();
      c.reply.accept(answer("c"));
      b.reply.accept(new Reply.Failure(code, "it may be done, or lacks something"));
      a.reply.accept(answer("a"));
      assertThat(redis.read()).isEqualTo("a");
      assertThat(redis.hasEnded()).isTrue();
    }
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
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.send("GET a\r\n*1\r\nPING\r\nGET b\r\n");
      next().reply.accept(answer("1"));
      assertThat(redis.read()).isEqualTo("1");
      assertThat(redis.read()).isEqualTo("-ERR Protocol error: expected '$', got 'P'");
      assertThat(redis.hasEnded()).isTrue();
      assertThat(asked).isEmpty();
    }
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
      first.forEach(w -> w.reply.accept(answer("v")));
      for (int i = first.size(); i < count; i++) {
        next().reply.accept(answer("v"));
      }
      for (int i = 0; i < count; i++) {
        assertThat(redis.read()).isEqualTo("v");
      }
    }
  }

  @Test
  void pipeline_ofLargeAnswers_isAskedAFewAtATime() throws Exception {
    start();
    Reply large = answer(Value.of(new byte[4 << 20]));
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("GET first");
      next().reply.accept(large);
      assertThat(redis.read()).hasSize(4 << 20);
      redis.commands("GET a", "GET b", "GET c", "GET d", "GET e", "GET f");
      List<Waiting> few = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        few.add(next());
      }
      assertThat(redisWaits()).isTrue();
      few.forEach(w -> w.reply.accept(large));
      for (int i = 0; i < 4; i++) {
        assertThat(redis.read()).hasSize(4 << 20);
      }
      for (int i = 0; i < 2; i++) {
        next().reply.accept(answer("small"));
      }
      assertThat(List.of(redis.read(), redis.read())).containsOnly("small");
    }
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
      others.forEach(w -> w.reply.accept(large));
      head.reply.accept(answer("head"));
      assertThat(redis.read()).isEqualTo("head");
      for (int i = 0; i < 7; i++) {
        assertThat(redis.read()).hasSize(16 << 20);
      }
      for (int i = 0; i < 2; i++) {
        assertThat(redis.read()).startsWith("-BUSY nothing was done").contains("finds no room");
      }
    }
  }

  @Test
  void whatFollowsFromMuch_isDecidedBesideTheLoop_andInOrder() throws Exception {
    keepsLarge = true;
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("GET small", "GET large", "PING");
      next().reply.accept(answer("s"));
      next().reply.accept(answer("x".repeat(1 << 20)));
      assertThat(redis.read()).isEqualTo("s");
      Runnable large = larges.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      assertThat(large).isNotNull();
      assertThat(redisWaits()).isTrue(); // others are served meanwhile
      assertThat(larges).isEmpty();
      large.run();
      assertThat(redis.read()).hasSize(1 << 20);
      assertThat(redis.read()).isEqualTo("+PONG");
    }
  }

  @Test
  void clientReply_offAndSkip_sendNothing() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands(
          "CLIENT REPLY OFF", "PING a", "CLIENT REPLY ON", "CLIENT REPLY SKIP", "PING b", "PING c");
      assertThat(redis.read()).isEqualTo("+OK");
      assertThat(redis.read()).isEqualTo("c");
    }
  }

  @Test
  void quit_behindCommands_endsBehindItsAnswer() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("GET a", "QUIT", "PING");
      next().reply.accept(answer("1"));
      assertThat(redis.read()).isEqualTo("1");
      assertThat(redis.read()).isEqualTo("+OK");
      assertThat(redis.hasEnded()).isTrue();
    }
  }

  @Test
  void errors_areWordedAsRedisWordsThem() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
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
      assertThat(redis.ask("HELLO 4")).isEqualTo("-NOPROTO unsupported protocol version");
      assertThat(redis.ask("CLIENT NOPE"))
          .isEqualTo("-ERR unknown subcommand 'NOPE'. Try CLIENT HELP.");
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
        next().reply.accept(new Reply.Failure(each.getKey(), "why"));
        assertThat(redis.read()).as("%s", each.getKey()).startsWith(each.getValue());
      }
    }
  }

  @Test
  void hello_3_answersInTheNewForm() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
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
    start();
    try (RawRedis killer = new RawRedis(port)) {
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
  }

  // ---------------------------------------------------------------- users

  private static User user(String name, String password, Grant... rights) {
    return new User(
        name,
        Optional.of(
            ScramCredential.of(password.toCharArray(), SALT, ScramCredential.ITERATIONS_MIN)),
        List.of(rights));
  }

  private void withUsers() {
    users =
        new Users(
            List.of(
                user(
                    "cart",
                    "secret",
                    Grant.on(Grant.Right.READ, "shop", Key.of("cart:")),
                    Grant.on(Grant.Right.WRITE, "shop", Key.of("cart:"))),
                user("admin", "root", Grant.onAll(Grant.Right.ADMIN))));
  }

  @Test
  void auth_rightAndWrong_isJudgedBesideTheLoopAndInOrder() throws Exception {
    withUsers();
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

  private void logIn(RawRedis redis, String user, String password) throws Exception {
    redis.commands("AUTH " + user + " " + password);
    hashNext();
    assertThat(redis.read()).isEqualTo("+OK");
  }

  @Test
  void reset_behindALogin_isNobodyAgain() throws Exception {
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      logIn(redis, "cart", "secret");
      assertThat(redis.ask("RESET")).isEqualTo("+RESET");
      assertThat(redis.ask("GET cart:1")).startsWith("-NOAUTH");
      redis.send("*11\r\n");
      assertThat(redis.read()).startsWith("-ERR Protocol error: unauthenticated ");
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void auth_behindCommands_isJudgedOnceTheyAreDoneToTheirEnd() throws Exception {
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      logIn(redis, "cart", "secret");
      redis.commands("SADD cart:1 x", "AUTH admin root", "GET other");
      next().reply.accept(new Reply.Failure(ErrorCode.WRONG_TYPE, "of another type"));
      Waiting second = next(); // as the first user still, who may ask for it
      assertThat(second.request).isInstanceOf(Request.Read.class);
      assertThat(passwords).isEmpty();
      second.reply.accept(new Reply.Failure(ErrorCode.WRONG_TYPE, "of another type"));
      assertThat(redis.read()).startsWith("-WRONGTYPE");
      hashNext();
      assertThat(redis.read()).isEqualTo("+OK");
      assertThat(redis.read()).startsWith("-NOPERM"); // an administrator without any other right
    }
  }

  @Test
  void auth_newPassword_isNotTheRememberedOne() throws Exception {
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("AUTH cart secret");
      hashNext();
      assertThat(redis.read()).isEqualTo("+OK");
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
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      for (int i = 0; i < 5; i++) {
        redis.commands("AUTH cart wrong");
        hashNext();
        assertThat(redis.read()).startsWith("-WRONGPASS ");
      }
      assertThat(redis.ask("AUTH cart secret"))
          .startsWith("-BUSY nothing was done: too many logins");
    }
  }

  @Test
  void auth_manyWrongAtOnce_areNotAllTried() throws Exception {
    withUsers();
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
    withUsers();
    refusesPasswords = true;
    start();
    try (RawRedis redis = new RawRedis(port)) {
      assertThat(redis.ask("AUTH cart secret")).startsWith("-BUSY nothing was done");
      assertThat(redis.ask("PING")).startsWith("-NOAUTH");
    }
  }

  @Test
  void rights_holdForEveryCommand() throws Exception {
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("AUTH cart secret");
      hashNext();
      assertThat(redis.read()).isEqualTo("+OK");
      for (String command : List.of("GET other", "SET other 1", "DEL other", "KEYS *", "DBSIZE")) {
        assertThat(redis.ask(command)).as(command).startsWith("-NOPERM ");
      }
      for (String command : List.of("CONFIG GET *", "CLIENT LIST", "ACL LIST", "SLOWLOG GET")) {
        assertThat(redis.ask(command)).as(command).startsWith("-NOPERM ");
      }
      assertThat(asked).isEmpty();
      redis.commands("GET cart:1");
      next().reply.accept(answer("v"));
      assertThat(redis.read()).isEqualTo("v");
    }
  }

  @Test
  void whatIsAdministered_standsInTheAuditLog_andWhatIsRefusedOfIt() throws Exception {
    withUsers();
    start();
    try (LoggedLines audit = new LoggedLines(AuditLog.LOGGER);
        RawRedis cart = new RawRedis(port);
        RawRedis admin = new RawRedis(port)) {
      cart.commands("AUTH cart secret");
      hashNext();
      cart.read();
      for (String refused : List.of("CONFIG SET maxmemory 1", "CLIENT KILL ID 1", "ACL LIST")) {
        cart.ask(refused);
      }
      admin.commands("AUTH admin root");
      hashNext();
      admin.read();
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
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      logIn(redis, "cart", "secret");
      assertThat(redis.ask("INFO keyspace")).isEqualTo("# Keyspace\r\n");
      assertThat(redis.ask("INFO everything")).contains("redis_version", "# Keyspace");
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void aclDryRun_ofAnyCommand_saysWhatItsUserWouldBeTold() throws Exception {
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      logIn(redis, "admin", "root");
      assertThat(redis.ask("ACL DRYRUN cart CONFIG GET x")).contains("has not the right: admin *");
      assertThat(redis.ask("ACL DRYRUN cart KEYS *")).contains("has not the right: read shop");
      assertThat(redis.ask("ACL DRYRUN cart KEYS cart:*")).isEqualTo("+OK");
      assertThat(redis.ask("ACL DRYRUN cart GET cart:1")).isEqualTo("+OK");
      assertThat(redis.ask("ACL DRYRUN cart QUIT")).isEqualTo("+OK");
      assertThat(redis.ask("PING")).isEqualTo("+PONG");
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void userWithoutLogin_hasTenWordsOf16KiB() throws Exception {
    withUsers();
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
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("AUTH cart secret");
      hashNext();
      assertThat(redis.read()).isEqualTo("+OK");
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

  @Test
  void connections_overTheLimit_areToldSo() throws Exception {
    start(new PortLimits(1, 60_000, 60_000), UserLimits.NONE);
    try (RawRedis one = new RawRedis(port)) {
      assertThat(one.ask("PING")).isEqualTo("+PONG");
      try (RawRedis two = new RawRedis(port)) {
        assertThat(two.read()).startsWith("-ERR max number of clients reached");
        assertThat(two.hasEnded()).isTrue();
      }
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
      a.reply.accept(answer("1"));
      b.reply.accept(answer("2"));
      assertThat(redis.read()).isEqualTo("1");
      assertThat(redis.read()).isEqualTo("2");
    }
  }

  @Test
  void commands_thatWaitForTheDatacenter_areNoSlowFrame() throws Exception {
    start(new PortLimits(10, 60_000, 40), UserLimits.NONE);
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands(Collections.nCopies(1_025, "GET k").toArray(String[]::new));
      List<Waiting> first = new ArrayList<>();
      for (int i = 0; i < 1_024; i++) {
        first.add(next());
      }
      try (RawRedis half = new RawRedis(port)) {
        half.send("*2\r\n$4\r\nECH");
        assertThat(half.hasEnded()).isTrue(); // so the other one has been looked at, too
      }
      first.forEach(w -> w.reply.accept(answer("v")));
      next().reply.accept(answer("last"));
      for (int i = 0; i < 1_024; i++) {
        assertThat(redis.read()).isEqualTo("v");
      }
      assertThat(redis.read()).isEqualTo("last");
    }
  }

  @Test
  void commandGetKeys_ofCountedKeys_findsThem() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
      assertThat(redis.ask("COMMAND GETKEYS SINTERCARD 2 a b LIMIT 1")).isEqualTo("[a, b]");
      assertThat(redis.ask("COMMAND GETKEYS SINTERCARD 3 a b"))
          .isEqualTo("-ERR Invalid arguments specified for command");
      assertThat(redis.ask("COMMAND GETKEYS SINTERCARD x a b")).startsWith("-ERR Invalid");
      assertThat(redis.ask("COMMAND INFO SINTERCARD")).contains("movablekeys");
      assertThat(redis.ask("COMMAND GETKEYS MSET a 1 b 2")).isEqualTo("[a, b]");
      assertThat(redis.ask("COMMAND GETKEYS PING a")).contains("no key arguments");
    }
  }

  @Test
  void flush_thatStopsOnItsWay_doesNotSayThatNothingWasDone() throws Exception {
    start();
    Reply.Failure refused = new Reply.Failure(ErrorCode.OVERLOADED, "why");
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("FLUSHDB");
      next().reply.accept(refused);
      assertThat(redis.read()).isEqualTo("-BUSY nothing was done: why");
      redis.commands("FLUSHDB");
      next()
          .reply
          .accept(
              new Reply.Page(
                  List.of(new Reply.Row(Key.of("k"), CrdtType.STRING, new Reading.Flag(true))),
                  Optional.of(Key.of("l")),
                  List.of()));
      next().reply.accept(new Reply.All(List.of(new Reply.Done(new Dot(EU, 1)))));
      next().reply.accept(refused);
      assertThat(redis.read()).isEqualTo("-BUSY only a part was done: why");
    }
  }

  @Test
  void configSet_ofWhatIsNoNumber_isAnErrorWhereOneIsMeant() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
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
      first.reply.accept(new Reply.Failure(ErrorCode.STORE_FULL, "why"));
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
      left.forEach(w -> w.reply.accept(new Reply.Failure(ErrorCode.OVERLOADED, "late")));
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

  // ---------------------------------------------------------------- transactions

  /** Takes a program's steps with partitions that answer so, and replies that it held. */
  private static void run(Waiting waiting, Function<Request, Reply> partition) {
    Request.Evaluate program = (Request.Evaluate) waiting.request;
    ((Call.Script) program.calls().getFirst()).steps().run(partition);
    waiting.reply.accept(
        new Reply.Evaluated(true, Optional.of(new Dot(EU, 1)), List.of(answer("x"))));
  }

  @Test
  void transactionsInOneBuffer_areAskedWithoutAWait_andAnsweredInOrder() throws Exception {
    start();
    try (RawRedis redis = new RawRedis(port)) {
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
      assertThat(((Request.Read) get.request).ordered()).isTrue();
      get.reply.accept(answer("3"));
      run(second, step -> answer("2"));
      for (String answer : List.of("+OK", "+QUEUED", "+QUEUED", "[2, 2]", "3", "+OK")) {
        assertThat(redis.read()).isEqualTo(answer);
      }
    }
  }

  @Test
  void exec_afterARightWasLost_noPermInItsPlace_andTheOthersAreDone() throws Exception {
    withUsers();
    start();
    try (RawRedis redis = new RawRedis(port)) {
      redis.commands("AUTH cart secret");
      hashNext();
      assertThat(redis.read()).isEqualTo("+OK");
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
      watch.reply.accept(new Reply.Failure(ErrorCode.UNAVAILABLE, "not now"));
      queueTooMuch("SET k " + "x".repeat(50_000));
    }
  }

  private void queueTooMuch(String set) throws IOException {
    try (RawRedis redis = new RawRedis(port)) {
      assertThat(redis.ask("MULTI")).isEqualTo("+OK");
      for (int i = 0; i < 5; i++) {
        assertThat(redis.ask(set)).isEqualTo("+QUEUED");
      }
      assertThat(redis.ask(set)).startsWith("-BUSY there is no room for ");
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
          ((Call.Script) ((Request.Evaluate) exec.request).calls().getFirst())
              .steps()
              .run(step -> large);
          if (!clientGoes) {
            exec.reply.accept(new Reply.Failure(ErrorCode.TIMEOUT, "nobody knows"));
          }
        }
        await().until(() -> !other.ask("CLIENT LIST").strip().contains("\n"));
        if (clientGoes) {
          exec.reply.accept(
              new Reply.Evaluated(true, Optional.of(new Dot(EU, 1)), List.of(answer("x"))));
        }
      }
      other.commands("MULTI", "GET k", "EXEC");
      run(next(), step -> large);
      assertThat(List.of(other.read(), other.read())).containsExactly("+OK", "+QUEUED");
      assertThat(other.read()).hasSize((16 << 20) + 2);
    }
  }
}
