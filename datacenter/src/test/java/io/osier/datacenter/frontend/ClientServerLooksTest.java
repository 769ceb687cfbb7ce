package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import com.ongres.scram.client.ScramClient;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.net.Network;
import io.osier.core.scram.ScramCredential;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** A client port without clients does nothing, and one with clients looks again and again. */
final class ClientServerLooksTest {
  private static final MemoryPlan PLAN = new MemoryPlan(64 << 20);

  private int changes;
  private final Queue<Consumer<Reply>> asked = new ArrayDeque<>();
  private Users users = Users.OPEN;
  private final Scripted network = new Scripted();
  private final ClientServer server =
      ClientServer.open(
          new ReplicaId("eu", 1),
          network,
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
          PortLimits.DEFAULT,
          PLAN,
          () -> 0,
          () -> users,
          new ClientService() {
            @Override
            public List<Reply.KeyspaceInfo> keyspaces() {
              return List.of();
            }

            @Override
            public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
              asked.add(reply);
            }

            @Override
            public void administer(
                AdminRequest.Administer request, String by, Consumer<Reply> reply) {}

            @Override
            public void usersChanged() {
              changes++;
            }
          });

  /** Runs what comes later, when the test says so. */
  private static final class Scripted implements Network {
    final Queue<Runnable> later = new ArrayDeque<>();
    Consumer<Channel> opening = channel -> {};

    @Override
    public Port listen(InetSocketAddress at, Consumer<Channel> handlers) {
      opening = handlers;
      return new Port() {
        @Override
        public InetSocketAddress address() {
          return at;
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public void dial(
        InetSocketAddress to, int millis, Consumer<Channel> handlers, Consumer<Throwable> failed) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void later(Runnable task, long millis) {
      later.add(task);
    }

    @Override
    public void apart(String name, Runnable task) {
      task.run();
    }

    @Override
    public RandomGenerator random() {
      return RandomGenerator.getDefault();
    }

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public void close() {}
  }

  private EmbeddedChannel connect() {
    EmbeddedChannel channel = new EmbeddedChannel(DefaultChannelId.newInstance());
    network.opening.accept(channel);
    return channel;
  }

  private static void send(EmbeddedChannel channel, long id, Request request) {
    channel.writeInbound(Unpooled.wrappedBuffer(RawClient.frame(id, request)));
  }

  private static void setReads(EmbeddedChannel channel, boolean reads) {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, reads);
    channel.runPendingTasks();
  }

  private void look() {
    network.later.remove().run();
  }

  @Test
  void withoutClients_nothingIsLookedFor() {
    assertThat(network.later).isEmpty();
    EmbeddedChannel first = connect();
    EmbeddedChannel second = connect();
    assertThat(network.later).as("one look for all").hasSize(1);
    first.close().syncUninterruptibly();
    look();
    assertThat(network.later).hasSize(1);
    second.close().syncUninterruptibly();
    look();
    assertThat(network.later).isEmpty();
    connect();
    assertThat(network.later).as("looked for again").hasSize(1);
    server.close();
  }

  @Test
  void clientThatDoesNotRead_isNotListenedTo_andItsAnswersWait_untilItReads() {
    EmbeddedChannel client = connect();
    send(client, 1, new Greeting.Hello(Request.PROTOCOL_VERSION, "c"));
    send(client, 2, new Request.Ping());
    send(client, 3, new Request.Ping());
    assertThat(asked).hasSize(2);
    client.releaseOutbound();
    setReads(client, false);
    asked.remove().accept(new Reply.Pong());
    send(client, 4, new Request.Ping());
    client.runPendingTasks();
    assertThat(asked).hasSize(1);
    assertThat(client.outboundMessages()).isEmpty();
    setReads(client, true);
    client.runPendingTasks();
    assertThat(asked).hasSize(2);
    assertThat(client.outboundMessages()).hasSize(1);
    setReads(client, false);
    asked.remove().accept(new Reply.Report("x".repeat(5 << 20)));
    client.runPendingTasks();
    setReads(client, true);
    assertThat(client.outboundMessages()).as("more than with which one goes on").hasSize(2);
    send(client, 5, new Request.Ping());
    assertThat(asked).hasSize(2);
    client.finishAndReleaseAll();
    server.close();
  }

  @Test
  void clientThatAsksForMuchAtOnce_hasTurns_andNothingIsReadOfItBetweenThem() {
    EmbeddedChannel client = connect();
    send(client, 1, new Greeting.Hello(Request.PROTOCOL_VERSION, "c"));
    ByteBuf much = Unpooled.buffer();
    for (int id = 2; id < 2 + 3 * Turn.REQUESTS_MAX; id++) {
      much.writeBytes(RawClient.frame(id, new Request.Ping()));
    }
    client.pipeline().fireChannelRead(much);
    client.pipeline().fireChannelReadComplete();
    assertThat(asked).hasSize(Turn.REQUESTS_MAX);
    assertThat(client.config().isAutoRead()).isFalse();
    for (int turn = 0; turn < 10; turn++) {
      int before = asked.size();
      client.runPendingTasks();
      assertThat(asked.size() - before).isLessThanOrEqualTo(Turn.REQUESTS_MAX);
    }
    assertThat(asked).hasSize(3 * Turn.REQUESTS_MAX);
    assertThat(client.config().isAutoRead()).isTrue();
    send(client, 1_000, new Request.Ping());
    assertThat(asked).hasSize(3 * Turn.REQUESTS_MAX + 1);
    client.finishAndReleaseAll();
    server.close();
  }

  /** What a heap has room for is less than one of many connections may have. */
  @Test
  void answersOfManyWhoDoNotRead_takeNoMoreThanTheirBudget() {
    Reply large = new Reply.Report("x".repeat(1 << 20));
    List<EmbeddedChannel> clients = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      EmbeddedChannel client = connect();
      clients.add(client);
      send(client, 1, new Greeting.Hello(Request.PROTOCOL_VERSION, "c"));
      for (int id = 2; id < 12; id++) {
        send(client, id, new Request.Ping());
      }
      setReads(client, false);
    }
    assertThat(asked).hasSize(100);
    asked.forEach(reply -> reply.accept(large));
    clients.forEach(EmbeddedChannel::runPendingTasks);
    List<ClientServer.Visitor> visitors =
        clients.stream().map(c -> c.pipeline().get(ClientServer.Visitor.class)).toList();
    assertThat(visitors.stream().mapToLong(ClientServer.Visitor::waitingBytes).sum())
        .isBetween(8L << 20, PLAN.answerBytes() + 10 * AnswerShare.FREE_BYTES);
    look();
    assertThat(clients.stream().filter(client -> !client.isOpen())).hasSize(1);
    clients.forEach(EmbeddedChannel::close);
    clients.forEach(EmbeddedChannel::runPendingTasks);
    assertThat(visitors).allMatch(visitor -> visitor.waitingBytes() == 0);
    clients.forEach(EmbeddedChannel::finishAndReleaseAll);
    server.close();
  }

  /** Thousands may wait for as long as a start does. */
  @Test
  void loginThatMustWait_looksAtOnce_andThenSeldom() {
    int looks = 0;
    long pause = 0;
    for (long millis = 0; millis < 60_000; millis += pause) {
      pause = ClientConnection.loginPauseMillis(pause);
      assertThat(pause).isBetween(20L, 200L);
      assertThat(looks > 0 || pause == 20).isTrue();
      looks++;
    }
    assertThat(looks).isLessThan(310);
    server.close();
  }

  @Test
  void usersThatChanged_areSeenByTheNextLook_alsoWhereNobodyWasConnectedMeanwhile() {
    users = new Users(List.of());
    connect();
    look();
    assertThat(changes).isEqualTo(1);
    look();
    assertThat(changes).isEqualTo(1);
    server.close();
  }

  /** No look after that would find it: the users have not changed since. */
  @Test
  void whoWasDroppedWhileItLoggedIn_isRefused() throws Exception {
    ScramCredential credential =
        ScramCredential.of("pencil".toCharArray(), new byte[16], ScramCredential.ITERATIONS_MIN);
    users = new Users(List.of(new User("cart", Optional.of(credential), List.of())));
    EmbeddedChannel client = connect();
    ScramClient scram =
        ScramClient.builder()
            .advertisedMechanisms(List.of(ScramCredential.MECHANISM))
            .username("cart")
            .password("pencil".toCharArray())
            .build();
    String first = scram.clientFirstMessage().toString();
    send(client, 0, new Greeting.Login(Request.PROTOCOL_VERSION, "c", first));
    scram.serverFirstMessage(((Reply.Challenge) replies(client).getFirst()).message());
    users = new Users(List.of());
    look();
    send(client, 0, new Greeting.Proof(scram.clientFinalMessage().toString()));
    assertThat(replies(client))
        .endsWith(
            new Reply.Failure(ErrorCode.NOT_AUTHENTICATED, "user 'cart' is not there any more"));
    client.finishAndReleaseAll();
    server.close();
  }

  private static List<Reply> replies(EmbeddedChannel client) throws MalformedException {
    List<Reply> replies = new ArrayList<>();
    for (ByteBuf sent = client.readOutbound(); sent != null; sent = client.readOutbound()) {
      while (sent.isReadable()) {
        byte[] content = new byte[sent.readInt()];
        sent.readBytes(content);
        replies.add(ProtocolCodec.decodeReply(content).message());
      }
      sent.release();
    }
    return replies;
  }
}
