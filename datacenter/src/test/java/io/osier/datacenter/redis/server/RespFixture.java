package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
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
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;

/** Connections that speak the Redis protocol, in front of partitions that answer when told to. */
abstract class RespFixture {
  static final ReplicaId EU = ServedClients.EU;
  static final byte[] SALT = new byte[ScramCredential.SALT_BYTES];

  /** What was asked and waits for its answer. */
  record Waiting(Request request, Consumer<Reply> reply) {}

  final BlockingQueue<Waiting> asked = new LinkedBlockingQueue<>();
  final BlockingQueue<Runnable> passwords = new LinkedBlockingQueue<>();
  volatile Users users = Users.OPEN;
  final BlockingQueue<Runnable> larges = new LinkedBlockingQueue<>();
  volatile boolean refusesPasswords;
  volatile boolean keepsLarge;

  @SuppressWarnings("NullAway") // by start, with which each test begins
  ClientServer server;

  int port;
  @AutoClose private final Opened open = new Opened();

  void logIn(RawRedis redis, String user, String password) throws Exception {
    redis.commands("AUTH " + user + " " + password);
    hashNext();
    assertThat(redis.read()).isEqualTo("+OK");
  }

  void start() {
    start(PortLimits.DEFAULT, UserLimits.NONE);
  }

  /** Returns a connection of a user. */
  RawRedis loggedIn(String user, String password) throws Exception {
    RawRedis redis = connect();
    logIn(redis, user, password);
    return redis;
  }

  /** A connection until the test ends; starts the server if no one has. */
  RawRedis connect() throws IOException {
    if (port == 0) {
      start();
    }
    return open.add(new RawRedis(port));
  }

  void start(PortLimits limits, UserLimits ofUsers) {
    ClientService handler =
        new ServedClients.Handler() {
          @Override
          public Reply.Elsewhere elsewhere() { // which does not take 0 from the only one here
            Reply.KeyspaceInfo other = new Reply.KeyspaceInfo("default", 500, 1, false);
            return new Reply.Elsewhere(
                List.of(new Reply.HeldElsewhere(other, List.of("us"))), Map.of());
          }

          @Override
          public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
            asked.add(new Waiting(request, reply));
          }
        };
    server = ServedClients.start(limits, ofUsers, () -> users, handler);
    RedisPort redis =
        new RedisPort(
            Map.of(),
            handler,
            new ServerState.Around(
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

  void runBeside(Runnable large) {
    if (keepsLarge) {
      larges.add(large);
    } else {
      large.run();
    }
  }

  void hash(Runnable password) {
    if (refusesPasswords) {
      throw new RejectedExecutionException();
    }
    passwords.add(password);
  }

  void hashNext() throws InterruptedException {
    Runnable next = passwords.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(next).as("a password to hash").isNotNull();
    next.run();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  Waiting next() throws InterruptedException {
    Waiting waiting = asked.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(waiting).as("a request").isNotNull();
    return waiting;
  }

  static Reply answer(String text) {
    return answer(Value.of(text));
  }

  static Reply answer(Value value) {
    return new Reply.Answer(
        Optional.of(CrdtType.STRING),
        Optional.of(new Reading.Single(Optional.of(value))),
        true,
        VersionVector.EMPTY);
  }

  static User user(String name, String password, Grant... rights) {
    return new User(
        name,
        Optional.of(
            ScramCredential.of(password.toCharArray(), SALT, ScramCredential.ITERATIONS_MIN)),
        List.of(rights));
  }

  void withUsers() {
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

  /** Takes a program's steps with partitions that answer so, and replies that it held. */
  static void run(Waiting waiting, Function<Request, Reply> partition) {
    Request.Evaluate program = (Request.Evaluate) waiting.request;
    ((Call.Script) program.calls().getFirst()).steps().run(partition);
    waiting.reply.accept(
        new Reply.Evaluated(true, Optional.of(new Dot(EU, 1)), List.of(answer("x"))));
  }
}
