package io.osier.datacenter.redis.server;

import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.tracking.Tracking;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Subscribers and publishers as bytes, in front of a partition that answers when told to. */
abstract class PubSubConnections {
  /** What was asked of the partition. */
  final BlockingQueue<Consumer<Reply>> asked = new LinkedBlockingQueue<>();

  final PubSub all = new PubSub(64 << 20, PubSub.Peers.NONE);
  volatile Users users = Users.OPEN;

  @SuppressWarnings("NullAway") // by start
  ClientServer server;

  int port;

  @BeforeEach
  void start() {
    ClientService handler =
        new ClientService() {
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
          public void administer(Request.Administer request, String by, Consumer<Reply> reply) {
            throw new AssertionError("nobody administers");
          }
        };
    server = ServedClients.start(PortLimits.DEFAULT, UserLimits.NONE, () -> users, handler);
    RedisPort redis =
        new RedisPort(
            Map.of(0, "shop", 1, "carts"),
            handler,
            ServedClients.around(new ServerState.Pushes(all, new Tracking(1 << 20, 1))));
    port = server.listen(ServedClients.anyPort(), redis).address().getPort();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  RawRedis connect(boolean resp3) throws IOException {
    RawRedis redis = new RawRedis(port);
    if (resp3) {
      redis.ask("HELLO 3");
    }
    return redis;
  }

  static List<String> read(RawRedis from, int count) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      lines.add(from.read());
    }
    return lines;
  }
}
