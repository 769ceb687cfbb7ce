package io.osier.bench.sim.app;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Scheduler;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The connection of an application to one datacenter, in virtual time: requests and answers keep
 * their order, have time limits, and may be lost with the connection. Requests that had left then
 * are lost, or come late, after those that are sent over the next connection. Requests that had not
 * left never come, and the client is told so. A crash of the datacenter ends connections, which the
 * client notices at once or later.
 */
final class SimWay implements Connection {
  /** One of so many sendings is the last of its connection. */
  private static final int LOST_ONE_IN = 60;

  /** As {@link #LOST_ONE_IN} for steps of transactions, which the client sends again. */
  private static final int STEP_LOST_ONE_IN = 12;

  /** One request of so many is refused before the datacenter looks at it. */
  private static final int REFUSED_ONE_IN = 80;

  /** At one sending of so many the connection takes nothing for a while. */
  private static final int STALLED_ONE_IN = 30;

  private static final int STALLED_MILLIS_MAX = 400;
  private static final int LATE_MILLIS_MAX = 1_000;
  private static final int NOTICE_MILLIS_MAX = 3_000;
  private static final int DELAY_MILLIS_MAX = 15;
  private static final int BACK_OFF_MILLIS_MIN = 50;
  private static final int BACK_OFF_MILLIS_SPAN = 1_950;

  private static final ErrorCode[] REFUSALS = {
    ErrorCode.OVERLOADED, ErrorCode.SHUTTING_DOWN, ErrorCode.STORE_FULL, ErrorCode.UNAVAILABLE
  };

  /** One sending of a request, and who waits for the answer. */
  private static final class Sending extends SimSending {
    private final AppWire<Sending> wire;
    private final Answered answered;
    private boolean left;

    private Sending(
        AppWire<Sending> wire,
        Request request,
        @Nullable SimWitness witness,
        Answered answered,
        long ticket) {
      super(wire, wire.to, request, witness, ticket);
      this.wire = wire;
      this.answered = answered;
    }
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimApp app;
  private final String dc;
  private final Random random;
  private final Runnable changed;
  private final long delayNanos;
  private double roundTripNanos = Double.NaN;
  private List<Reply.KeyspaceInfo> keyspaces = List.of();
  private Reply.Elsewhere elsewhere = Reply.Elsewhere.NOTHING;
  private @Nullable ReplicaId replica;
  private @Nullable AppWire<Sending> wire;
  private boolean closed;

  /** Lost connections with requests that have come to the datacenter and are not answered. */
  private final List<AppWire<Sending>> former = new ArrayList<>();

  SimWay(Simulation simulation, SimApp app, String dc, Random random, Runnable changed) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.app = app;
    this.dc = dc;
    this.random = random;
    this.changed = changed;
    this.delayNanos = (1 + random.nextInt(DELAY_MILLIS_MAX)) * MILLI;
  }

  private boolean isDrawn(int of) {
    boolean drawn = simulation.profile().losesAnswers() && random.nextInt(of) == 0;
    if (drawn) {
      simulation.losesAnswer();
    }
    return drawn;
  }

  // ---------------------------------------------------------------- the connection

  @Override
  public void open() {
    scheduler.in(2 * delayNanos, this::greet);
  }

  private void greet() {
    SimDc there = simulation.dc(dc);
    if (closed) {
      return;
    }
    if (!there.isUp()) {
      openLater();
      return;
    }
    wire = new AppWire<>(there);
    replica = new ReplicaId(there.self().dc(), there.self().incarnation());
    hear(there);
    // Measured anew, and not always well: another datacenter may be the nearest now.
    roundTripNanos = 2 * delayNanos * (0.5 + random.nextDouble());
    simulation.trace().note("%s is connected with %s", app, replica);
    changed.run();
  }

  private void hear(SimDc there) {
    keyspaces = SimApp.keyspacesOf(simulation, there);
    elsewhere = SimApp.elsewhere(simulation, there);
  }

  /** The datacenter tells its clients that it serves other keyspaces. */
  void told(SimDc there) {
    AppWire<Sending> over = wire;
    if (over != null && over.dc == there) {
      scheduler.in(
          delayNanos,
          () -> {
            if (wire == over) {
              hear(there);
              changed.run();
            }
          });
    }
  }

  private void openLater() {
    scheduler.in((BACK_OFF_MILLIS_MIN + random.nextInt(BACK_OFF_MILLIS_SPAN)) * MILLI, this::open);
  }

  /** The connection is found to be lost. */
  private void lose(AppWire<Sending> which) {
    if (wire != which) {
      return;
    }
    wire = null;
    which.lost = true;
    simulation.trace().note("%s has lost the connection to %s", app, which.to);
    if (!which.arrived.isEmpty()) {
      former.add(which);
    }
    String why = closed ? "this client was closed" : "the connection was lost";
    for (Sending one : List.copyOf(which.open)) {
      lost(one, ErrorCode.UNAVAILABLE, why);
    }
    if (!closed) {
      changed.run();
      openLater();
    }
  }

  private void lost(Sending one, ErrorCode code, String why) {
    if (one.wire.open.remove(one)) {
      boolean sent = one.left && !simulation.options().sabotage().takesForNotSent();
      one.answered.lost(new LostException(code, sent, why));
    }
  }

  /** The datacenter has crashed. */
  void crashed(SimDc of) {
    if (of.self().dc().equals(dc)) {
      former.forEach(this::crashed);
      former.clear();
      AppWire<Sending> which = wire;
      if (which != null) {
        crashed(which);
        long notice = random.nextBoolean() ? 0 : random.nextInt(NOTICE_MILLIS_MAX) * MILLI;
        scheduler.in(notice, () -> lose(which));
      }
    }
  }

  private void crashed(AppWire<Sending> which) {
    which.arrived.forEach(SimSending::crashed);
    which.arrived.clear();
  }

  // ---------------------------------------------------------------- requests

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    return SimSending.send(this, request, scheduler.nanos(), timeoutMillis);
  }

  @Override
  public void send(Request request, long nowNanos, long deadlineNanos, Answered answered) {
    AppWire<Sending> over = wire;
    if (over == null) {
      answered.lost(new LostException(ErrorCode.UNAVAILABLE, false, "not connected to " + dc));
      return;
    }
    if (!answered.begins()) {
      answered.lost(
          new LostException(ErrorCode.CANCELLED, false, "the caller cancelled the request"));
      return;
    }
    Request sent = simulation.options().sabotage().sent(request);
    Sending one = new Sending(over, sent, app.witness(sent), answered, simulation.nextTicket());
    over.open.add(one);
    one.sends();
    one.trace(simulation, app, "asks", sent);
    scheduler.in(
        Math.max(0, deadlineNanos - scheduler.nanos()),
        () -> lost(one, ErrorCode.TIMEOUT, dc + " did not answer in time"));
    long now = scheduler.nanos();
    if (isDrawn(STALLED_ONE_IN)) {
      over.takesNanos = Math.max(over.takesNanos, now + random.nextInt(STALLED_MILLIS_MAX) * MILLI);
    }
    if (isDrawn(SimSending.isNoStep(sent) ? LOST_ONE_IN : STEP_LOST_ONE_IN)) {
      // Before it leaves, while it is under way, while it is handled, or while its answer is.
      long longest = Math.max(0, over.takesNanos - now) + 3 * delayNanos;
      scheduler.in((long) (random.nextDouble() * longest), () -> breaks(over));
    }
    scheduler.in(Math.max(0, over.takesNanos - now), () -> leave(one));
  }

  private void breaks(AppWire<Sending> over) {
    if (wire == over) {
      // A datacenter that soon forgets how transactions ended must not be asked too late.
      boolean comes = !simulation.profile().forgetsEnds(dc) && random.nextBoolean();
      over.lateNanos = comes ? random.nextInt(LATE_MILLIS_MAX) * MILLI : -1;
      lose(over);
    }
  }

  private void leave(Sending one) {
    AppWire<Sending> over = one.wire;
    if (over.lost || !over.open.contains(one)) {
      return; // nobody waits for it any more
    }
    one.left = true;
    Request carried = Carried.request(simulation, one.ticket(), one.request());
    if (isDrawn(REFUSED_ONE_IN)) {
      ErrorCode code = REFUSALS[random.nextInt(REFUSALS.length)];
      Reply refusal = new Reply.Failure(code, "nothing was done: not now");
      scheduler.in(2 * delayNanos, () -> bring(one, refusal));
      return;
    }
    scheduler.in(delayNanos, () -> arrive(one, carried));
  }

  private void arrive(Sending one, Request request) {
    AppWire<Sending> over = one.wire;
    if (over.lost && over.lateNanos < 0) {
      return;
    }
    scheduler.in(over.lost ? over.lateNanos : 0, () -> hand(one, request));
  }

  /** The datacenter takes the request, if it is still there. */
  private void hand(Sending one, Request request) {
    AppWire<Sending> over = one.wire;
    if (!over.isServed()) {
      return;
    }
    over.arrived.add(one);
    if (over.lost && !former.contains(over)) {
      former.add(over);
    }
    Unit unit = simulation.unit(request);
    over.dc.command(
        unit,
        over,
        request,
        (at, reply) -> {
          one.made(at, reply);
          return () -> goes(one, reply);
        });
    if (request instanceof Request.Write && simulation.options().sabotage().again()) {
      over.dc.command(unit, over, request, (at, reply) -> () -> {});
    }
  }

  // ---------------------------------------------------------------- replies

  private void goes(Sending one, Reply reply) {
    AppWire<Sending> over = one.wire;
    over.arrived.remove(one);
    if (over.lost && over.arrived.isEmpty()) {
      former.remove(over);
    }
    one.leaves(reply);
    Reply carried = Carried.reply(simulation, one.ticket(), reply);
    simulation.counted(reply);
    scheduler.in(
        delayNanos,
        () -> {
          if (over.isServed() || random.nextBoolean()) { // or it was on its way at the crash
            bring(one, carried);
          }
        });
  }

  private void bring(Sending one, Reply reply) {
    if (!one.wire.open.remove(one)) {
      return;
    }
    one.trace(simulation, app, "hears of", reply);
    one.hears(reply);
    if (one.request() instanceof ProgressRequest.Through t) {
      app.learned(simulation.unit(t));
    }
    one.answered.answered(reply);
  }

  // ---------------------------------------------------------------- what the client sees

  @Override
  public String dc() {
    return dc;
  }

  @Override
  public boolean isUp() {
    return wire != null;
  }

  @Override
  public @Nullable ReplicaId replica() {
    return replica;
  }

  @Override
  public CompletableFuture<Void> refreshKeyspaces(long timeoutMillis) {
    return CompletableFuture.completedFuture(null); // nobody changes them here
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaceList() {
    return keyspaces;
  }

  @Override
  public Reply.Elsewhere elsewhere() {
    return elsewhere;
  }

  @Override
  public void ping() {}

  @Override
  public double roundTripNanos() {
    return roundTripNanos;
  }

  @Override
  public @Nullable OsierException refused() {
    return null;
  }

  @Override
  public @Nullable String trouble() {
    return wire == null ? "not connected" : null;
  }

  @Override
  public int inFlight() {
    return wire == null ? 0 : wire.open.size();
  }

  @Override
  public void close() {
    closed = true;
    AppWire<Sending> over = wire;
    if (over != null && !simulation.options().sabotage().losesCalls()) {
      lose(over);
    }
  }
}
