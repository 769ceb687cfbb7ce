package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Checks;
import io.osier.bench.sim.SimNode;
import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.check.ConditionCheck;
import io.osier.bench.sim.check.SessionCheck;
import io.osier.bench.sim.check.SessionView;
import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.BatchException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Session;
import io.osier.proxy.SessionOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A session of production's client, in all units: single calls and pipelined ones, at one
 * datacenter and, by choice or because it must, at another. What it must see is known from the
 * partitions, and what it is told is held against what they did: an update that has failed for
 * certain was done by none, and one that is done was done once.
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

  /** What a session knows of one unit. */
  private static final class Place {
    final Unit unit;
    final Workload workload;
    final Checks checks;
    final SessionView view = new SessionView();
    long reads;

    /** The last that may have been acknowledged in front of its partition; null for none. */
    Workload.@Nullable Task combinable;

    /** How often the client had learned what a datacenter has of it when this was sent last. */
    int learned;

    Place(Simulation simulation, Unit unit, Workload workload) {
      this.unit = unit;
      this.workload = workload;
      this.checks = simulation.checks(unit);
    }
  }

  /** One call under way. */
  private final class Call implements SimWitness {
    final Place place;
    final Workload.Task task;
    final long readsBefore;

    /** What the session knew when it called. */
    SessionView wanted;

    /** Calls of the session that were under way before, of the same unit. */
    final List<Call> earlier = new ArrayList<>();

    /** Reads of the object that were answered before this, and may have been sent after it. */
    final List<SimSending> overtakings = new ArrayList<>();

    Outcome outcome = Outcome.NONE;

    /** How often it was done. */
    int times;

    /** Whether it was acknowledged in front of its partition: then there is no answer. */
    boolean isAhead;

    /** The last that was sent; null before the first. */
    @Nullable SimSending sent;

    /** How often the session had forgotten its past when that was sent. */
    int pastsForgotten;

    /** What is asked with a write. */
    final Optional<Request.Ask> ask;

    /** Under which condition a write is to be done. */
    final Optional<Request.Condition> condition;

    /** What was answered last, and the answer; null before. */
    @Nullable SimSending heard;

    @Nullable Reply reply;

    /** What it wrote; null before that is answered. */
    @Nullable Dot dot;

    Call(
        Place place,
        Workload.Task task,
        Optional<Request.Ask> ask,
        Optional<Request.Condition> condition) {
      this.ask = ask;
      this.condition = condition;
      this.place = place;
      this.task = task;
      this.readsBefore = place.reads;
      this.wanted = place.view.copy();
      for (Call call : calls) {
        if (call.place == place) {
          earlier.add(call);
        }
      }
    }

    Object asks() {
      return task.isWrite() ? task.operation().orElseThrow() : task.query();
    }

    private SessionCheck sessions() {
      return place.checks.sessions();
    }

    private ConditionCheck conditions() {
      return place.checks.conditions();
    }

    private ObjectId object() {
      return task.object();
    }

    @Override
    public Object about() {
      return object();
    }

    @Override
    public void sends(SimSending sending) {
      sent = sending;
      pastsForgotten = SimSession.this.pastsForgotten;
      mayHaveGivenUp();
    }

    @Override
    public void made(SimSending sending, SimNode at, Reply made) {
      if (made instanceof Reply.Answer answer) {
        sending.shows(at.covered(object(), answer.seen()));
        condition.ifPresent(
            c -> {
              CrdtState there = at.store().seen(object(), answer.seen());
              conditions().notDone(at, object(), c, answer, there);
            });
      } else if (made instanceof Reply.Done done) {
        done.answer().ifPresent(answer -> sending.shows(shown(at, done, answer)));
        sessions().made(at.self(), at::covered, wanted, object());
        condition.ifPresent(
            c -> {
              CrdtState before = at.store().before(object(), done.dot());
              conditions().done(at, object(), c, done.dot(), before);
            });
        times++;
        boolean isOver = outcome == Outcome.FAILED || outcome == Outcome.NOT_DONE;
        if (isOver || times > 1) {
          throw wrong(this, "%s at %s", isOver ? "was done" : "is done", at);
        }
      }
    }

    /** What an answer to an update covers: itself, too, where that was to be told. */
    private CausalContext shown(SimNode at, Reply.Done done, Reply.Answer answer) {
      CausalContext covered = at.covered(object(), answer.seen());
      boolean before = ask.map(Request.Ask::before).orElse(false);
      return before ? covered : covered.join(CausalContext.of(done.dot()));
    }

    @Override
    public void leaves(SimSending sending, Reply made) {
      if (made instanceof Reply.Done done) {
        place.checks.ledger().acknowledged(object(), done.dot(), task.effect());
      }
    }

    @Override
    public void crashed(SimSending sending) {
      if (task.isWrite()) {
        place.checks.ledger().unanswered(object(), task.effect());
      }
    }

    @Override
    public void hears(SimSending sending, Reply made) {
      heard = sending;
      reply = made;
    }

    @Override
    public void acknowledged(SimNode at) {
      sessions().made(at.self(), at::covered, wanted, object());
      isAhead = true;
      times++;
    }

    @Override
    public void absorbed(Dot by) {
      place.checks.ledger().acknowledged(object(), by, task.effect());
      sessions().wrote(place.view, object(), CausalContext.of(by), Effect.NONE);
    }
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimApp app;
  private final String name;
  private final Random random;
  private final int paceMillis;
  private final Session session;

  /** Whether it goes on without what is lost. */
  private final boolean goesOn;

  private final List<Place> places = new ArrayList<>();
  private final List<Call> calls = new ArrayList<>();
  private final Map<Outcome, Long> outcomes = new EnumMap<>(Outcome.class);

  /** Some of the calls of a step are still to be made. */
  private boolean calling;

  private int pastsForgotten;
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
    this.name = name;
    this.random = random;
    this.paceMillis = paceMillis;
    for (Unit unit : simulation.units()) {
      places.add(new Place(simulation, unit, workloads.get(unit.number())));
    }
    SessionOptions options = SessionOptions.DEFAULT;
    this.goesOn = random.nextInt(GOES_ON_ONE_IN) == 0;
    if (goesOn) {
      options = options.goOnAfter(Duration.ofMillis(random.nextInt(2_000)));
    }
    this.session = app.client().session(options);
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
    if (!calls.isEmpty() && random.nextInt(20) == 0) {
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
    if (random.nextInt(3) == 0) {
      session.unpin();
    } else {
      session.pin(simulation.anyDc(random));
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
    Call call = new Call(place, task, ask, condition);
    Keyspace keyspace = session.keyspace(place.unit.policy().name());
    ObjectId object = task.object();
    calls.add(call);
    app.witness(call.asks(), call);
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
  private void ended(Call call, @Nullable Object found, @Nullable Throwable error) {
    if (!app.isRunning()) {
      return; // nobody hears that
    }
    try {
      calls.remove(call);
      app.forget(call.asks());
      if (error == null) {
        done(call, found);
      } else {
        Throwable why =
            error instanceof CompletionException c ? requireNonNull(c.getCause()) : error;
        failed(
            call,
            why instanceof BatchException batch ? requireNonNull(batch.errors().get(0)) : why);
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
    if (calls.isEmpty() && !calling) {
      scheduler.in(pause(), this::step);
    }
  }

  // ---------------------------------------------------------------- what it is told

  private void done(Call call, @Nullable Object found) {
    call.outcome = Outcome.DONE;
    if (call.isAhead) {
      call.sessions()
          .wrote(call.place.view, call.object(), CausalContext.EMPTY, call.task.effect());
    } else if (call.condition.isPresent() && Boolean.FALSE.equals(found)) {
      notDone(call);
    } else if (call.task.isWrite()) {
      if (!(call.reply instanceof Reply.Done done) || call.times != 1) {
        throw wrong(call, "was done %d times, and the last answer is %s", call.times, call.reply);
      }
      boolean before = call.ask.map(Request.Ask::before).orElse(false);
      if (before) {
        done.answer().ifPresent(answer -> read(call, answer, found));
      }
      wrote(call, done.dot());
      call.condition.ifPresent(
          c -> call.conditions().told(call.object(), c, call.task.effect(), done.dot()));
      if (!before) {
        done.answer().ifPresent(answer -> read(call, answer, found));
      }
    } else if (call.reply instanceof Reply.Answer answer) {
      read(call, answer, found);
    } else {
      throw wrong(call, "reads %s, and the last answer is %s", found, call.reply);
    }
  }

  /** It is told that its condition did not hold. */
  private void notDone(Call call) {
    call.outcome = Outcome.NOT_DONE;
    if (!(call.reply instanceof Reply.Answer answer) || call.times > 0) {
      throw wrong(
          call,
          "was done %d times, its caller is told that it was not: %s",
          call.times,
          call.reply);
    }
    read(call, answer);
  }

  private void read(Call call, Reply.Answer answer, @Nullable Object found) {
    if (!(found instanceof Keyspace.Found of) || !of.reading().equals(answer.reading())) {
      throw wrong(call, "reads %s, and the last answer is %s", found, call.reply);
    }
    read(call, answer);
  }

  private void wrote(Call call, Dot dot) {
    SimSending sending = requireNonNull(call.heard);
    call.dot = dot;
    for (SimSending read : call.overtakings) {
      // What was given up in between a later read does not wait for, as the update before it does.
      boolean gaveUp = goesOn && !after(sending).isAtMost(after(read));
      if (sending.isBefore(read) && !gaveUp) {
        call.sessions().overtook(sending.to(), call.object(), read.shown(), dot);
      }
    }
    Effect effect = call.task.effect();
    // A read that was answered in between may have shown it already.
    Effect certain = call.place.reads == call.readsBefore ? effect : new Effect(effect.tokens(), 0);
    call.sessions().wrote(call.place.view, call.object(), CausalContext.of(dot), certain);
  }

  private void read(Call call, Reply.Answer answer) {
    call.place.reads++;
    SimSending sending = requireNonNull(call.heard);
    ObjectId object = call.object();
    if (call.dot != null) { // an update that asked what it has made
      Effect tokens = new Effect(call.task.effect().tokens(), 0);
      call.sessions().wrote(call.wanted, object, CausalContext.of(call.dot), tokens);
    }
    for (Call before : call.earlier) {
      if (!before.object().equals(object) || !before.task.isWrite()) {
        continue;
      }
      if (call.task.isWrite() && !before.task.keepsItsPlace()) {
        continue; // it waited for rights, and may have been done after the update that asks
      }
      if (before.pastsForgotten != call.pastsForgotten) {
        continue; // the session had forgotten the update before it sent this read
      }
      Dot dot = before.dot;
      if (dot != null && requireNonNull(before.heard).isBefore(sending)) {
        Effect tokens = new Effect(before.task.effect().tokens(), 0);
        call.sessions().wrote(call.wanted, object, CausalContext.of(dot), tokens);
      } else if (before.outcome == Outcome.NONE && before.task.keepsItsPlace()) {
        before.overtakings.add(sending);
      }
    }
    if (call.condition.isPresent() && !ConditionCheck.isOfAll(call.condition.get())) {
      call.sessions().read(sending.to(), call.wanted, object, sending.shown());
      call.place.view.sawDots(object, sending.shown());
      return;
    }
    Reading reading = answer.reading().orElseThrow();
    call.sessions().read(sending.to(), call.wanted, object, sending.shown(), reading);
    call.sessions().saw(call.place.view, object, sending.shown(), reading);
    if (call.task.query() instanceof Query.Whole) {
      call.place.workload.shown(object, reading);
    }
  }

  private static VersionVector after(SimSending sending) {
    return switch (sending.request()) {
      case Request.Read r -> r.after();
      case Request.Write w -> w.after();
      case Request.ReadAll r -> r.after();
      case Request.WriteAll w -> w.after();
      default -> VersionVector.EMPTY;
    };
  }

  private void failed(Call call, Throwable error) {
    if (!(error instanceof OsierException failure)) {
      throw wrong(call, "has failed with %s", error);
    }
    boolean isUnknown =
        error instanceof OutcomeUnknownException
            && !simulation.options().sabotage().takesForFailed();
    call.outcome = isUnknown ? Outcome.UNKNOWN : Outcome.FAILED;
    if (call.outcome == Outcome.FAILED && call.times > 0) {
      throw wrong(call, "was done, and its caller is told %s", failure);
    }
    ErrorCode code = failure.code();
    switch (code) {
      case SESSION_LOST -> forget(call);
      case SESSION_BEHIND, UNAVAILABLE, STORE_FULL, SHUTTING_DOWN, OVERLOADED, TIMEOUT -> move();
      case NOT_ENOUGH_RIGHTS, INVALID_ARGUMENT -> {
        if (!Workload.mayLackRights(call.object())) {
          throw wrong(call, "was refused: %s", failure);
        }
      }
      case VALUE_TOO_LARGE -> {
        if (!call.place.workload.mayBeTooLarge(call.task)) {
          throw wrong(call, "was refused: %s", failure);
        }
      }
      case WRONG_TYPE -> {
        if (!Workload.mayClash(call.object())) {
          throw wrong(call, "was refused: %s", failure);
        }
      }
      default -> throw wrong(call, "was refused: %s", failure);
    }
  }

  @SuppressWarnings("AnnotateFormatMethod") // its annotation would be a dependency for this alone
  private Violation wrong(Call call, String what, @Nullable Object... parameters) {
    return new Violation(
        call.place.unit + "/" + call.object(),
        "%s of %s, by %s, %s",
        call.task.isWrite() ? "an update" : "a read",
        call.object(),
        name,
        String.format(Locale.ROOT, what, parameters));
  }

  // ---------------------------------------------------------------- what is lost

  /** Only memory that was really lost may be reported as lost. */
  private void forget(Call call) {
    VersionVector after =
        switch (requireNonNull(call.sent, "a datacenter has refused it").request()) {
          case Request.Read r -> r.after();
          case Request.Write w -> w.after();
          case Request.ReadAll r -> r.after();
          case Request.WriteAll w -> w.after();
          default -> VersionVector.EMPTY;
        };
    if (!simulation.losses().hasLost(after)) {
      throw wrong(call, "is said to follow what was lost: %s", after);
    }
    session.forget();
    pastsForgotten++;
    places.forEach(this::loseSight);
  }

  /**
   * Before it goes on without what a datacenter lacks, its client asks what that has. What it then
   * gives up is told by {@link Session#losses}, but not whether it had seen that again meanwhile.
   */
  private void mayHaveGivenUp() {
    for (Place place : places) {
      int now = app.learnedOf(place.unit);
      if (goesOn && now != place.learned) {
        loseSight(place);
      }
      place.learned = now;
    }
  }

  private void loseSight(Place place) {
    place.view.clear();
    for (Call call : calls) {
      if (call.place == place) {
        call.wanted = new SessionView();
        if (call.task.isWrite()) {
          call.sessions().forgot(call.object(), call.task.effect());
        }
      }
    }
  }

  // ---------------------------------------------------------------- the end

  /** All calls have ended: the client was closed. */
  void ended() {
    if (!calls.isEmpty() && app.isRunning()) {
      throw wrong(calls.getFirst(), "has no outcome, although its client is closed");
    }
  }
}
