package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.core.ReplicaId;
import io.osier.core.net.Network;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** A client port without clients does nothing, and one with clients looks again and again. */
final class ClientServerLooksTest {
  private int changes;
  private Users users = Users.OPEN;
  private final Scripted network = new Scripted();
  private final ClientServer server =
      ClientServer.open(
          new ReplicaId("eu", 1),
          network,
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
          PortLimits.DEFAULT,
          MemoryPlan.ofThisProcess(),
          () -> 0,
          () -> users,
          new ClientServer.Handler() {
            @Override
            public List<Reply.KeyspaceInfo> keyspaces() {
              return List.of();
            }

            @Override
            public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {}

            @Override
            public void administer(Request.Administer request, String by, Consumer<Reply> reply) {}

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
}
