package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.tracking.Tracking;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;

/**
 * Subscribers, publishers and caches as bytes, in front of partitions that answer and tell when the
 * test wants.
 */
abstract class PubSubConnections {
  /** What was asked of the partition. */
  final BlockingQueue<Consumer<Reply>> asked = new LinkedBlockingQueue<>();

  final PubSub all = new PubSub(64 << 20, PubSub.Peers.NONE);
  final Tracking tracking = new Tracking(1 << 20, 1);
  volatile Users users = Users.OPEN;

  /** Whether changes are heard of. */
  volatile boolean hears = true;

  /** Whether somebody who holds them is in reach. */
  volatile boolean inReach = true;

  @AutoClose private final Opened open = new Opened();

  @SuppressWarnings("NullAway") // by start
  ClientServer server;

  int port;

  @BeforeEach
  void start() {
    ClientService handler =
        new ServedClients.Handler() {
          @Override
          public List<Reply.KeyspaceInfo> keyspaces() {
            return List.of(
                new Reply.KeyspaceInfo("shop", 500, 1, false),
                new Reply.KeyspaceInfo("carts", 500, 1, false));
          }

          @Override
          public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
            asked.add(reply);
          }

          @Override
          public boolean listen(String keyspace, ChangeListener listener) {
            if (!inReach) {
              throw new OsierException(ErrorCode.UNAVAILABLE, "nobody is in reach");
            }
            return hears;
          }
        };
    server = ServedClients.start(PortLimits.DEFAULT, UserLimits.NONE, () -> users, handler);
    RedisPort redis =
        new RedisPort(
            Map.of(0, "shop", 1, "carts"),
            handler,
            ServedClients.around(new ServerState.Pushes(all, tracking)));
    port = server.listen(ServedClients.anyPort(), redis).address().getPort();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  RawRedis connect(boolean resp3) throws IOException {
    RawRedis redis = open.add(new RawRedis(port));
    if (resp3) {
      redis.ask("HELLO 3");
    }
    return redis;
  }

  Consumer<Reply> next() throws InterruptedException {
    Consumer<Reply> reply = asked.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(reply).as("a request").isNotNull();
    return reply;
  }

  static Reply.Answer answer(String text) {
    return (Reply.Answer) RespFixture.answer(text);
  }

  void grant(String... grants) {
    List<Grant> all = Arrays.stream(grants).map(Grant::parse).toList();
    users = new Users(List.of(new User(Users.DEFAULT, Optional.empty(), all)));
  }

  static List<String> read(RawRedis from, int count) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      lines.add(from.read());
    }
    return lines;
  }
}
