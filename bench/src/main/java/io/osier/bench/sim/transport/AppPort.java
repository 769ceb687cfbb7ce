package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.world.SimChannel;
import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The port for clients of one datacenter's process: production's server, with the connections of
 * applications. Behind it is nobody but who draws answers.
 */
final class AppPort implements ClientService {
  /** In one life of so many there is no room for what is left of connections that were lost. */
  private static final int NARROW_ONE_IN = 3;

  private static final int CONNECTIONS_FEW = 2;
  private static final int CONNECTIONS = 100;
  private static final int GREETING_MILLIS = 1_500;
  private static final int FRAME_MILLIS = 2_000;
  private static final int ANSWER_MILLIS_MAX = 300;

  /** Enough for all clients, so that the server itself refuses none for lack of memory. */
  private static final long HEAP_BYTES = 1L << 30;

  private final AppWorld world;
  private final ReplicaId self;
  private final Random random;
  private final SimSockets sockets;
  private final boolean isNarrow;
  private final List<AppConnection> connections = new ArrayList<>();

  /** Whose bytes are being read; null while none are. */
  private @Nullable AppConnection serving;

  AppPort(AppWorld world, ReplicaId self, Random random) {
    this.world = world;
    this.self = self;
    this.random = random;
    this.sockets =
        new SimSockets(
            world.nothing(), world.scheduler(), self, () -> 0, new Random(random.nextLong()));
    this.isNarrow = random.nextInt(NARROW_ONE_IN) == 0;
    var unused =
        ClientServer.open(
            self,
            sockets,
            InetSocketAddress.createUnresolved(self.dc(), 1),
            new PortLimits(isNarrow ? CONNECTIONS_FEW : CONNECTIONS, GREETING_MILLIS, FRAME_MILLIS),
            new MemoryPlan(HEAP_BYTES),
            world.scheduler()::nanos,
            world::users,
            this);
  }

  ReplicaId self() {
    return self;
  }

  SimSockets sockets() {
    return sockets;
  }

  /** Whether it takes only a few connections. */
  boolean isNarrow() {
    return isNarrow;
  }

  /** The server's end of a new connection. */
  SimChannel channel(AppConnection of) {
    return sockets.add(
        new SimChannel(world.scheduler(), sockets, sockets.nextNumber()) {
          @Override
          public void within(Runnable work) {
            AppConnection before = serving;
            serving = of;
            try {
              work.run();
            } finally {
              serving = before;
            }
          }
        });
  }

  void accept(AppConnection connection) {
    connections.removeIf(AppConnection::isOver);
    connections.add(connection);
    sockets.accept(connection.server());
  }

  /** The process is gone. */
  void crash() {
    sockets.crash();
    connections.forEach(AppConnection::crashed);
    connections.clear();
  }

  // ---------------------------------------------------------------- requests

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return List.of(new Reply.KeyspaceInfo(AppWorld.KEYSPACE, 1_000, 1, false));
  }

  /** Handles a request; an exception of a check ends the run, and not the connection. */
  @Override
  public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
    try {
      AppConnection from = requireNonNull(serving, "it has just been read");
      if (from.isStranger()) {
        throw new Violation("", "%s lets %s in, which has not logged in: %s", self, from, request);
      }
      if (request instanceof Request.Ping) {
        reply.accept(new Reply.Pong());
      } else {
        answer(from, from.comes(request), reply);
      }
    } catch (RuntimeException e) {
      world.scheduler().fail(e);
    }
  }

  @Override
  public void together(Runnable follows) {
    try {
      follows.run();
    } catch (RuntimeException e) {
      world.scheduler().fail(e);
    }
  }

  /** At once or later: answers overtake each other. */
  private void answer(AppConnection from, AppConnection.Sending one, Consumer<Reply> reply) {
    Reply made = world.nextReply(random);
    one.reply = made;
    if (random.nextBoolean()) {
      reply.accept(made);
      return;
    }
    world
        .scheduler()
        .in(
            random.nextInt(ANSWER_MILLIS_MAX) * MILLI,
            () -> {
              if (!sockets.isClosed()) {
                reply.accept(made);
                from.server().wake();
              }
            });
  }

  @Override
  public void administer(AdminRequest.Administer request, String by, Consumer<Reply> reply) {
    throw new IllegalArgumentException("an application asks no such thing: " + request);
  }
}
