package io.osier.bench.sim.load;

import io.osier.bench.sim.Checks;
import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimSending;
import io.osier.bench.sim.app.SimWitness;
import io.osier.bench.sim.check.ConditionCheck;
import io.osier.bench.sim.check.CopyCheck;
import io.osier.bench.sim.check.SessionCheck;
import io.osier.bench.sim.check.SessionView;
import io.osier.bench.sim.load.SimSession.Outcome;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Effect;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.plan.Workload;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One call of a {@link SimSession} under way: what the session knew when it called, and what the
 * partitions made of it, which is held against the checks at once.
 */
final class SessionCall implements SimWitness {
  /** What a session knows of one unit. */
  static final class Place {
    final Unit unit;
    final Workload workload;
    final Checks checks;
    final SessionView view = new SessionView();
    long reads;

    /** The last that may have been acknowledged in front of its partition; null for none. */
    Workload.@Nullable Task combinable;

    /** How often the client had learned what a datacenter has of the unit at the last sending. */
    int learned;

    Place(Simulation simulation, Unit unit, Workload workload) {
      this.unit = unit;
      this.workload = workload;
      this.checks = simulation.checks(unit);
    }
  }

  private final ToldSession told;
  final Place place;
  final Workload.Task task;
  final long readsBefore;

  /** What the session knew when it called. */
  SessionView wanted;

  /** Calls of the session that were under way before, of the same unit. */
  final List<SessionCall> earlier = new ArrayList<>();

  /** Reads of the object that were answered before this, and may have been sent after it. */
  final List<SimSending> overtakings = new ArrayList<>();

  Outcome outcome = Outcome.NONE;

  /** How often partitions have done the update. */
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

  /** The sending that was answered last; null before. */
  @Nullable SimSending heard;

  @Nullable Reply reply;

  /** The dot of the update; null before its answer, and of a read. */
  @Nullable Dot dot;

  SessionCall(
      ToldSession told,
      Place place,
      Workload.Task task,
      Optional<Request.Ask> ask,
      Optional<Request.Condition> condition) {
    this.told = told;
    this.ask = ask;
    this.condition = condition;
    this.place = place;
    this.task = task;
    this.readsBefore = place.reads;
    this.wanted = place.view.copy(task.object(), task.isWrite());
    earlier.addAll(told.underWay(place));
  }

  Object asks() {
    return task.isWrite() ? task.operation().orElseThrow() : task.query();
  }

  SessionCheck sessions() {
    return place.checks.sessions();
  }

  ConditionCheck conditions() {
    return place.checks.conditions();
  }

  ObjectId object() {
    return task.object();
  }

  @Override
  public Object about() {
    return object();
  }

  @Override
  public void sends(SimSending sending) {
    sent = sending;
    pastsForgotten = told.pastsForgotten();
    told.mayHaveGivenUp();
  }

  @Override
  public void made(SimSending sending, @Nullable SimNode at, Reply made) {
    if (at == null) {
      if (made instanceof Reply.Answer answer) { // by a copy
        sending.shows(CopyCheck.context(answer.seen()));
      }
      return; // nothing else was shown or done
    }
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
        throw told.wrong(this, "%s at %s", isOver ? "was done" : "is done", at);
      }
    }
  }

  /**
   * The dots that the answer to an update covers; with its own if it tells what the update made.
   */
  private CausalContext shown(SimNode at, Reply.Done done, Reply.Answer answer) {
    CausalContext covered = at.covered(object(), answer.seen());
    boolean before = ask.map(Request.Ask::before).orElse(false);
    return before ? covered : covered.join(CausalContext.of(done.dot()));
  }

  @Override
  public void leaves(SimSending sending, Reply made) {
    if (made instanceof Reply.Done done) {
      place.checks.ledger().acknowledged(object(), done.dot(), task.effect());
    } else if (made instanceof Reply.Failure f && f.code() == ErrorCode.TIMEOUT) {
      crashed(sending); // a holder may have done it
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
