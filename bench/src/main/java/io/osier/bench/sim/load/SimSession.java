package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimApp;
import io.osier.bench.sim.load.SessionCall.Place;
import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Scheduler;
import io.osier.core.Homes;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.proxy.BatchException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Session;
import io.osier.proxy.SessionOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A session of production's client, in all units: single calls and pipelined ones, at one
 * datacenter and, by choice or because it must, at another. {@link ToldSession} holds what its
 * callers are told against what the partitions did.
 */
final class SimSession {
  private static final int BURST_MAX = 6;

  /** Where some updates need no answer of a partition, these are drawn more often. */
  private static final int DRAWN_AGAIN_MAX = 6;

  /** One call of so many is a batch of one part. */
  private static final int BATCHES_ONE_IN = 5;

  /** One read of so many asks for existence alone. */
  private static final int BARE_ONE_IN = 8;

  /** One session of so many goes on without what is lost. */
  private static final int GOES_ON_ONE_IN = 4;

  /** What the caller was told. */
  enum Outcome {
    NONE,
    DONE,

    /** Its condition did not hold. */
    NOT_DONE,
    FAILED,
    UNKNOWN
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimApp app;
  private final Random random;
  private final int paceMillis;
  private final Session session;
  private final ToldSession told;

  private final List<Place> places = new ArrayList<>();
  private final Map<Outcome, Long> outcomes = new EnumMap<>(Outcome.class);

  /** Some of the calls of a step are still to be made. */
  private boolean calling;

  private long tasks;

  /**
   * A session that has not begun.
   *
   * @param workloads of all units, in their order
   * @param paceMillis the longest pause between two calls, nearly always
   */
  SimSession(
      Simulation simulation,
      SimApp app,
      String name,
      List<Workload> workloads,
      Random random,
      int paceMillis) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.app = app;
    this.random = random;
    this.paceMillis = paceMillis;
    for (Unit unit : simulation.units()) {
      places.add(new Place(simulation, unit, workloads.get(unit.number())));
    }
    SessionOptions options = SessionOptions.DEFAULT;
    boolean goesOn = random.nextInt(GOES_ON_ONE_IN) == 0;
    if (goesOn) {
      options = options.goOnAfter(Duration.ofMillis(random.nextInt(2_000)));
    }
    this.session = app.client().session(options);
    this.told = new ToldSession(simulation, app, name, session, goesOn, places);
  }

  void start() {
    scheduler.in(pauseNanos(random, paceMillis), this::step);
  }

  /** How long a session waits for its next step: mostly a steady pace, sometimes hardly at all. */
  static long pauseNanos(Random random, int paceMillis) {
    return random.nextInt(10) == 0
        ? random.nextInt(20) * MILLI
        : (20 + random.nextInt(paceMillis)) * MILLI;
  }

  /** How often callers were told what. */
  Map<Outcome, Long> outcomes() {
    return outcomes;
  }

  // ---------------------------------------------------------------- calls

  private void step() {
    if (!simulation.isLoading() || !app.isRunning()) {
      return;
    }
    if (random.nextInt(25) == 0) {
      move();
    }
    int burst = random.nextInt(app.isEmbedded() ? 2 : 5) == 0 ? 1 + random.nextInt(BURST_MAX) : 1;
    Place one = anyPlace();
    calling = true;
    for (int i = 0; i < burst; i++) {
      call(random.nextInt(4) == 0 ? anyPlace() : one);
    }
    calling = false;
    next();
    if (!told.isIdle() && random.nextInt(20) == 0) {
      // Goes on elsewhere without waiting for the answers.
      move();
      scheduler.in(random.nextInt(100) * MILLI, this::step);
    }
  }

  private Place anyPlace() {
    return places.get(random.nextInt(places.size()));
  }

  /** Goes to any datacenter and stays there, or lets the client choose. */
  private void move() {
    if (app.isEmbedded()) {
      return;
    }
    String to = random.nextInt(3) == 0 ? null : simulation.anyDc(random);
    // One that is pinned where a keyspace is not held is refused.
    if (to == null
        || !app.reaches(to)
        || places.stream().anyMatch(p -> !p.unit.policy().heldBy(to))) {
      session.unpin();
    } else {
      session.pin(to);
    }
  }

  private void call(Place place) {
    Workload.Task drawn = draw(place);
    long number = tasks++;
    Optional<Request.Ask> ask = drawn.ask(number);
    // Counted and not drawn, so that nothing else is drawn otherwise.
    Optional<Request.Condition> condition = place.workload.condition(drawn, number);
    boolean inBatch = number % BATCHES_ONE_IN == 1 && ask.isEmpty() && condition.isEmpty();
    boolean bare = number % BARE_ONE_IN == 2 && !drawn.isWrite();
    Workload.Task task =
        bare
            ? new Workload.Task(drawn.object(), Optional.empty(), new Query.Exists(), Effect.NONE)
            : drawn;
    SessionCall call = new SessionCall(told, place, task, ask, condition);
    Keyspace keyspace = session.keyspace(Homes.base(place.unit.policy().name()));
    ObjectId object = task.object();
    told.begins(call);
    CompletableFuture<?> result;
    if (task.isWrite()) {
      place.checks.sessions().asked(place.view, object, task.effect());
      Operation operation = task.operation().orElseThrow();
      if (inBatch && task.keepsItsPlace()) {
        result =
            keyspace.updateAllAsync(
                List.of(new Keyspace.Change(object.key(), object.type(), operation)));
      } else if (condition.isPresent()) {
        result = keyspace.updateIfAsync(object.key(), object.type(), operation, condition.get());
      } else {
        result =
            call.ask.isPresent()
                ? keyspace.updateAsync(object.key(), object.type(), operation, call.ask.get())
                : keyspace.updateAsync(object.key(), object.type(), operation);
      }
    } else if (inBatch) {
      result =
          keyspace
              .readAllAsync(
                  List.of(new Keyspace.Get(object.key(), Optional.of(object.type()), task.query())))
              .thenApply(List::getFirst);
    } else {
      result = keyspace.readAsync(object.key(), Optional.of(object.type()), task.query());
    }
    result.whenComplete((found, error) -> ended(call, found, error));
  }

  /** Where some updates need no answer of a partition: more often such a one, and its object. */
  private Workload.Task draw(Place place) {
    Workload.Task task = place.workload.next(random);
    if (!app.isEmbedded()) {
      return task;
    }
    Workload.Task before = place.combinable;
    if (before != null && random.nextInt(3) == 0) {
      return new Workload.Task(before.object(), Optional.empty(), new Query.Whole(), Effect.NONE);
    }
    for (int i = 0; i < DRAWN_AGAIN_MAX && !task.isCombinable(); i++) {
      task = place.workload.next(random);
    }
    if (task.isCombinable()) {
      place.combinable = task;
    }
    return task;
  }

  /** Whoever completes a future hears nothing of what its callbacks throw. */
  private void ended(SessionCall call, @Nullable Object found, @Nullable Throwable error) {
    if (!app.isRunning()) {
      return; // nobody hears that
    }
    try {
      told.ends(call);
      if (error == null) {
        told.done(call, found);
      } else {
        Throwable why =
            error instanceof CompletionException c ? requireNonNull(c.getCause()) : error;
        boolean mustMove =
            told.failed(
                call,
                why instanceof BatchException batch ? requireNonNull(batch.errors().get(0)) : why);
        if (mustMove) {
          move();
        }
      }
      if (call.task.isWrite()) {
        outcomes.merge(call.outcome, 1L, Long::sum);
      }
    } catch (RuntimeException e) {
      scheduler.fail(e);
    }
    next();
  }

  /** The next step, when all calls have ended. */
  private void next() {
    if (told.isIdle() && !calling) {
      scheduler.in(pauseNanos(random, paceMillis), this::step);
    }
  }

  /** All calls have ended: the client was closed. */
  void ended() {
    told.ended();
  }
}
