package io.osier.datacenter.partition;

import io.osier.core.Dot;
import io.osier.core.OsierException;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.ObjectStore;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Does programs: each in one turn, and what it changes in one commit. A call that fails leaves the
 * others done. Not thread-safe.
 */
final class Programs {
  private final ObjectStore store;
  private final Sequencer sequencer;
  private final Escrow escrow;
  private final Writes writes;

  /**
   * Does them here.
   *
   * @param writes asks others for the rights that an update lacks
   */
  Programs(ObjectStore store, Sequencer sequencer, Escrow escrow, Writes writes) {
    this.store = store;
    this.sequencer = sequencer;
    this.escrow = escrow;
    this.writes = writes;
  }

  /**
   * Does a program, or nothing of it if one of its guards or tests does not hold.
   *
   * @throws OsierException if one of its tests cannot be read: nothing was done then
   */
  Reply.Evaluated evaluate(Request.Evaluate program, Now now) {
    if (program.isUpdate()) {
      sequencer.checkTakesUpdates();
    }
    Call.Update alone =
        program.calls().size() == 1 && program.guards().isEmpty()
            ? asUpdate(program.calls().getFirst())
            : null;
    if (alone != null) {
      return alone(alone, now);
    }
    ProgramTurn turn = new ProgramTurn(store, sequencer, escrow, writes, now);
    ProgramTurn.Outcome outcome = turn.evaluate(program);
    return outcome.reply(turn.commit());
  }

  /** An update that does what a call does; null if there is none, or it is not known at once. */
  private Call.@Nullable Update asUpdate(Call call) {
    if (call instanceof Call.Replace r && r.assigns()) {
      for (CrdtState state : store.get(r.key())) {
        if (state.type() != r.type() || state.expires()) {
          return null;
        }
      }
      return new Call.Update(r.key(), r.type(), r.operation(), Optional.empty());
    }
    return call instanceof Call.Update update ? update : null;
  }

  /** Does a program of one update, which costs what the update alone does. */
  private Reply.Evaluated alone(Call.Update update, Now now) {
    Reply part;
    try {
      part = writes.write(update, now);
    } catch (OsierException e) {
      part = new Reply.Failure(e.code(), e.reason());
    }
    Optional<Dot> dot =
        part instanceof Reply.Done done ? Optional.of(done.dot()) : Optional.empty();
    return new Reply.Evaluated(true, dot, List.of(part));
  }
}
