package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.scram.ScramCredential;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Envelope;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A user who floods the port has what one may have, and the others have theirs. */
final class UserLimitsTest {
  private static final Duration LONG = Patience.LIMIT;
  private static final String PASSWORD = "correct horse";
  private static final ScramCredential CREDENTIAL =
      ScramCredential.of(PASSWORD.toCharArray(), new byte[16], ScramCredential.ITERATIONS_MIN);
  private static final List<Grant> ALL = List.of(Grant.parse("write *"), Grant.parse("read *"));
  private static final Users USERS =
      new Users(
          List.of(
              new User(Users.DEFAULT, Optional.empty(), ALL),
              new User("cart", Optional.of(CREDENTIAL), ALL)));
  private static final long MANY = 1_000_000;

  @AutoClose private final Opened open = new Opened();

  /** Requests that nobody answers until the test does. */
  private final Queue<Consumer<Reply>> waiting = new ConcurrentLinkedQueue<>();

  private volatile boolean answering;
  private volatile Users users = USERS;

  private final AccessControl access =
      new AccessControl(
          () -> users,
          "osier",
          new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]),
          new AuditLog("eu"));

  private static UserLimits limits(long connections, long requests, long bytes) {
    return new UserLimits(
        UserLimits.Limit.given(connections),
        UserLimits.Limit.given(requests),
        UserLimits.Limit.given(bytes));
  }

  private ClientServer server(UserLimits limits) {
    ClientServer server =
        new ClientServer(
            new ReplicaId("eu", 1),
            ClientServer.sockets(),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            PortLimits.DEFAULT,
            limits,
            new MemoryPlan(1 << 30),
            new RequestWatch(new SlowLog(0), Traces.OFF, System::nanoTime),
            Optional.empty(),
            access,
            new ClientServer.Handler() {
              @Override
              public List<Reply.KeyspaceInfo> keyspaces() {
                return List.of();
              }

              @Override
              public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
                if (answering) {
                  reply.accept(new Reply.Pong());
                } else {
                  waiting.add(reply);
                }
              }

              @Override
              public void administer(Request.Administer request, String by, Consumer<Reply> reply) {
                waiting.add(reply);
              }
            });
    open.add(server);
    return server;
  }

  private RawClient connect(ClientServer to) throws IOException {
    return open.add(new RawClient(to.port()));
  }

  /** Connects without a login, and says what comes of it. */
  private Reply greeting(ClientServer to) throws IOException {
    return connect(to)
        .send(RawClient.frame(0, new Request.Hello(Request.PROTOCOL_VERSION, "raw")))
        .reply()
        .message();
  }

  private RawClient cart(ClientServer to) throws Exception {
    RawClient client = connect(to);
    assertThat(client.login("cart", PASSWORD)).isInstanceOf(Reply.Welcome.class);
    return client;
  }

  private static byte[] write(long id, int bytes) {
    return RawClient.frame(
        id,
        new Request.Write(
            "shop",
            Key.of("k"),
            CrdtType.LWW_REGISTER,
            new Operation.Assign(Value.of("v".repeat(bytes))),
            VersionVector.EMPTY,
            0));
  }

  private static void refused(Reply reply, ErrorCode code, String... says) {
    assertThat(reply)
        .isInstanceOfSatisfying(
            Reply.Failure.class,
            f -> {
              assertThat(f.code()).as(f.message()).isEqualTo(code);
              assertThat(f.message()).contains(says);
            });
  }

  /** Whether a request of this client is taken, and its answer comes. */
  private void assertServed(RawClient client) throws IOException {
    int before = waiting.size();
    client.send(write(77, 1));
    await().until(() -> waiting.size() == before + 1);
    waiting.stream().toList().getLast().accept(new Reply.Pong());
    assertThat(client.reply()).isEqualTo(new Envelope<Reply>(77, new Reply.Pong()));
  }

  @Test
  void connectionTooManyForThePort_isCounted() throws Exception {
    ClientServer server = server(limits(MANY, MANY, MANY));
    for (int i = 0; i < PortLimits.DEFAULT.connectionsMax(); i++) {
      assertThat(greeting(server)).isInstanceOf(Reply.Welcome.class);
    }
    assertThat(server.figures().limited()).doesNotContainKey("port");
    assertThat(connect(server).reply().message()).isInstanceOf(Reply.Failure.class);
    assertThat(server.figures().limited()).containsEntry("port", 1L);
  }

  @Test
  void connections_ofAUser_areCounted_andThoseOfOthersAreTheirs() throws Exception {
    ClientServer server = server(limits(3, MANY, MANY));
    List<RawClient> three = List.of(cart(server), cart(server), cart(server));
    RawClient fourth = connect(server);
    refused(
        fourth.login("cart", PASSWORD),
        ErrorCode.OVERLOADED,
        "user 'cart' has 3 connections",
        "osier.user-limits.connections");
    assertThat(fourth.isEnded()).isTrue();
    // Who does not log in is one user, whoever it is.
    for (int i = 0; i < 3; i++) {
      assertThat(greeting(server)).isInstanceOf(Reply.Welcome.class);
    }
    refused(greeting(server), ErrorCode.OVERLOADED, "user 'default' has 3 connections");
    assertThat(server.figures().limited()).containsEntry("connections", 2L);
    assertServed(three.get(1));
    three.get(0).close();
    await()
        .untilAsserted(
            () ->
                assertThat(connect(server).login("cart", PASSWORD))
                    .isInstanceOf(Reply.Welcome.class));
  }

  @Test
  void requestsUnderWay_ofAllConnectionsOfAUser_areCountedTogether() throws Exception {
    ClientServer server = server(limits(MANY, 10, MANY));
    RawClient first = connect(server).greet();
    RawClient second = connect(server).greet();
    RawClient cart = cart(server);
    for (int id = 1; id <= 6; id++) {
      first.send(write(id, 1));
    }
    await().until(() -> waiting.size() == 6);
    for (int id = 1; id <= 6; id++) {
      second.send(write(id, 1));
    }
    for (int id = 5; id <= 6; id++) {
      Envelope<Reply> answer = second.reply();
      assertThat(answer.id()).isEqualTo(id);
      refused(
          answer.message(),
          ErrorCode.OVERLOADED,
          "nothing was done",
          "user 'default' has 10 requests under way",
          "osier.user-limits.requests");
    }
    assertServed(cart);
    assertThat(server.figures().limited()).containsEntry("requests", 2L);
    Snapshot.UserLoad most = server.figures().users().getFirst();
    assertThat(most.user()).isEqualTo("default");
    assertThat(most.connections()).isEqualTo(2);
    assertThat(most.requests()).isEqualTo(10);
    waiting.poll().accept(new Reply.Pong());
    assertThat(first.reply().message()).isEqualTo(new Reply.Pong());
    assertServed(second);
  }

  @Test
  void bytesUnderWay_areCounted_alsoOfWhatIsStillComing() throws Exception {
    ClientServer server = server(limits(MANY, MANY, 200_000));
    RawClient first = connect(server).greet();
    RawClient cart = cart(server);
    for (int id = 1; id <= 3; id++) {
      int sent = id;
      first.send(write(id, 60_000)); // one after the other: what lies in its buffer counts, too
      await().until(() -> waiting.size() == sent);
    }
    for (int bytes : new int[] {60_000, 150_000}) {
      first.send(write(9, bytes));
      refused(
          first.reply().message(),
          ErrorCode.OVERLOADED,
          "all of user 'default' that are under way may have 200000 bytes",
          "osier.user-limits.bytes");
    }
    first.send(write(9, 300_000));
    refused(first.reply().message(), ErrorCode.VALUE_TOO_LARGE, "osier.user-limits.bytes");
    // Half of a large one is not answered, and counts.
    byte[] large = write(1, 190_000);
    cart.send(Arrays.copyOf(large, 180_000));
    await().until(() -> bytesOf(server, "cart") > 60_000);
    RawClient alsoCart = cart(server);
    alsoCart.send(write(2, 190_000));
    refused(alsoCart.reply().message(), ErrorCode.OVERLOADED, "user 'cart'");
    assertServed(alsoCart);
    assertThat(server.figures().limited()).containsEntry("bytes", 4L);
    waiting.forEach(reply -> reply.accept(new Reply.Pong()));
    for (int i = 0; i < 3; i++) {
      assertThat(first.reply().message()).isEqualTo(new Reply.Pong());
    }
    assertServed(first);
  }

  /** It is not open anywhere, and nobody would say so. */
  @Test
  void transactionThatFindsNoRoom_leavesNothing() throws Exception {
    ClientServer server = server(limits(MANY, 2, 200_000));
    RawClient client = connect(server).greet();
    client.send(begin(1, 190_000));
    await().until(() -> waiting.size() == 1);
    assertThat(access.transactionsKept()).isOne();
    client.send(begin(2, 50_000));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.bytes");
    assertThat(access.transactionsKept()).isOne();
    client.send(begin(3, 1));
    await().until(() -> waiting.size() == 2);
    client.send(begin(4, 1));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.requests");
    assertThat(access.transactionsKept()).isEqualTo(2);
  }

  /** As of what else all may have: the partition takes 10,000 of all together. */
  @Test
  void openTransactions_ofOneUser_leaveSomeOfAKeyspaceForTheOthers() throws Exception {
    ClientServer server = server(limits(MANY, MANY, 100_000_000));
    RawClient client = connect(server).greet();
    int most = 7_500;
    for (int i = 0; i < most; i++) {
      client.send(begin(i + 1, 1));
    }
    await().until(() -> waiting.size() == most);
    client.send(begin(most + 1, 1));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "has 7500 open transactions in 'shop'");
    assertThat(access.transactionsKept()).isEqualTo(most);
  }

  private static byte[] begin(long id, int bytes) {
    Request.Update update =
        new Request.Update(
            Key.of("k"), CrdtType.LWW_REGISTER, new Operation.Assign(Value.of("v".repeat(bytes))));
    return RawClient.frame(
        id,
        new Request.Transact(
            "shop",
            new TransactionId(id, 0),
            1,
            Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 100_000)),
            List.of(update),
            List.of(),
            Request.End.OPEN));
  }

  /** Three bytes of a key are a hundred in the heap. */
  @Test
  void requestThatIsLargerInTheHeap_countsWhatItTakesThere() throws Exception {
    ClientServer server = server(limits(MANY, MANY, 1_500_000));
    List<Request.Fetch> reads = new ArrayList<>();
    for (int i = 0; i < Request.BATCH_MAX; i++) {
      reads.add(
          new Request.Fetch(
              Key.of(String.valueOf(i % 900 + 100)), Optional.empty(), new Query.Exists()));
    }
    Request.ReadAll batch = new Request.ReadAll("shop", reads, VersionVector.EMPTY, false, 0);
    byte[] frame = RawClient.frame(1, batch);
    assertThat(20L * frame.length).isGreaterThan(batch.heapBytes());
    assertThat(5L * frame.length).isLessThan(batch.heapBytes());
    RawClient client = connect(server).greet();
    client.send(frame);
    await().until(() -> waiting.size() == 1);
    assertThat(bytesOf(server, "default")).isGreaterThan(batch.heapBytes());
    client.send(frame);
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.bytes");
    assertServed(client);
    waiting.peek().accept(new Reply.Pong());
    assertThat(client.reply().message()).isEqualTo(new Reply.Pong());
    assertThat(bytesOf(server, "default")).isZero();
  }

  /** As it was with its bytes alone: what may come must not be too large once it has come. */
  @Test
  void requestThatIsLargerInTheHeapThanAllThereIs_isTakenAlone() throws Exception {
    ClientServer server = server(limits(MANY, MANY, 100_000));
    List<Request.Fetch> reads =
        Collections.nCopies(
            5_000, new Request.Fetch(Key.of("key"), Optional.empty(), new Query.Exists()));
    RawClient client = connect(server).greet();
    client.send(
        RawClient.frame(1, new Request.ReadAll("shop", reads, VersionVector.EMPTY, false, 0)));
    await().until(() -> waiting.size() == 1);
    assertThat(bytesOf(server, "default")).isEqualTo(100_000);
    client.send(write(2, 1));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.bytes");
    waiting.poll().accept(new Reply.Pong());
    assertThat(client.reply().message()).isEqualTo(new Reply.Pong());
    assertServed(client);
  }

  private static long bytesOf(ClientServer server, String user) {
    return server.figures().users().stream()
        .filter(u -> u.user().equals(user))
        .mapToLong(Snapshot.UserLoad::bytes)
        .sum();
  }

  /** Who leaves and comes again has what it had sent still under way. */
  @Test
  void requestsOutliveTheirConnection_andNothingIsKeptOfWhoIsGone() throws Exception {
    ClientServer server = server(limits(MANY, 2, MANY));
    try (RawClient gone = connect(server).greet()) {
      gone.send(write(1, 1)).send(write(2, 1));
      await().until(() -> waiting.size() == 2);
    }
    await().until(() -> server.figures().users().getFirst().connections() == 0);
    try (RawClient again = connect(server).greet()) {
      again.send(write(1, 1));
      refused(again.reply().message(), ErrorCode.OVERLOADED, "2 requests under way");
    }
    waiting.forEach(reply -> reply.accept(new Reply.Pong()));
    await().until(() -> server.figures().users().isEmpty());
  }

  @Test
  void limitsThatNobodySet_holdAsSoonAsSomebodyIsNamed() throws Exception {
    users = Users.OPEN;
    ClientServer server =
        server(
            new UserLimits(
                new UserLimits.Limit(2, false),
                new UserLimits.Limit(2, false),
                new UserLimits.Limit(100_000, false)));
    for (int i = 0; i < 3; i++) {
      assertThat(greeting(server)).isInstanceOf(Reply.Welcome.class);
    }
    RawClient client = connect(server).greet();
    client.send(write(1, 200_000)).send(write(2, 1)).send(write(3, 1));
    await().until(() -> waiting.size() == 3);
    users = USERS;
    refused(greeting(server), ErrorCode.OVERLOADED, "user 'default' has 2 connections");
    client.send(write(4, 1));
    refused(client.reply().message(), ErrorCode.OVERLOADED, "osier.user-limits.requests");
    waiting.forEach(reply -> reply.accept(new Reply.Pong()));
    for (int i = 0; i < 3; i++) {
      client.reply();
    }
    answering = true; // until the limit is in force large ones are still taken
    await()
        .untilAsserted(
            () -> {
              client.send(write(5, 200_000));
              refused(client.reply().message(), ErrorCode.VALUE_TOO_LARGE, "100000 bytes");
            });
  }

  @Test
  void limit_isToldToTheApplication_andShownInStat() {
    Datacenter eu =
        open.add(
            Datacenter.start(
                ConfigReader.read(
                    "eu",
                    """
                    osier {
                      dc = eu, store.dir = "", shutdown-timeout = 0s, keyspaces { shop {} }
                      listen { client-port = 0, peer-port = 0 }
                      user-limits { connections = 1 }
                    }
                    """,
                    Map.of())));
    OsierClient first = client(eu);
    first.awaitConnected(LONG);
    OsierClient second = client(eu);
    await().until(() -> second.status().getFirst().trouble().isPresent());
    assertThatThrownBy(() -> second.awaitConnected(Duration.ofMillis(1)))
        .hasMessageContaining("user 'default' has 1 connections")
        .hasMessageContaining("osier.user-limits.connections");
    assertThat(first.inspectAsync("eu", Request.Topic.STAT, Optional.empty(), 0).join())
        .containsPattern("\"limited\":\\{\"bytes\":0,\"connections\":[1-9][0-9]*,\"requests\":0}")
        .containsPattern(
            "\"users\":\\{\"default\":\\{\"connections\":1,\"requests\":1,\"bytes\":[0-9]+}}");
  }

  private OsierClient client(Datacenter of) {
    return open.add(PatientClients.of("eu", of.clientPort()).build());
  }
}
