package io.osier.bench.sim.app;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.InProcess;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A datacenter as an application in its own process sees it, in one life of both: requests and
 * answers take no time, and some updates are acknowledged in front of their partition.
 */
final class SimInside implements InProcess {
  private final Simulation simulation;
  private final SimApp app;
  private final SimDc dc;
  private final ReplicaId self;
  private final long life;
  private final OrderedQueue lane = new OrderedQueue();

  /** The requests that partitions have not answered. */
  private final Set<SimSending> open = new LinkedHashSet<>();

  SimInside(Simulation simulation, SimApp app, SimDc dc) {
    this.simulation = simulation;
    this.app = app;
    this.dc = dc;
    this.self = dc.self();
    this.life = dc.life();
  }

  @Override
  public ReplicaId replica() {
    return self;
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return Reply.Elsewhere.all(
        SimApp.keyspacesOf(simulation, dc), SimApp.elsewhere(simulation, dc));
  }

  @Override
  public boolean isOpen() {
    return dc.isUp() && dc.life() == life;
  }

  @Override
  public boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    SimWitness witness = app.witnessOf(operation);
    if (witness == null) {
      return false;
    }
    try {
      Unit unit = simulation.unit(keyspace, key);
      boolean isDone =
          dc.serves(unit)
              && dc.node(unit).acknowledges(new ObjectId(key, type), operation, witness);
      if (isDone) {
        dc.control().demand().updated(unit);
      }
      return isDone;
    } catch (Violation e) {
      throw ends(e);
    }
  }

  /** Ends the run; the client takes the exception for a failure of its call. */
  private Violation ends(Violation e) {
    simulation.scheduler().fail(e);
    return e;
  }

  @Override
  public void send(Request request, Consumer<Reply> reply) {
    Unit unit = simulation.unit(request);
    SimSending one =
        new SimSending(this, self, request, app.witness(request), simulation.nextTicket());
    open.add(one);
    one.sends();
    simulation.trace().about(unit, one.about(), "%s asks within %s: %s", app, self, request);
    try {
      dc.command(
          unit,
          lane,
          request,
          (at, made) -> {
            one.made(at, made);
            return () -> leaves(unit, one, made, reply);
          });
    } catch (Violation e) {
      throw ends(e);
    }
  }

  private void leaves(Unit unit, SimSending one, Reply made, Consumer<Reply> reply) {
    if (!open.remove(one)) {
      return; // its process is gone
    }
    one.leaves(made);
    simulation.counted(made);
    simulation.trace().about(unit, one.about(), "%s -> %s: %s", self, app, made);
    one.hears(made);
    if (one.request() instanceof ProgressRequest.Through t) {
      app.learned(simulation.unit(t));
    }
    reply.accept(made);
  }

  /** The process is gone. */
  void crash() {
    open.forEach(SimSending::crashed);
    open.clear();
  }
}
