package io.osier.bench.sim;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call of a session as the checks see it: what is asked, what the session knew when it asked, and
 * what it is told. How it comes to a datacenter, and which calls before it have come there, knows
 * who makes it.
 */
abstract class SessionCall {
  final Workload.Task task;

  /** What is asked with a write. */
  final Optional<Request.Ask> ask;

  /** Under which condition a write is to be done. */
  final Optional<Request.Condition> condition;

  /** What the session knew when it asked. */
  SessionView wanted;

  /** What it wrote; null before that is answered, and of a read. */
  @Nullable Dot dot;

  private final Checks checks;
  private final Workload workload;
  private final SessionView view;

  /**
   * A call that is about to be made.
   *
   * @param view what the session knows of the unit
   * @param number counts the session's calls
   */
  SessionCall(Checks checks, Workload workload, SessionView view, Workload.Task task, long number) {
    this.checks = checks;
    this.workload = workload;
    this.view = view;
    this.task = task;
    this.ask = task.ask(number);
    this.condition = workload.condition(task, number);
    this.wanted = view.copy();
  }

  final ObjectId object() {
    return task.object();
  }

  final SessionCheck sessions() {
    return checks.sessions();
  }

  /** It is about to be sent. */
  final void asked() {
    if (task.isWrite()) {
      sessions().asked(view, object(), task.effect());
    }
  }

  // ---------------------------------------------------------------- what a partition does

  /** A partition has made a reply. Returns what the object covers as the reply shows it. */
  final CausalContext shownBy(SimNode at, Reply reply) {
    CausalContext shown = CausalContext.EMPTY;
    if (reply instanceof Reply.Answer answer) {
      shown = at.covered(object(), answer.seen());
      condition.ifPresent(c -> checks.conditions().notDone(at, object(), c, answer));
    } else if (reply instanceof Reply.Done done) {
      if (done.answer().isPresent()) {
        shown = at.covered(object(), done.answer().get().seen());
        // Itself, too, where that was to be told.
        shown = asksBefore() ? shown : shown.join(CausalContext.of(done.dot()));
      }
      sessions().made(at, wanted, object());
      condition.ifPresent(c -> checks.conditions().done(at, object(), c, done.dot()));
    }
    return shown;
  }

  /** The reply leaves the datacenter. */
  final void left(Reply reply) {
    if (reply instanceof Reply.Done done) {
      checks.ledger().acknowledged(object(), done.dot(), task.effect());
    }
  }

  /** The datacenter was gone before a reply could leave: the update may be done. */
  final void unanswered() {
    if (task.isWrite()) {
      checks.ledger().unanswered(object(), task.effect());
    }
  }

  // ---------------------------------------------------------------- what it is told

  private boolean asksBefore() {
    return ask.map(Request.Ask::before).orElse(false);
  }

  /** Its update was done. */
  final void done(Reply.Done done) {
    if (asksBefore()) {
      done.answer().ifPresent(this::read);
    }
    dot = done.dot();
    wrote(done.dot());
    condition.ifPresent(c -> checks.conditions().told(object(), c, task.effect(), done.dot()));
    if (!asksBefore()) {
      done.answer().ifPresent(this::read);
    }
  }

  /** As {@link #done}, between what was asked before the update and after it. */
  abstract void wrote(Dot by);

  /** It was answered what there is. */
  abstract void read(Reply.Answer answer);

  /**
   * The session knows its update from now on.
   *
   * @param unread whether no read was answered since it was called, which may have shown it already
   */
  final void knows(Dot by, boolean unread) {
    Effect effect = unread ? task.effect() : tokensOf(this);
    sessions().wrote(view, object(), CausalContext.of(by), effect);
  }

  private static Effect tokensOf(SessionCall write) {
    return new Effect(write.task.effect().tokens(), 0);
  }

  /** What it reads must show an update that was sent before it, or its own. */
  final void wants(SessionCall write, Dot by) {
    sessions().wrote(wanted, object(), CausalContext.of(by), tokensOf(write));
  }

  /** It was answered what there is, where the object covered this. */
  final void saw(ReplicaId at, CausalContext shown, Reply.Answer answer) {
    if (condition.isPresent() && !ConditionCheck.isOfAll(condition.get())) {
      sessions().read(at, wanted, object(), shown);
      view.sawDots(object(), shown);
      return;
    }
    Reading reading = answer.reading().orElseThrow();
    sessions().read(at, wanted, object(), shown, reading);
    sessions().saw(view, object(), shown, reading);
    if (task.query() instanceof Query.Whole) {
      workload.shown(object(), reading);
    }
  }

  /** Whether it may fail with this: its object has too few rights, is too large, or another's. */
  final boolean mayBeRefused(ErrorCode code) {
    return switch (code) {
      case NOT_ENOUGH_RIGHTS, INVALID_ARGUMENT -> Workload.mayLackRights(object());
      case VALUE_TOO_LARGE -> workload.mayBeTooLarge(task);
      case WRONG_TYPE -> Workload.mayClash(object());
      default -> false;
    };
  }
}
