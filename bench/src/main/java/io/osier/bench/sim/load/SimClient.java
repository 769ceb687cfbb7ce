package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.Carried;
import io.osier.bench.sim.check.ConditionCheck;
import io.osier.bench.sim.check.CopyCheck;
import io.osier.bench.sim.check.SessionCheck;
import io.osier.bench.sim.check.SessionView;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One session in one unit: single requests and pipelined ones, here and, after a failover, there.
 * It keeps its vector as the client library does: the first request at another datacenter, or at
 * another incarnation of the same, carries it; once one that carried all of it is answered the
 * others need not. An answer of a datacenter that it has left in between makes it carry the vector
 * again.
 */
final class SimClient {
  private static final long PATIENCE_NANOS = 8_000 * MILLI;
  private static final int BURST_MAX = 6;

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final String name;
  private final Unit unit;
  private final Workload workload;
  private final Random random;

  /** The longest pause between two requests, nearly always. */
  private final int paceMillis;

  private final boolean isReader;

  private final SessionView view = new SessionView();
  private final List<ClientCall> calls = new ArrayList<>();

  /** Writes that no datacenter has answered yet, also those that are given up. */
  private final List<ClientCall> unanswered = new ArrayList<>();

  private String home;
  private VersionVector seen = VersionVector.EMPTY;
  private @Nullable ReplicaId attachedTo;
  private long reads;
  private long tasks;

  /**
   * Counts moves, and what came from datacenters other than home: requests sent before do not carry
   * it.
   */
  private long strangers;

  /**
   * A session that has not begun.
   *
   * @param home where it begins
   * @param isReader whether it does little else than to read what is hot
   */
  SimClient(
      Simulation simulation,
      String name,
      Unit unit,
      Workload workload,
      Random random,
      int paceMillis,
      String home,
      boolean isReader) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.name = name;
    this.unit = unit;
    this.workload = workload;
    this.random = random;
    this.paceMillis = paceMillis;
    this.home = home;
    this.isReader = isReader;
  }

  void start() {
    scheduler.in(SimSession.pauseNanos(random, paceMillis), this::step);
  }

  // ---------------------------------------------------------------- requests

  private void step() {
    if (!simulation.isLoading()) {
      return;
    }
    if (random.nextInt(25) == 0) {
      move();
    }
    SimDc dc = simulation.dc(home);
    if (!dc.isUp()) {
      move();
      scheduler.in(200 * MILLI, this::step);
      return;
    }
    int burst = random.nextInt(5) == 0 ? 1 + random.nextInt(BURST_MAX) : 1;
    for (int i = 0; i < burst; i++) {
      ask(dc);
    }
    if (random.nextInt(20) == 0) {
      // Goes on elsewhere without waiting for the answers.
      move();
      scheduler.in(random.nextInt(100) * MILLI, this::step);
    }
  }

  private void ask(SimDc dc) {
    Workload.Task task = isReader ? workload.nextHot(random) : workload.next(random);
    VersionVector after = dc.self().equals(attachedTo) ? VersionVector.EMPTY : seen;
    after = simulation.options().sabotage().after(after);
    ClientCall call = new ClientCall(task, tasks++, dc.self(), after, workload);
    call.wants(view, calls, reads, strangers);
    Request request = call.request(unit.policy().name());
    calls.add(call);
    if (task.isWrite()) {
      simulation.checks(unit).sessions().asked(view, task.object(), task.effect());
      unanswered.add(call);
    }
    send(dc, call, request);
    scheduler.in(PATIENCE_NANOS, () -> giveUp(call));
  }

  private void send(SimDc dc, ClientCall call, Request request) {
    long ticket = simulation.nextTicket();
    Request arrived = Carried.request(simulation, ticket, request);
    simulation.trace().about(unit, call.task.object(), "%s asks %s: %s", name, call.at, request);
    BooleanSupplier goesOn = dc.goesOn();
    scheduler.in(
        way(dc),
        () -> {
          if (goesOn.getAsBoolean()) {
            dc.command(unit, this, arrived, (at, reply) -> made(call, ticket, goesOn, at, reply));
            if (call.task.isWrite() && simulation.options().sabotage().again()) {
              dc.command(unit, this, arrived, (at, reply) -> () -> {});
            }
          } else {
            dropped(call);
          }
        });
  }

  /** The time to a datacenter, and back: one connection, so nothing overtakes. */
  private long way(SimDc dc) {
    return (1 + Math.floorMod(dc.self().dc().hashCode(), 7)) * MILLI;
  }

  /** The request came to a crashed datacenter, whose name the client still knew. */
  private void dropped(ClientCall call) {
    unanswered.remove(call);
    if (call.open) {
      close(call);
      move();
      next();
    }
  }

  private void giveUp(ClientCall call) {
    if (call.open) {
      close(call); // the datacenter crashed, or is slow; the outcome is unknown
      move();
      next();
    }
  }

  private void close(ClientCall call) {
    call.open = false;
    calls.remove(call);
  }

  /** The next step, when all answers are there. */
  private void next() {
    if (calls.isEmpty()) {
      scheduler.in(SimSession.pauseNanos(random, paceMillis), this::step);
    }
  }

  /** Goes to any datacenter, as after a failover. */
  private void move() {
    home = simulation.anyDc(random);
    attachedTo = null;
    strangers++;
  }

  // ---------------------------------------------------------------- replies

  /** The datacenter has made its reply; it goes to the client when it may. */
  private Runnable made(
      ClientCall call, long ticket, BooleanSupplier goesOn, @Nullable SimNode node, Reply reply) {
    ObjectId object = call.task.object();
    if (node == null) {
      if (reply instanceof Reply.Answer answer) { // by a copy
        call.shown = CopyCheck.context(answer.seen());
      }
      return () -> goes(call, ticket, goesOn, reply); // nothing was shown or done
    }
    if (reply instanceof Reply.Answer answer) {
      call.shown = node.covered(object, answer.seen());
      call.condition.ifPresent(
          c ->
              conditions()
                  .notDone(node, object, c, answer, node.store().seen(object, answer.seen())));
    } else if (reply instanceof Reply.Done done) {
      done.answer().ifPresent(answer -> call.shown = call.shown(node, done, answer));
      simulation.checks(unit).sessions().made(node.self(), node::covered, call.wanted, object);
      call.condition.ifPresent(
          c ->
              conditions()
                  .done(node, object, c, done.dot(), node.store().before(object, done.dot())));
    }
    return () -> goes(call, ticket, goesOn, reply);
  }

  private ConditionCheck conditions() {
    return simulation.checks(unit).conditions();
  }

  private void goes(ClientCall call, long ticket, BooleanSupplier goesOn, Reply reply) {
    ObjectId object = call.task.object();
    unanswered.remove(call);
    if (reply instanceof Reply.Done done) {
      simulation.checks(unit).ledger().acknowledged(object, done.dot(), call.task.effect());
    } else if (call.task.isWrite()
        && reply instanceof Reply.Failure f
        && f.code() == ErrorCode.TIMEOUT) {
      simulation.checks(unit).ledger().unanswered(object, call.task.effect());
    }
    Reply arrived = Carried.reply(simulation, ticket, reply);
    simulation.counted(reply);
    scheduler.in(
        way(simulation.dc(call.at.dc())),
        () -> {
          if (!goesOn.getAsBoolean() && random.nextBoolean()) {
            return; // on its way when the datacenter crashed
          }
          if (call.open) {
            simulation.trace().about(unit, object, "%s -> %s: %s", call.at, name, arrived);
            replied(call, arrived);
          }
        });
  }

  private void replied(ClientCall call, Reply reply) {
    close(call);
    switch (reply) {
      case Reply.Done d -> {
        boolean before = call.ask.map(Request.Ask::before).orElse(false);
        if (before) {
          d.answer().ifPresent(answer -> read(call, answer));
        }
        wrote(call, d.dot());
        call.condition.ifPresent(
            c -> conditions().told(call.task.object(), c, call.task.effect(), d.dot()));
        if (!before) {
          d.answer().ifPresent(answer -> read(call, answer));
        }
      }
      case Reply.Answer a -> read(call, a);
      case Reply.Failure f -> failed(call, f);
      default -> throw new IllegalStateException("unexpected " + reply);
    }
    next();
  }

  private void wrote(ClientCall call, Dot dot) {
    call.dot = dot;
    for (CausalContext shown : call.shownAfter) {
      simulation.checks(unit).sessions().overtook(call.at, call.task.object(), shown, dot);
    }
    Effect effect = call.task.effect();
    // A read that was answered in between may have shown it already.
    Effect certain = reads == call.readsBefore ? effect : new Effect(effect.tokens(), 0);
    simulation
        .checks(unit)
        .sessions()
        .wrote(view, call.task.object(), CausalContext.of(dot), certain);
    saw(call, VersionVector.of(dot.replica(), dot.number()));
  }

  private void read(ClientCall call, Reply.Answer answer) {
    reads++;
    ObjectId object = call.task.object();
    SessionCheck check = simulation.checks(unit).sessions();
    SessionView wanted = call.wanted;
    if (call.dot != null) { // an update that asked what it has made
      Effect tokens = new Effect(call.task.effect().tokens(), 0);
      check.wrote(wanted, object, CausalContext.of(call.dot), tokens);
    }
    for (ClientCall before : call.earlier) {
      // One that waited for rights may have been done after the update that asks.
      boolean waited = call.task.isWrite() && !before.task.keepsItsPlace();
      if (before.dot != null && !waited && before.task.object().equals(object)) {
        Effect tokens = new Effect(before.task.effect().tokens(), 0);
        check.wrote(wanted, object, CausalContext.of(before.dot), tokens);
      }
    }
    for (ClientCall before : call.earlier) {
      if (before.open && before.task.keepsItsPlace() && before.task.object().equals(object)) {
        before.shownAfter.add(call.shown);
      }
    }
    if (call.condition.isEmpty() || ConditionCheck.isOfAll(call.condition.get())) {
      Reading reading = answer.reading().orElseThrow();
      check.read(call.at, wanted, object, call.shown, reading);
      check.saw(view, object, call.shown, reading);
      if (call.task.query() instanceof Query.Whole) {
        workload.shown(object, reading);
      }
    } else {
      check.read(call.at, wanted, object, call.shown);
      view.sawDots(object, call.shown);
    }
    saw(call, answer.seen());
  }

  private void saw(ClientCall call, VersionVector vector) {
    seen = seen.join(vector);
    if (!call.at.dc().equals(home)) {
      strangers++;
      attachedTo = null;
    } else if (call.strangersBefore == strangers) {
      attachedTo = call.at;
    }
  }

  private void failed(ClientCall call, Reply.Failure failure) {
    switch (failure.code()) {
      case SESSION_LOST -> forget(call);
      case SESSION_BEHIND, UNAVAILABLE, STORE_FULL -> move();
      default -> {
        // A holder may not have answered who forwarded it.
        boolean isLost =
            failure.code() == ErrorCode.TIMEOUT && simulation.dc(call.at.dc()).forwards(unit);
        if (!isLost && !call.mayBeRefused(failure.code())) {
          throw new Violation(
              unit + "/" + call.task.object(), "%s was refused at %s: %s", name, call.at, failure);
        }
      }
    }
  }

  /** Only memory that was really lost may be reported as lost. */
  private void forget(ClientCall call) {
    if (!simulation.holders().mayTellOthers(simulation.dc(call.at.dc()), unit)
        && !simulation.losses().hasLost(unit, call.after)) {
      throw new Violation("", "%s says that %s saw what was lost: %s", call.at, name, call.after);
    }
    seen = VersionVector.EMPTY;
    attachedTo = null;
    strangers++;
    view.clear();
  }

  /** What was asked of a node that crashed and will never be answered. */
  void crashed(ReplicaId at) {
    for (ClientCall call : List.copyOf(unanswered)) {
      if (call.at.equals(at)) {
        unanswered.remove(call);
        simulation.checks(unit).ledger().unanswered(call.task.object(), call.task.effect());
      }
    }
  }
}
