package io.osier.datacenter.partition;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.Contents;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.EntryStore;
import io.osier.crdt.types.SetStore;
import io.osier.datacenter.partition.Sequencer.Prepared;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.rights.Escrow;
import io.osier.datacenter.store.ObjectStore;
import io.osier.protocol.Call;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes one program: each call sees what the calls before it have done, and all updates are
 * committed at the end. Not thread-safe.
 */
final class ProgramTurn {
  private static final Logger LOG = LoggerFactory.getLogger(ProgramTurn.class);

  private final Sequencer sequencer;
  private final Escrow escrow;
  private final Writes writes;
  private final ProgramWork work;
  private final Now now;

  /** How many bytes the program may still read, copy and draw from. */
  private long room = EntryStore.WHOLE_BYTES_MAX;

  /** How many bytes of the heap the program's answers may still take. */
  private long answerRoom = Reply.Evaluated.BYTES_MAX;

  /**
   * @param writes asks other datacenters for rights that an update lacks
   */
  ProgramTurn(ObjectStore store, Sequencer sequencer, Escrow escrow, Writes writes, Now now) {
    this.sequencer = sequencer;
    this.escrow = escrow;
    this.writes = writes;
    this.work = new ProgramWork(store, sequencer, now);
    this.now = now;
  }

  /**
   * The outcome of a call. The commit number of its update is known only when the program ends.
   *
   * @param done whether the call has changed something
   * @param answer the answer to its query; null if it asked nothing
   * @param failure why it failed; null if it did not
   */
  record Part(boolean done, Reply.@Nullable Answer answer, Reply.@Nullable Failure failure) {

    Reply reply(@Nullable Dot dot) {
      if (failure != null) {
        return failure;
      }
      if (done && dot != null) {
        return new Reply.Done(dot, Optional.ofNullable(answer));
      }
      if (answer == null) {
        throw new IllegalStateException("a call that has changed nothing has an answer");
      }
      return answer;
    }
  }

  private static Part done() {
    return new Part(true, null, null);
  }

  private static Part answer(Reply.Answer answer) {
    return new Part(false, answer, null);
  }

  /** The outcome of a program; its commit number is known at the end. */
  record Outcome(boolean held, List<Part> parts) {
    boolean hasChanged() {
      for (Part part : parts) {
        if (part.done) {
          return true;
        }
      }
      return false;
    }

    Reply.Evaluated reply(Optional<Dot> dot) {
      List<Reply> replies = new ArrayList<>(parts.size()); // no stream: most have one part
      for (Part part : parts) {
        replies.add(part.reply(dot.orElse(null)));
      }
      return new Reply.Evaluated(held, dot, replies);
    }
  }

  /**
   * Executes a program's calls; those that change something only if all guards and tests hold.
   *
   * @throws OsierException if one of its tests cannot be read: nothing was done then
   */
  Outcome evaluate(Request.Evaluate program) {
    boolean held = holds(program);
    List<Part> parts = new ArrayList<>(program.calls().size());
    for (Call call : program.calls()) {
      parts.add(
          part(
              held || !call.isUpdate()
                  ? call
                  : new Call.Read(call.key(), Optional.empty(), new Query.Exists())));
    }
    return new Outcome(held, parts);
  }

  /** Checks all guards and tests against the state before the program. */
  private boolean holds(Request.Evaluate program) {
    for (Call.Guard guard : program.guards()) {
      if (!work.version(guard.key()).equals(guard.version())) {
        return false;
      }
    }
    for (Call call : program.calls()) {
      if (call instanceof Call.Test test && !holds(test)) {
        return false;
      }
    }
    return true;
  }

  private boolean holds(Call.Test test) {
    Request.Condition condition = test.condition();
    Optional<Reading> found = read(test.key(), test.type(), condition.asked()).reading();
    return found.isPresent()
        ? condition.holds(found.get())
        : condition.query() instanceof Query.Exists
            && condition.expected().equals(new Reading.Flag(false));
  }

  Part part(Call call) {
    try {
      Part part = does(call);
      if (part.answer != null && !(call instanceof Call.Script)) {
        fit(part.answer);
      }
      work.keep();
      return part;
    } catch (OsierException e) {
      work.giveUp();
      return new Part(false, null, new Reply.Failure(e.code(), e.reason()));
    }
  }

  private void fit(Reply.Answer answer) {
    long bytes = MessageHeap.bytes(answer);
    boolean isFirst = answerRoom == Reply.Evaluated.BYTES_MAX;
    if (bytes > answerRoom && !isFirst) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "the answers to a program may take at most "
              + Reply.Evaluated.BYTES_MAX
              + " bytes together: read less in one program");
    }
    answerRoom = Math.max(0, answerRoom - bytes);
  }

  private void take(long bytes) {
    if (bytes > room || room <= 0) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "a program may read, rename, copy and draw from at most "
              + EntryStore.WHOLE_BYTES_MAX
              + " bytes, and this call exceeds them: do it in another program");
    }
    room -= bytes;
  }

  private Part does(Call call) {
    return switch (call) {
      case Call.Read c -> answer(read(c.key(), c.type(), c.query()));
      case Call.Version c -> answer(version(c.key()));
      case Call.Test c -> answer(read(c.key(), c.type(), c.condition().asked()));
      case Call.Update c -> c.operation().isOfKey() ? updateKey(c) : update(c);
      case Call.Replace c -> replace(c);
      case Call.Rename c -> move(c.key(), c.to(), c.onlyIfAbsent(), true);
      case Call.Copy c -> move(c.key(), c.to(), c.onlyIfAbsent(), false);
      case Call.Take c -> take(c);
      case Call.ExpireIf c -> expireIf(c);
      case Call.Script c -> script(c);
    };
  }

  private Reply.Answer read(Key key, Optional<CrdtType> type, Query query) {
    return counted(() -> Reads.of(work.states(key), key, type, query, now::millis));
  }

  /** Takes an answer's bytes from the room; without room nothing is read. */
  Reply.Answer counted(Supplier<Reply.Answer> reading) {
    take(0);
    Reply.Answer read = reading.get();
    take(Math.min(room, read.reading().map(Reading::heapBytes).orElse(0L)));
    return read;
  }

  private Reply.Answer version(Key key) {
    boolean exists = !work.seen(key).isEmpty();
    VersionVector version = work.version(key);
    return new Reply.Answer(
        Optional.empty(), Optional.of(new Reading.Flag(exists)), exists, version);
  }

  private Part exists(Key key) {
    return answer(read(key, Optional.empty(), new Query.Exists()));
  }

  // -------------------------------------------------------------- updates

  private Part update(Call.Update call) {
    ObjectId object = new ObjectId(call.key(), call.type());
    CrdtState before = work.present(object);
    checkRights(object, before, call.operation());
    CrdtState after = work.update(object, filled(before, call.operation()));
    if (call.ask().isEmpty()) {
      return done();
    }
    Request.Ask ask = call.ask().get();
    return new Part(
        true, counted(() -> Reads.asked(ask, call.operation(), before, after, now::millis)), null);
  }

  private Operation filled(CrdtState before, Operation operation) {
    return escrow.filled(before, operation.from(now.millis()));
  }

  private void checkRights(ObjectId object, CrdtState before, Operation operation) {
    if (object.type() == CrdtType.BOUNDED_COUNTER && !escrow.isCovered(object, before, operation)) {
      writes.ask(object, before, operation, now);
      throw escrow.lacking(object, before, operation);
    }
  }

  private Part updateKey(Call.Update call) {
    List<CrdtState> before = work.states(call.key());
    apply(call.key(), call.operation());
    Optional<Reply.Answer> answer = call.ask().map(ask -> asked(ask, call.key(), before));
    if (work.hasTried()) {
      return new Part(true, answer.orElse(null), null);
    }
    return answer.map(ProgramTurn::answer).orElseGet(() -> exists(call.key()));
  }

  private Reply.Answer asked(Request.Ask ask, Key key, List<CrdtState> before) {
    List<CrdtState> states = ask.before() ? before : work.states(key);
    return counted(() -> Reads.of(states, key, Optional.empty(), ask.query(), now::millis));
  }

  private void apply(Key key, Operation operation) {
    for (CrdtState state : KeyUpdate.touched(key, work.states(key), operation, now)) {
      work.update(new ObjectId(key, state.type()), KeyUpdate.part(operation, now));
    }
  }

  private Part replace(Call.Replace call) {
    Key key = call.key();
    ObjectId object = new ObjectId(key, call.type());
    long deadline = call.keepsDeadline() ? work.deadline(key) : CrdtState.NEVER;
    CrdtState before = work.state(object);
    // An assignment replaces all that was seen, but keeps a deadline that stays the same.
    boolean assigns = call.assigns() && before.deadline() == deadline;
    for (CrdtState state : KeyUpdate.touched(key, work.states(key), new Operation.Delete(), now)) {
      if (!assigns || state.type() != call.type()) {
        work.update(new ObjectId(key, state.type()), new Operation.Clear());
      }
    }
    CrdtState cleared = work.state(object);
    CrdtState after = work.update(object, filled(cleared, call.operation()));
    boolean gives = call.operation().givesDeadline() || deadline == CrdtState.NEVER;
    if (!gives && after.deadline() != deadline && !after.isBottom()) {
      work.update(object, new Operation.Expire(deadline, false));
    }
    return done();
  }

  private Part move(Key from, Key to, boolean onlyIfAbsent, boolean removes) {
    List<CrdtState> held = work.seen(from);
    if (held.isEmpty()) {
      return exists(from);
    }
    if (onlyIfAbsent && !work.seen(to).isEmpty()) {
      return exists(to);
    }
    held.forEach(state -> take(state.sizeBytes()));
    List<Contents> contents = held.stream().map(Contents::of).toList();
    apply(to, new Operation.Delete());
    for (int i = 0; i < held.size(); i++) {
      fill(new ObjectId(to, held.get(i).type()), contents.get(i));
    }
    if (removes) {
      apply(from, new Operation.Delete());
    }
    return work.hasTried() ? done() : exists(to);
  }

  private void fill(ObjectId object, Contents contents) {
    CrdtState empty = work.state(object);
    contents.updates().forEach(o -> work.update(object, o));
    contents.beside().forEach(o -> work.updateBeside(object, empty, o));
    contents.deadlines().forEach(o -> work.update(object, o));
  }

  private Part take(Call.Take call) {
    ObjectId object = new ObjectId(call.key(), call.type());
    CrdtState before = work.present(object).at(now.millis());
    if (!(before.store() instanceof SetStore<?, ?> set)) {
      throw new OsierException(
          ErrorCode.WRONG_TYPE, "a " + call.type() + " has no elements to be taken");
    }
    take(set.isDrawnWhole() ? before.sizeBytes() : 0);
    List<Value> drawn = set.drawn(call.count(), call.seed());
    room -= Math.min(room, drawn.stream().mapToLong(Value::heapBytes).sum());
    if (!drawn.isEmpty()) {
      work.update(object, new Operation.Remove(drawn));
    }
    Reply.Answer answer =
        new Reply.Answer(
            Optional.of(call.type()),
            Optional.of(new Reading.Many(drawn)),
            !before.isBottom(),
            before.context().toVersionVector());
    return new Part(work.hasTried(), answer, null);
  }

  private Part expireIf(Call.ExpireIf call) {
    List<CrdtState> held = work.seen(call.key());
    long wanted = call.deadline().from(now.millis()).millis();
    if (!held.isEmpty() && call.when().allows(work.deadline(call.key()), wanted)) {
      apply(call.key(), call.deadline());
    }
    return work.hasTried() ? done() : exists(call.key());
  }

  private Part script(Call.Script call) {
    try {
      call.steps().run(new Programs.Script(this, work, sequencer.self(), now)::step);
    } catch (RuntimeException e) { // a script must not throw: its earlier updates stay
      LOG.error("internal error in a {}", call, e);
      throw new OsierException(ErrorCode.INTERNAL, "internal error in the datacenter: " + e);
    }
    return answer(version(call.key()));
  }

  /** Commits the program's updates; returns the last commit number, or empty if there were none. */
  Optional<Dot> commit() {
    List<Prepared> prepared = work.prepared();
    if (prepared.isEmpty()) {
      return Optional.empty();
    }
    sequencer.commit(prepared, true, now);
    for (Prepared p : prepared) {
      if (p.object().type() == CrdtType.BOUNDED_COUNTER) {
        work.operations(p.object()).forEach(o -> escrow.used(p.object(), p.after(), o));
        escrow.changed(p.object());
      }
    }
    return Optional.of(new Dot(sequencer.self(), prepared.getLast().number()));
  }
}
