package io.osier.bench.sim.app;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimChannel;
import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The port for clients of one datacenter's process: production's server, with the connections of
 * applications, in front of the partitions.
 */
public final class AppPort implements ClientServer.Handler {
  /** One of so many requests is refused before the datacenter looks at it. */
  private static final int REFUSED_ONE_IN = 80;

  /** In one life of so many there is no room for what is left of connections that were lost. */
  private static final int NARROW_ONE_IN = 3;

  private static final int CONNECTIONS_FEW = 2;
  private static final int CONNECTIONS = 100;
  private static final int GREETING_MILLIS = 1_500;
  private static final int FRAME_MILLIS = 2_000;

  /** Enough for all clients: what is refused by the server itself was never asked, here. */
  private static final long HEAP_BYTES = 1L << 30;

  private static final ErrorCode[] REFUSALS = {
    ErrorCode.OVERLOADED, ErrorCode.SHUTTING_DOWN, ErrorCode.STORE_FULL, ErrorCode.UNAVAILABLE
  };

  private final Simulation simulation;
  private final SimDc dc;
  private final Random random;
  private final SimSockets sockets;
  private final List<AppConnection> connections = new ArrayList<>();

  /** What has come to partitions and is not answered. */
  private final Set<SimSending> open = new LinkedHashSet<>();

  /** Whose bytes are being read; null while none are. */
  private @Nullable AppConnection serving;

  public AppPort(Simulation simulation, SimDc dc, Random random) {
    this.simulation = simulation;
    this.dc = dc;
    this.random = random;
    this.sockets =
        new SimSockets(
            simulation.network(),
            simulation.scheduler(),
            dc.self(),
            dc::slowNanos,
            new Random(random.nextLong()));
    int most = random.nextInt(NARROW_ONE_IN) == 0 ? CONNECTIONS_FEW : CONNECTIONS;
    var unused =
        ClientServer.open(
            dc.self(),
            sockets,
            InetSocketAddress.createUnresolved(dc.self().dc(), 1),
            new PortLimits(most, GREETING_MILLIS, FRAME_MILLIS),
            new MemoryPlan(HEAP_BYTES),
            simulation.scheduler()::nanos,
            simulation.callers()::users,
            this);
  }

  SimDc dc() {
    return dc;
  }

  public SimSockets sockets() {
    return sockets;
  }

  /** The server's end of a new connection. */
  SimChannel channel(AppConnection of) {
    return sockets.add(
        new SimChannel(simulation.scheduler(), sockets, sockets.nextNumber()) {
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
  public void crash() {
    sockets.crash();
    open.forEach(SimSending::crashed);
    open.clear();
    connections.forEach(AppConnection::crashed);
    connections.clear();
  }

  // ---------------------------------------------------------------- requests

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return keyspacesOf(simulation);
  }

  /** What a check throws ends the run, and not the connection. */
  @Override
  public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
    try {
      AppConnection from = requireNonNull(serving, "it has just been read");
      if (from.app().isStranger()) {
        throw new Violation(
            "", "%s lets %s in, which has not logged in: %s", dc.self(), from.app(), request);
      }
      if (request instanceof Request.Ping) {
        reply.accept(new Reply.Pong());
      } else {
        ask(from, from.comes(request), lane, request, reply);
      }
    } catch (RuntimeException e) {
      simulation.scheduler().fail(e);
    }
  }

  @Override
  public void together(Runnable follows) {
    try {
      follows.run();
    } catch (RuntimeException e) {
      simulation.scheduler().fail(e);
    }
  }

  private void ask(
      AppConnection from,
      AppWay.Sending one,
      OrderedQueue lane,
      Request request,
      Consumer<Reply> reply) {
    if (simulation.profile().losesAnswers() && random.nextInt(REFUSED_ONE_IN) == 0) {
      simulation.losesAnswer();
      ErrorCode code = REFUSALS[random.nextInt(REFUSALS.length)];
      one.replied(new Reply.Failure(code, "nothing was done: not now"));
      reply.accept(one.reply());
      return;
    }
    open.add(one);
    SimNode node = dc.node(simulation.unit(request));
    node.command(
        lane,
        request,
        (at, made) -> {
          one.replied(made);
          one.made(at, made);
          return () -> leaves(from, one, made, reply);
        });
    if (request instanceof Request.Write && simulation.options().sabotage().again()) {
      node.command(lane, request, (at, made) -> () -> {});
    }
  }

  private void leaves(AppConnection from, SimSending one, Reply made, Consumer<Reply> reply) {
    open.remove(one);
    one.leaves(made);
    simulation.counted(made);
    reply.accept(made);
    from.server().wake();
  }

  @Override
  public void administer(Request.Administer request, String by, Consumer<Reply> reply) {
    throw new IllegalArgumentException("a session asks no such thing: " + request);
  }

  /** What a datacenter tells clients of its keyspaces. */
  static List<Reply.KeyspaceInfo> keyspacesOf(Simulation simulation) {
    Map<String, Reply.KeyspaceInfo> all = new LinkedHashMap<>();
    for (Unit unit : simulation.units()) {
      KeyspacePolicy p = unit.policy();
      all.put(
          p.name(),
          new Reply.KeyspaceInfo(p.name(), p.sla().toMillis(), p.partitions(), unit.isCausal()));
    }
    return List.copyOf(all.values());
  }
}
