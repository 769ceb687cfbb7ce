package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.crdt.types.EntryStore;
import io.osier.datacenter.partition.Sequencer.Prepared;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.ObjectStore;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a program has made of its objects so far. A call's updates are tried, and kept or given up
 * together. An object's updates become one, so that nobody sees some of them. Not thread-safe.
 */
final class ProgramWork {
  /** More than a request has: what appends to a string makes all of it anew. */
  private static final long MADE_BYTES_MAX = 2 * EntryStore.WHOLE_BYTES_MAX;

  private final ObjectStore store;
  private final Sequencer sequencer;
  private final Now now;
  private final long timestamp;
  private final Map<Key, List<CrdtState>> stored = new HashMap<>();
  private final Map<ObjectId, Made> made = new LinkedHashMap<>();

  /** Those of the call that is being done. */
  private final List<Tried> tried = new ArrayList<>();

  /** What is kept takes so much, and what is tried, in bytes. */
  private long keptBytes;

  private long triedBytes;

  /** The last number that is taken by what is kept. */
  private long last;

  /** What an object's updates come to. */
  private record Made(
      CrdtState before, List<CrdtState> deltas, CrdtState after, List<Operation> operations) {}

  private record Tried(
      ObjectId object, Operation operation, CrdtState delta, CrdtState after, long number) {}

  ProgramWork(ObjectStore store, Sequencer sequencer, Now now) {
    this.store = store;
    this.sequencer = sequencer;
    this.now = now;
    this.timestamp = sequencer.timestamp(now);
    this.last = sequencer.committed();
  }

  /** What a key holds, be it over or not. */
  List<CrdtState> states(Key key) {
    List<CrdtState> states = stored.computeIfAbsent(key, store::get);
    if (made.isEmpty() && tried.isEmpty()) {
      return states;
    }
    List<CrdtState> all = new ArrayList<>();
    for (CrdtType type : CrdtType.values()) {
      CrdtState state = find(new ObjectId(key, type));
      if (state != null) {
        all.add(state);
      }
    }
    return all;
  }

  private @Nullable CrdtState find(ObjectId object) {
    for (int i = tried.size() - 1; i >= 0; i--) {
      if (tried.get(i).object.equals(object)) {
        return tried.get(i).after;
      }
    }
    Made already = made.get(object);
    return already != null ? already.after : stored(object);
  }

  private @Nullable CrdtState stored(ObjectId object) {
    for (CrdtState state : stored.computeIfAbsent(object.key(), store::get)) {
      if (state.type() == object.type()) {
        return state;
      }
    }
    return null;
  }

  /** What a reader sees of a key, without what is over. */
  List<CrdtState> seen(Key key) {
    return states(key).stream()
        .map(state -> state.at(now.millis()))
        .filter(state -> !state.isBottom())
        .toList();
  }

  /** A key's latest deadline; {@link CrdtState#NEVER} if one of its objects has none. */
  long deadline(Key key) {
    return seen(key).stream().mapToLong(CrdtState::deadline).max().orElse(CrdtState.NEVER);
  }

  /** An object as it is, be it over or not; a new one if there is none. */
  CrdtState state(ObjectId object) {
    CrdtState state = find(object);
    return state == null ? CrdtState.bottom(object.type()) : state;
  }

  /**
   * As {@link #state}, of one that is to be updated.
   *
   * @throws OsierException WRONG_TYPE if its key holds another type
   */
  CrdtState present(ObjectId object) {
    CrdtState state = state(object);
    if (state.isNothing(now.millis())) {
      for (CrdtState other : states(object.key())) {
        if (other.type() != object.type() && !other.isNothing(now.millis())) {
          throw Sequencer.wrongType(object, other.type());
        }
      }
    }
    return state;
  }

  /**
   * What a {@link io.osier.protocol.Call.Guard} compares: what only remembers, and what is over, is
   * none of it.
   */
  VersionVector version(Key key) {
    VersionVector version = VersionVector.EMPTY;
    for (CrdtState state : states(key)) {
      if (!state.isSpent() && !isOver(state)) {
        version = version.join(state.context().toVersionVector());
      }
    }
    return version;
  }

  private boolean isOver(CrdtState state) {
    return state.expires() && state.isNothing(now.millis());
  }

  /** Tries an update; the object then. */
  CrdtState update(ObjectId object, Operation operation) {
    CrdtState before = state(object);
    return tried(
        object,
        operation,
        before,
        sequencer.update(lastNumber(), timestamp, before, operation, now));
  }

  /**
   * Tries an update that is concurrent to some of those before it.
   *
   * @param seen the object without those
   */
  void updateBeside(ObjectId object, CrdtState seen, Operation operation) {
    CrdtState before = state(object);
    tried(
        object,
        operation,
        before,
        sequencer.updateBeside(lastNumber(), timestamp, seen, before, operation, now));
  }

  private long lastNumber() {
    return tried.isEmpty() ? last : tried.getLast().number;
  }

  private CrdtState tried(
      ObjectId object, Operation operation, CrdtState before, Updates.Updated updated) {
    sequencer.checkSize(object, operation, before, updated.after());
    long bytes = triedBytes + updated.delta().sizeBytes();
    if (keptBytes + bytes > MADE_BYTES_MAX) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "the updates of a program make "
              + MADE_BYTES_MAX
              + " bytes at most, and this call is beyond that: do it with another program");
    }
    triedBytes = bytes;
    long own = updated.delta().context().last(sequencer.self());
    tried.add(new Tried(object, operation, updated.delta(), updated.after(), own));
    return updated.after();
  }

  /** Whether something was tried since the last {@link #keep} or {@link #giveUp}. */
  boolean hasTried() {
    return !tried.isEmpty();
  }

  /** What was tried is done. */
  void keep() {
    for (Tried t : tried) {
      Made to = made.get(t.object);
      if (to == null) {
        CrdtState before = stored(t.object);
        to =
            new Made(
                before == null ? CrdtState.bottom(t.object.type()) : before,
                new ArrayList<>(),
                t.after,
                new ArrayList<>());
      }
      to.deltas.add(t.delta);
      to.operations.add(t.operation);
      made.put(t.object, new Made(to.before, to.deltas, t.after, to.operations));
      last = t.number;
    }
    keptBytes += triedBytes;
    giveUp();
  }

  /** What was tried is not done. */
  void giveUp() {
    triedBytes = 0;
    tried.clear();
  }

  /** The last number that is taken: what was kept last has it, if anything was. */
  long last() {
    return last;
  }

  /** What is to be committed, in the order of its numbers. */
  List<Prepared> prepared() {
    List<Prepared> all = new ArrayList<>(made.size());
    made.forEach(
        (object, m) -> {
          CrdtState delta = CrdtState.join(m.deltas);
          long number = delta.context().last(sequencer.self());
          int count = m.deltas.size();
          all.add(new Prepared(object, m.before, number, delta, m.after, count, now.nanos()));
        });
    all.sort(Comparator.comparingLong(Prepared::number));
    return all;
  }

  /** What was done with an object, in its order. */
  List<Operation> operations(ObjectId object) {
    Made of = made.get(object);
    return of == null ? List.of() : of.operations;
  }
}
