package io.osier.bench.sim.load;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimApp;
import io.osier.bench.sim.app.SimSending;
import io.osier.bench.sim.check.ConditionCheck;
import io.osier.bench.sim.check.SessionView;
import io.osier.bench.sim.load.SessionCall.Place;
import io.osier.bench.sim.load.SimSession.Outcome;
import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the callers of a session of production's client are told, held against what the partitions
 * did: an update that has failed for certain was done by none, and one that is done was done once.
 */
final class ToldSession {
  private final Simulation simulation;
  private final SimApp app;
  private final String name;
  private final Session session;

  /** Whether the session goes on without updates that a datacenter lacks. */
  private final boolean goesOn;

  private final List<Place> places;
  private final List<SessionCall> calls = new ArrayList<>();
  private int pastsForgotten;

  /**
   * Makes the record of a session that has not begun.
   *
   * @param places what the session knows of each unit
   */
  ToldSession(
      Simulation simulation,
      SimApp app,
      String name,
      Session session,
      boolean goesOn,
      List<Place> places) {
    this.simulation = simulation;
    this.app = app;
    this.name = name;
    this.session = session;
    this.goesOn = goesOn;
    this.places = places;
  }

  /** A call begins. */
  void begins(SessionCall call) {
    calls.add(call);
    app.witness(call.asks(), call);
  }

  /** A call has ended; its outcome follows. */
  void ends(SessionCall call) {
    calls.remove(call);
    app.forget(call.asks());
  }

  /** Whether no call is under way. */
  boolean isIdle() {
    return calls.isEmpty();
  }

  /** The calls of one unit that are under way. */
  List<SessionCall> underWay(Place place) {
    return calls.stream().filter(call -> call.place == place).toList();
  }

  /** How often the session has forgotten its past. */
  int pastsForgotten() {
    return pastsForgotten;
  }

  /**
   * A call has ended well.
   *
   * @param found what was read; null for an update that asked nothing
   */
  void done(SessionCall call, @Nullable Object found) {
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

  /** The caller is told that the condition did not hold. */
  private void notDone(SessionCall call) {
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

  private void read(SessionCall call, Reply.Answer answer, @Nullable Object found) {
    if (!(found instanceof Keyspace.Found of) || !of.reading().equals(answer.reading())) {
      throw wrong(call, "reads %s, and the last answer is %s", found, call.reply);
    }
    read(call, answer);
  }

  private void wrote(SessionCall call, Dot dot) {
    SimSending sending = requireNonNull(call.heard);
    call.dot = dot;
    for (SimSending read : call.overtakings) {
      // What was given up in between a later read does not wait for, as the update before it does.
      boolean gaveUp = goesOn && !sending.request().after().isAtMost(read.request().after());
      if (sending.isBefore(read) && !gaveUp) {
        call.sessions().overtook(sending.to(), call.object(), read.shown(), dot);
      }
    }
    Effect effect = call.task.effect();
    // A read that was answered in between may have shown it already.
    Effect certain = call.place.reads == call.readsBefore ? effect : new Effect(effect.tokens(), 0);
    call.sessions().wrote(call.place.view, call.object(), CausalContext.of(dot), certain);
  }

  private void read(SessionCall call, Reply.Answer answer) {
    call.place.reads++;
    SimSending sending = requireNonNull(call.heard);
    ObjectId object = call.object();
    if (call.dot != null) { // an update that asked what it has made
      Effect tokens = new Effect(call.task.effect().tokens(), 0);
      call.sessions().wrote(call.wanted, object, CausalContext.of(call.dot), tokens);
    }
    for (SessionCall before : call.earlier) {
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

  /**
   * A call has failed.
   *
   * @return whether the session should go to another datacenter
   */
  boolean failed(SessionCall call, Throwable error) {
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
    if (simulation.holders().isUnpinned(failure, call.place.unit)) {
      session.unpin();
      return true;
    }
    switch (code) {
      case SESSION_LOST -> forget(call);
      case SESSION_BEHIND, UNAVAILABLE, STORE_FULL, SHUTTING_DOWN, OVERLOADED, TIMEOUT -> {
        return true;
      }
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
    return false;
  }

  @SuppressWarnings("AnnotateFormatMethod") // its annotation would be a dependency for this alone
  Violation wrong(SessionCall call, String what, @Nullable Object... parameters) {
    return new Violation(
        call.place.unit + "/" + call.object(),
        "%s of %s, by %s, %s",
        call.task.isWrite() ? "an update" : "a read",
        call.object(),
        name,
        String.format(Locale.ROOT, what, parameters));
  }

  // ---------------------------------------------------------------- what is lost

  /** Checks that something was really lost that is reported as lost. */
  private void forget(SessionCall call) {
    SimSending sent = requireNonNull(call.sent, "a datacenter has refused it");
    VersionVector after = sent.request().after();
    if (!simulation.losses().hasLost(call.place.unit, after)
        && !simulation.holders().mayTellOthers(simulation.dc(sent.to().dc()), call.place.unit)) {
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
  void mayHaveGivenUp() {
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
    for (SessionCall call : calls) {
      if (call.place == place) {
        call.wanted = new SessionView();
        if (call.task.isWrite()) {
          call.sessions().forgot(call.object(), call.task.effect());
        }
      }
    }
  }

  /** All calls have ended: the client was closed. */
  void ended() {
    if (!calls.isEmpty() && app.isRunning()) {
      throw wrong(calls.getFirst(), "has no outcome, although its client is closed");
    }
  }
}
