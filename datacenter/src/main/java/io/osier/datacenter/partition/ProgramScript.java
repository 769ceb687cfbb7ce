package io.osier.datacenter.partition;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Now;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Does what the steps of a {@link Call.Script} ask for, within its program. Not thread-safe. */
final class ProgramScript {
  private final ProgramTurn turn;
  private final ProgramWork work;
  private final ReplicaId self;
  private final Now now;
  private int callsLeft = Call.Script.CALLS_MAX;

  ProgramScript(ProgramTurn turn, ProgramWork work, ReplicaId self, Now now) {
    this.turn = turn;
    this.work = work;
    this.self = self;
    this.now = now;
  }

  /** Does a step, which is a program of its own, but that it is committed with the others. */
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

  /** What there is instead of what an update's condition expects; null if it holds. */
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
    boolean changed = outcome.parts().stream().anyMatch(ProgramTurn.Part::done);
    return outcome.reply(changed ? Optional.ofNullable(dot()) : Optional.empty());
  }

  private void takeCalls(int calls) {
    if (calls > callsLeft) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "the steps of a program make at most " + Call.Script.CALLS_MAX + " calls");
    }
    callsLeft -= calls;
  }

  /** The number of what was done last; null if nothing ever was. */
  private @Nullable Dot dot() {
    return work.last() == 0 ? null : new Dot(self, work.last());
  }
}
