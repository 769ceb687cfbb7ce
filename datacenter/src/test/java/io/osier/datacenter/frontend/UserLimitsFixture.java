package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.scram.ScramCredential;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Envelope;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.testing.Opened;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;

/** A port with users who have limits, in front of a handler that answers when told to. */
abstract class UserLimitsFixture {
  static final String PASSWORD = "correct horse";
  static final ScramCredential CREDENTIAL =
      ScramCredential.of(PASSWORD.toCharArray(), new byte[16], ScramCredential.ITERATIONS_MIN);
  static final List<Grant> ALL = List.of(Grant.parse("write *"), Grant.parse("read *"));
  static final Users USERS =
      new Users(
          List.of(
              new User(Users.DEFAULT, Optional.empty(), ALL),
              new User("cart", Optional.of(CREDENTIAL), ALL)));
  static final long MANY = 1_000_000;

  @AutoClose final Opened open = new Opened();

  /** Requests that nobody answers until the test does. */
  final Queue<Consumer<Reply>> waiting = new ConcurrentLinkedQueue<>();

  volatile boolean answering;
  volatile Users users = USERS;
  final AccessControl access =
      new AccessControl(
          () -> users,
          "osier",
          new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]),
          new AuditLog("eu"));

  static UserLimits limits(long connections, long requests, long bytes) {
    return new UserLimits(
        UserLimits.Limit.given(connections),
        UserLimits.Limit.given(requests),
        UserLimits.Limit.given(bytes));
  }

  ClientServer server(UserLimits limits) {
    return open.add(
        TestPorts.of(
            access,
            limits,
            new MemoryPlan(1 << 30),
            new SlowLog(0),
            List.of(),
            (request, reply) -> {
              if (answering && !(request instanceof AdminRequest.Administer)) {
                reply.accept(new Reply.Pong());
              } else {
                waiting.add(reply);
              }
            }));
  }

  RawClient connect(ClientServer to) throws IOException {
    return open.add(new RawClient(to.port()));
  }

  RawClient cart(ClientServer to) throws Exception {
    RawClient client = connect(to);
    assertThat(client.login("cart", PASSWORD)).isInstanceOf(Reply.Welcome.class);
    return client;
  }

  static byte[] write(long id, int bytes) {
    return RawClient.frame(
        id,
        Requests.write(
            "shop",
            Key.of("k"),
            CrdtType.LWW_REGISTER,
            new Operation.Assign(Value.of("v".repeat(bytes)))));
  }

  static void refused(Reply reply, ErrorCode code, String... says) {
    assertThat(reply).is(Failed.with(code, says));
  }

  /** Whether a request of this client is taken, and its answer comes. */
  void assertServed(RawClient client) throws IOException {
    int before = waiting.size();
    client.send(write(77, 1));
    await().until(() -> waiting.size() == before + 1);
    waiting.stream().toList().getLast().accept(new Reply.Pong());
    assertThat(client.reply()).isEqualTo(new Envelope<Reply>(77, new Reply.Pong()));
  }

  static byte[] begin(long id, int bytes) {
    Request.Update update =
        new Request.Update(
            Key.of("k"), CrdtType.LWW_REGISTER, new Operation.Assign(Value.of("v".repeat(bytes))));
    return RawClient.frame(
        id,
        Requests.step(
            "shop", new TransactionId(id, 0), 1, List.of(update), List.of(), Request.End.OPEN));
  }

  OsierClient client(Datacenter of) {
    return open.add(PatientClients.of("eu", of.clientPort()).build());
  }
}
