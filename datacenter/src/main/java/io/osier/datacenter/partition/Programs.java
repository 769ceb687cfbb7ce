package io.osier.datacenter.partition;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.rights.Escrow;
import io.osier.datacenter.store.ObjectStore;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Executes programs: each in one turn, with one commit for all that it changes. A call that fails
 * leaves the others done. Not thread-safe.
 */
final class Programs {
  private final ObjectStore store;
  private final Sequencer sequencer;
  private final Escrow escrow;
  private final Writes writes;

  /**
   * Executes programs on these objects.
   *
   * @param writes asks other datacenters for rights that an update lacks
   */
  Programs(ObjectStore store, Sequencer sequencer, Escrow escrow, Writes writes) {
    this.store = store;
    this.sequencer = sequencer;
    this.escrow = escrow;
    this.writes = writes;
  }

  /**
   * Executes a program, or nothing of it if one of its guards or tests does not hold.
   *
   * @throws OsierException if one of its tests cannot be read: nothing was done then
   */
  Reply.Evaluated evaluate(Request.Evaluate program, Now now) {
    if (program.isUpdate()) {
      sequencer.checkTakesUpdates();
    }
    if (program.calls().size() == 1 && program.guards().isEmpty()) {
      Reply.Evaluated done = alone(program.calls().getFirst(), now);
      if (done != null) {
        return done;
      }
    }
    ProgramTurn turn = new ProgramTurn(store, sequencer, escrow, writes, now);
    ProgramTurn.Outcome outcome = turn.evaluate(program);
    return outcome.reply(turn.commit());
  }

  /**
   * Executes a program that is a single update, at the cost of that update alone; null if the
   * program is more than that, or if this cannot be told at once.
   */
  private Reply.@Nullable Evaluated alone(Call call, Now now) {
    try {
      return switch (call) {
        case Call.Update update -> evaluated(writes.write(update, now));
        case Call.Replace replace when replace.assigns() -> assigned(replace, now);
        default -> null;
      };
    } catch (OsierException e) {
      return evaluated(new Reply.Failure(e.code(), e.reason()));
    }
  }

  private static Reply.Evaluated evaluated(Reply part) {
    Optional<Dot> dot =
        part instanceof Reply.Done done ? Optional.of(done.dot()) : Optional.empty();
    return new Reply.Evaluated(true, dot, List.of(part));
  }

  /**
   * Assigns if the key holds no other object that would have to be removed; returns null if it
   * does.
   */
  private Reply.@Nullable Evaluated assigned(Call.Replace replace, Now now) {
    List<CrdtState> before = store.get(replace.key());
    for (CrdtState state : before) {
      if (state.type() != replace.type() || state.expires()) {
        return null;
      }
    }
    CrdtState present = before.isEmpty() ? CrdtState.bottom(replace.type()) : before.getFirst();
    ObjectId object = new ObjectId(replace.key(), replace.type());
    return evaluated(writes.assign(object, present, replace.operation(), now));
  }

  /**
   * Executes the requests that the steps of a {@link Call.Script} make within its program. Not
   * thread-safe.
   */
  static final class Script {
    private final ProgramTurn turn;
    private final ProgramWork work;
    private final ReplicaId self;
    private final Now now;
    private int callsLeft = Call.Script.CALLS_MAX;

    Script(ProgramTurn turn, ProgramWork work, ReplicaId self, Now now) {
      this.turn = turn;
      this.work = work;
      this.self = self;
      this.now = now;
    }

    /** Executes one step like a program of its own, but that it is committed with the others. */
    Reply step(Request request) {
      try {
        return switch (request) {
          case Request.Read r -> single(new Call.Read(r.key(), r.type(), r.query()));
          case Request.Write w -> write(w);
          case Request.Evaluate e -> evaluate(e);
          default ->
              throw new OsierException(
                  ErrorCode.INVALID_ARGUMENT,
                  "a script does not ask for a " + request.getClass().getSimpleName());
        };
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }

    private Reply single(Call call) {
      takeCalls(1);
      return turn.part(call).reply(dot());
    }

    private Reply write(Request.Write write) {
      Reply.Answer unmet = unmet(write);
      return unmet != null
          ? unmet
          : single(new Call.Update(write.key(), write.type(), write.operation(), write.ask()));
    }

    /** Returns the value that contradicts an update's condition; null if the condition holds. */
    private Reply.@Nullable Answer unmet(Request.Write write) {
      if (write.condition().isEmpty()) {
        return null;
      }
      Request.Condition condition = write.condition().get();
      CrdtState before = work.present(new ObjectId(write.key(), write.type())).at(now.millis());
      Reply.Answer found = turn.counted(() -> Reads.answer(condition.asked(), before, now::millis));
      return condition.holds(found.reading().orElseThrow()) ? null : found;
    }

    private Reply evaluate(Request.Evaluate program) {
      takeCalls(program.calls().size());
      ProgramTurn.Outcome outcome = turn.evaluate(program);
      return outcome.reply(outcome.hasChanged() ? Optional.ofNullable(dot()) : Optional.empty());
    }

    private void takeCalls(int calls) {
      if (calls > callsLeft) {
        throw new OsierException(
            ErrorCode.VALUE_TOO_LARGE,
            "the steps of a program make at most " + Call.Script.CALLS_MAX + " calls");
      }
      callsLeft -= calls;
    }

    /** Returns the number of the latest update; null if there was none. */
    private @Nullable Dot dot() {
      return work.last() == 0 ? null : new Dot(self, work.last());
    }
  }
}
