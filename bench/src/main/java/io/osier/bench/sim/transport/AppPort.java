package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * The port for clients of one datacenter's process: production's server, with the connections of
 * applications. Behind it is nobody but who draws answers.
 */
final class AppPort implements ClientService {
  /** In one life of so many there is no room for what is left of connections that were lost. */
  private static final int NARROW_ONE_IN = 3;

  private static final int CONNECTIONS_FEW = 2;
  private static final int CONNECTIONS = 100;
  private static final int GREETING_MILLIS = 8_000;
  private static final int FRAME_MILLIS = 4_000;
  private static final int ANSWER_MILLIS_MAX = 300;

  /** Enough for all clients, so that the server itself refuses none for lack of memory. */
  private static final long HEAP_BYTES = 1L << 30;

  private final AppWorld world;
  private final ReplicaId self;
  private final Random random;
  private final SimSockets sockets;
  private final boolean isNarrow;

  AppPort(AppWorld world, ReplicaId self, Random random) {
    this.world = world;
    this.self = self;
    this.random = random;
    this.sockets =
        new SimSockets(
            world.network(), world.scheduler(), self, () -> 0, new Random(random.nextLong()));
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

  // ---------------------------------------------------------------- requests

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return List.of(new Reply.KeyspaceInfo(AppWorld.KEYSPACE, 1_000, 1, false));
  }

  /** Handles a request; an exception of a check ends the run, and not the connection. */
  @Override
  public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
    try {
      if (request instanceof Request.Ping) {
        reply.accept(new Reply.Pong());
        return;
      }
      AppRequest one = world.comes(self, request);
      if (one.by.isStranger()) {
        throw new Violation(
            "", "%s lets %s in, which has not logged in: %s", self, one.by, request);
      }
      answer(one, reply);
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
  private void answer(AppRequest one, Consumer<Reply> reply) {
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
                sockets.run();
              }
            });
  }

  @Override
  public void administer(Request.Administer request, String by, Consumer<Reply> reply) {
    throw new IllegalArgumentException("an application asks no such thing: " + request);
  }
}
