package io.osier.bench.sim.load;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimApp;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.Homes;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Session;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** Sends the calls of a session by a session of production's client, which repeats what it may. */
final class ClientCalls implements SessionCalls {
  /** One call of so many is a batch of one part. */
  private static final int BATCHES_ONE_IN = 5;

  private final Simulation simulation;
  private final SimApp app;
  private final Session session;
  private final Random random;

  ClientCalls(Simulation simulation, SimApp app, Session session, Random random) {
    this.simulation = simulation;
    this.app = app;
    this.session = session;
    this.random = random;
  }

  @Override
  public CompletableFuture<?> send(SessionCall call, long number) {
    Keyspace keyspace = session.keyspace(Homes.base(call.place.unit.policy().name()));
    ObjectId object = call.object();
    boolean inBatch =
        number % BATCHES_ONE_IN == 1 && call.ask.isEmpty() && call.condition.isEmpty();
    if (!call.task.isWrite()) {
      return inBatch
          ? keyspace
              .readAllAsync(
                  List.of(
                      new Keyspace.Get(
                          object.key(), Optional.of(object.type()), call.task.query())))
              .thenApply(List::getFirst)
          : keyspace.readAsync(object.key(), Optional.of(object.type()), call.task.query());
    }
    Operation operation = call.task.operation().orElseThrow();
    if (inBatch && call.task.keepsItsPlace()) {
      return keyspace.updateAllAsync(
          List.of(new Keyspace.Change(object.key(), object.type(), operation)));
    }
    if (call.condition.isPresent()) {
      return keyspace.updateIfAsync(object.key(), object.type(), operation, call.condition.get());
    }
    return call.ask.isPresent()
        ? keyspace.updateAsync(object.key(), object.type(), operation, call.ask.get())
        : keyspace.updateAsync(object.key(), object.type(), operation);
  }

  /** Pins the session to a datacenter, or lets the client choose. */
  @Override
  public void move() {
    if (app.isEmbedded()) {
      return;
    }
    String to = random.nextInt(3) == 0 ? null : simulation.anyDc(random);
    // A session that is pinned where a keyspace is not held is refused.
    if (to == null
        || !app.reaches(to)
        || simulation.units().stream().map(Unit::policy).anyMatch(p -> !p.heldBy(to))) {
      session.unpin();
    } else {
      session.pin(to);
    }
  }

  @Override
  public void forget() {
    session.forget();
  }
}
