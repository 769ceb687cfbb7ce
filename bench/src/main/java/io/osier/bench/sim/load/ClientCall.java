package io.osier.bench.sim.load;

import io.osier.bench.sim.check.SessionView;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Workload;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One request of a session that is under way, and what its session knew when it asked. */
final class ClientCall {
  private static final int WAIT_MILLIS = 3_000;

  final Workload.Task task;
  final ReplicaId at;
  final VersionVector after;
  private final Workload workload;

  /** What is asked with a write. */
  final Optional<Request.Ask> ask;

  /** Under which condition a write is to be done. */
  final Optional<Request.Condition> condition;

  /** What the session knew when it asked. */
  SessionView wanted = new SessionView();

  /** Its own requests that were under way to the same datacenter. */
  final List<ClientCall> earlier = new ArrayList<>();

  long readsBefore;
  long strangersBefore;
  boolean open = true;

  /** What it wrote; null before the answer, and of a read. */
  @Nullable Dot dot;

  /** What reads showed of the object that were asked for after this and answered before. */
  final List<CausalContext> shownAfter = new ArrayList<>();

  /** What the object covered when it was read. */
  CausalContext shown = CausalContext.EMPTY;

  /**
   * One that is not sent yet.
   *
   * @param number of the session's tasks
   * @param after what must be visible where it is done
   */
  ClientCall(
      Workload.Task task, long number, ReplicaId at, VersionVector after, Workload workload) {
    this.task = task;
    this.ask = task.ask(number);
    this.condition = workload.condition(task, number);
    this.at = at;
    this.after = after;
    this.workload = workload;
  }

  /** Notes what its session knows, and what it has under way. */
  void wants(SessionView view, List<ClientCall> underWay, long reads, long strangers) {
    wanted = view.copy(task.object(), task.isWrite());
    readsBefore = reads;
    strangersBefore = strangers;
    for (ClientCall call : underWay) {
      if (call.at.equals(at)) {
        earlier.add(call);
      }
    }
  }

  /** What is sent. */
  Request request(String keyspace) {
    ObjectId object = task.object();
    boolean ordered = earlier.stream().anyMatch(c -> c.task.isWrite());
    return task.isWrite()
        ? new Request.Write(
            keyspace,
            object.key(),
            object.type(),
            task.operation().orElseThrow(),
            after,
            WAIT_MILLIS,
            ask,
            condition)
        : new Request.Read(
            keyspace,
            object.key(),
            Optional.of(object.type()),
            task.query(),
            after,
            ordered,
            WAIT_MILLIS);
  }

  /** What an answer to an update covers: itself, too, where that was to be told. */
  CausalContext shown(SimNode node, Reply.Done done, Reply.Answer answer) {
    CausalContext covered = node.covered(task.object(), answer.seen());
    boolean before = ask.map(Request.Ask::before).orElse(false);
    return before ? covered : covered.join(CausalContext.of(done.dot()));
  }

  /** Whether it may be refused for what it asks. */
  boolean mayBeRefused(ErrorCode code) {
    return switch (code) {
      case NOT_ENOUGH_RIGHTS, INVALID_ARGUMENT -> Workload.mayLackRights(task.object());
      case VALUE_TOO_LARGE -> workload.mayBeTooLarge(task);
      case WRONG_TYPE -> Workload.mayClash(task.object());
      default -> false;
    };
  }
}
