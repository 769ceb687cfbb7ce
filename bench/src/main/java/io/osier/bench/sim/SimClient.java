package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.MILLI;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * One session in one unit: single requests and pipelined ones, here and, after a failover, there.
 * It keeps its vector as the client library does: the first request at another datacenter, or at
 * another incarnation of the same, carries it; once one that carried all of it is answered the
 * others need not. An answer of a datacenter that it has left in between makes it carry the vector
 * again.
 */
final class SimClient {
  private static final int WAIT_MILLIS = 3_000;
  private static final long PATIENCE_NANOS = 8_000 * MILLI;
  private static final int BURST_MAX = 6;

  /** One request under way. */
  private final class Call extends SessionCall {
    final ReplicaId at;
    final VersionVector after;

    /** Its own requests that were under way to the same datacenter. */
    final List<Call> earlier = new ArrayList<>();

    final long readsBefore = reads;
    final long strangersBefore = strangers;
    boolean open = true;

    /** What reads showed of the object that were asked for after this and answered before. */
    final List<CausalContext> shownAfter = new ArrayList<>();

    /** What the object covered when it was read. */
    CausalContext shown = CausalContext.EMPTY;

    Call(Workload.Task task, long number, ReplicaId at, VersionVector after) {
      super(simulation.checks(unit), workload, view, task, number);
      this.at = at;
      this.after = after;
      for (Call call : calls) {
        if (call.at.equals(at)) {
          earlier.add(call);
        }
      }
    }

    @Override
    void wrote(Dot by) {
      for (CausalContext read : shownAfter) {
        sessions().overtook(at, object(), read, by);
      }
      knows(by, reads == readsBefore);
      SimClient.this.saw(this, VersionVector.of(by.replica(), by.number()));
    }

    @Override
    void read(Reply.Answer answer) {
      reads++;
      if (dot != null) { // an update that asked what it has made
        wants(this, dot);
      }
      for (Call before : earlier) {
        // One that waited for rights may have been done after the update that asks.
        boolean waited = task.isWrite() && !before.task.keepsItsPlace();
        if (before.dot != null && !waited && before.object().equals(object())) {
          wants(before, before.dot);
        }
      }
      for (Call before : earlier) {
        if (before.open && before.task.keepsItsPlace() && before.object().equals(object())) {
          before.shownAfter.add(shown);
        }
      }
      saw(at, shown, answer);
      SimClient.this.saw(this, answer.seen());
    }
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final String name;
  private final Unit unit;
  private final Workload workload;
  private final Random random;

  /** The longest pause between two requests, nearly always. */
  private final int paceMillis;

  private final SessionView view = new SessionView();
  private final List<Call> calls = new ArrayList<>();

  /** Writes that no datacenter has answered yet, also those that are given up. */
  private final List<Call> unanswered = new ArrayList<>();

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

  SimClient(
      Simulation simulation,
      String name,
      Unit unit,
      Workload workload,
      Random random,
      int paceMillis,
      String home) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.name = name;
    this.unit = unit;
    this.workload = workload;
    this.random = random;
    this.paceMillis = paceMillis;
    this.home = home;
  }

  void start() {
    scheduler.in(pause(), this::step);
  }

  private long pause() {
    // Mostly a steady pace, sometimes at once.
    return random.nextInt(10) == 0
        ? random.nextInt(20) * MILLI
        : (20 + random.nextInt(paceMillis)) * MILLI;
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
    Workload.Task task = workload.next(random);
    VersionVector after = dc.self().equals(attachedTo) ? VersionVector.EMPTY : seen;
    after = simulation.options().sabotage().after(after);
    ObjectId object = task.object();
    Call call = new Call(task, tasks++, dc.self(), after);
    boolean ordered = call.earlier.stream().anyMatch(c -> c.task.isWrite());
    String keyspace = unit.policy().name();
    Request request =
        task.isWrite()
            ? new Request.Write(
                keyspace,
                object.key(),
                object.type(),
                task.operation().orElseThrow(),
                after,
                WAIT_MILLIS,
                call.ask,
                call.condition)
            : new Request.Read(
                keyspace,
                object.key(),
                Optional.of(object.type()),
                task.query(),
                after,
                ordered,
                WAIT_MILLIS);
    calls.add(call);
    call.asked();
    if (task.isWrite()) {
      unanswered.add(call);
    }
    send(dc, call, request);
    scheduler.in(PATIENCE_NANOS, () -> giveUp(call));
  }

  private void send(SimDc dc, Call call, Request request) {
    long ticket = simulation.nextTicket();
    Request arrived = simulation.carried(ticket, request);
    simulation.trace().about(unit, call.task.object(), "%s asks %s: %s", name, call.at, request);
    SimNode node = dc.node(unit);
    scheduler.in(
        way(dc),
        () -> {
          if (node.isAlive()) {
            node.command(this, arrived, (at, reply) -> made(call, ticket, at, reply));
            if (call.task.isWrite() && simulation.options().sabotage().again()) {
              node.command(this, arrived, (at, reply) -> () -> {});
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
  private void dropped(Call call) {
    unanswered.remove(call);
    if (call.open) {
      close(call);
      move();
      next();
    }
  }

  private void giveUp(Call call) {
    if (call.open) {
      close(call); // the datacenter crashed, or is slow; the outcome is unknown
      move();
      next();
    }
  }

  private void close(Call call) {
    call.open = false;
    calls.remove(call);
  }

  /** The next step, when all answers are there. */
  private void next() {
    if (calls.isEmpty()) {
      scheduler.in(pause(), this::step);
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
  private Runnable made(Call call, long ticket, SimNode node, Reply reply) {
    call.shown = call.shownBy(node, reply);
    return () -> goes(call, ticket, node, reply);
  }

  private void goes(Call call, long ticket, SimNode node, Reply reply) {
    ObjectId object = call.task.object();
    unanswered.remove(call);
    call.left(reply);
    Reply arrived = simulation.carried(ticket, reply);
    simulation.counted(reply);
    scheduler.in(
        way(simulation.dc(node.self().dc())),
        () -> {
          if (!node.isAlive() && random.nextBoolean()) {
            return; // on its way when the datacenter crashed
          }
          if (call.open) {
            simulation.trace().about(unit, object, "%s -> %s: %s", call.at, name, arrived);
            replied(call, arrived);
          }
        });
  }

  private void replied(Call call, Reply reply) {
    close(call);
    switch (reply) {
      case Reply.Done d -> call.done(d);
      case Reply.Answer a -> call.read(a);
      case Reply.Failure f -> failed(call, f);
      default -> throw new IllegalStateException("unexpected " + reply);
    }
    next();
  }

  private void saw(Call call, VersionVector vector) {
    seen = seen.join(vector);
    if (!call.at.dc().equals(home)) {
      strangers++;
      attachedTo = null;
    } else if (call.strangersBefore == strangers) {
      attachedTo = call.at;
    }
  }

  private void failed(Call call, Reply.Failure failure) {
    switch (failure.code()) {
      case SESSION_LOST -> forget(call);
      case SESSION_BEHIND, UNAVAILABLE, STORE_FULL -> move();
      default -> {
        if (!call.mayBeRefused(failure.code())) {
          throw new Violation(
              unit + "/" + call.object(), "%s was refused at %s: %s", name, call.at, failure);
        }
      }
    }
  }

  /** Only memory that was really lost may be reported as lost. */
  private void forget(Call call) {
    boolean any = false;
    for (int i = 0; i < call.after.size(); i++) {
      any |= simulation.losses().lost().contains(call.after.replica(i));
    }
    if (!any) {
      throw new Violation("", "%s says that %s saw what was lost: %s", call.at, name, call.after);
    }
    seen = VersionVector.EMPTY;
    attachedTo = null;
    strangers++;
    view.clear();
  }

  /** What was asked of a node that crashed and will never be answered. */
  void crashed(ReplicaId at) {
    for (Call call : List.copyOf(unanswered)) {
      if (call.at.equals(at)) {
        unanswered.remove(call);
        call.unanswered();
      }
    }
  }
}
