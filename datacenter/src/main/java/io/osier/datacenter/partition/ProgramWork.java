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
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The objects as a program has changed them so far. A call's updates are tried first, then kept or
 * given up together. All updates of an object are committed as one, so that nobody sees only some
 * of them. Not thread-safe.
 */
final class ProgramWork {
  /**
   * The most bytes of values that one program may make. Larger than a request: an append makes a
   * whole new string, even where it is then given up.
   */
  private static final long MADE_BYTES_MAX = 2 * EntryStore.WHOLE_BYTES_MAX;

  private final ObjectStore store;
  private final Sequencer sequencer;
  private final Now now;
  private final long timestamp;
  private final Map<Key, Held> held = new HashMap<>();

  /** The key that was asked for last: it is likely to be asked for next. */
  private @Nullable Held recent;

  private final List<Made> made = new ArrayList<>();

  /** The updates of the call that is being executed. */
  private final List<Tried> tried = new ArrayList<>();

  /** The bytes of all values made so far, whether kept, tried or given up. */
  private long madeBytes;

  /** The last commit number that the kept updates use; 0 if none. */
  private long last;

  /** The objects of a key. */
  private static final class Held {
    final Key key;
    List<CrdtState> kept;

    /** The objects with the updates on trial. */
    List<CrdtState> states;

    final List<Made> made = new ArrayList<>(1);

    Held(Key key, List<CrdtState> stored) {
      this.key = key;
      this.kept = stored;
      this.states = stored;
    }

    @Nullable CrdtState find(CrdtType type) {
      for (CrdtState state : states) {
        if (state.type() == type) {
          return state;
        }
      }
      return null;
    }

    /** Keeps the objects in the order of their types. */
    void put(CrdtState after) {
      if (states.isEmpty() || (states.size() == 1 && states.getFirst().type() == after.type())) {
        states = List.of(after); // almost always
        return;
      }
      List<CrdtState> all = new ArrayList<>(states.size() + 1);
      for (CrdtState state : states) {
        if (state.type() != after.type()) {
          all.add(state);
        }
      }
      int at = 0;
      while (at < all.size() && all.get(at).type().compareTo(after.type()) < 0) {
        at++;
      }
      all.add(at, after);
      states = all;
    }

    @Nullable Made made(CrdtType type) {
      for (Made one : made) {
        if (one.object.type() == type) {
          return one;
        }
      }
      return null;
    }
  }

  /** All updates of an object, which are committed as one. */
  private static final class Made {
    final ObjectId object;
    final CrdtState before;
    final List<CrdtState> deltas = new ArrayList<>(1);

    /** Kept for bounded counters only, whose rights the operations use. */
    List<Operation> operations = List.of();

    CrdtState after;
    long number;

    Made(ObjectId object, CrdtState before) {
      this.object = object;
      this.before = before;
      this.after = before;
    }

    void add(Tried update) {
      deltas.add(update.delta);
      if (object.type() == CrdtType.BOUNDED_COUNTER) {
        operations = operations.isEmpty() ? new ArrayList<>(1) : operations;
        operations.add(update.operation);
      }
      after = update.after;
      number = update.number;
    }

    Prepared prepared(long nanos) {
      CrdtState delta = deltas.size() == 1 ? deltas.getFirst() : CrdtState.join(deltas);
      return new Prepared(object, before, number, delta, after, deltas.size(), nanos);
    }
  }

  private record Tried(
      Held held,
      ObjectId object,
      Operation operation,
      CrdtState before,
      CrdtState delta,
      CrdtState after,
      long number) {}

  ProgramWork(ObjectStore store, Sequencer sequencer, Now now) {
    this.store = store;
    this.sequencer = sequencer;
    this.now = now;
    this.timestamp = sequencer.timestamp(now);
    this.last = sequencer.committed();
  }

  private Held held(Key key) {
    Held known = recent;
    if (known == null || !known.key.equals(key)) {
      known = held.computeIfAbsent(key, k -> new Held(k, store.get(k)));
      recent = known;
    }
    return known;
  }

  /** Returns the objects of a key, expired ones included. */
  List<CrdtState> states(Key key) {
    return held(key).states;
  }

  /** Returns the objects of a key that a reader sees: those not expired. */
  List<CrdtState> seen(Key key) {
    List<CrdtState> states = states(key);
    List<CrdtState> seen = new ArrayList<>(states.size());
    for (CrdtState state : states) {
      CrdtState at = state.at(now.millis());
      if (!at.isBottom()) {
        seen.add(at);
      }
    }
    return seen;
  }

  /** Returns a key's latest deadline; {@link CrdtState#NEVER} if one of its objects has none. */
  long deadline(Key key) {
    return seen(key).stream().mapToLong(CrdtState::deadline).max().orElse(CrdtState.NEVER);
  }

  /** Returns an object, expired or not; a new one if there is none. */
  CrdtState state(ObjectId object) {
    CrdtState state = held(object.key()).find(object.type());
    return state == null ? CrdtState.bottom(object.type()) : state;
  }

  /**
   * As {@link #state}, for an object that will be updated.
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
   * Returns the version that a {@link io.osier.protocol.Call.Guard} compares. Objects that have
   * expired or only remember removals do not count.
   */
  VersionVector version(Key key) {
    VersionVector version = VersionVector.EMPTY;
    for (CrdtState state : states(key)) {
      if (!state.isSpent() && !(state.expires() && state.isNothing(now.millis()))) {
        version = version.join(state.context().toVersionVector());
      }
    }
    return version;
  }

  /** Tries an update; returns the object with it. */
  CrdtState update(ObjectId object, Operation operation) {
    checkRoom();
    CrdtState before = state(object);
    return tried(
        object,
        operation,
        before,
        sequencer.update(lastNumber(), timestamp, before, operation, now));
  }

  /**
   * Tries an update that is concurrent to some of the program's earlier updates.
   *
   * @param seen the object without these earlier updates
   */
  void updateBeside(ObjectId object, CrdtState seen, Operation operation) {
    checkRoom();
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

  /** Checks the room before an update makes its value: a call that fails later has made it, too. */
  private void checkRoom() {
    if (madeBytes >= MADE_BYTES_MAX) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "the updates of a program may make "
              + MADE_BYTES_MAX
              + " bytes at most, and this call exceeds them: do it in another program");
    }
  }

  private CrdtState tried(
      ObjectId object, Operation operation, CrdtState before, Updates.Updated updated) {
    madeBytes += updated.delta().sizeBytes();
    sequencer.checkHome(object.key());
    sequencer.checkSize(object, operation, before, updated.after());
    long own = updated.delta().context().last(sequencer.self());
    Held of = held(object.key());
    tried.add(new Tried(of, object, operation, before, updated.delta(), updated.after(), own));
    of.put(updated.after());
    return updated.after();
  }

  /** Returns whether an update was tried since the last {@link #keep} or {@link #giveUp}. */
  boolean hasTried() {
    return !tried.isEmpty();
  }

  /** Keeps the updates on trial: their call has succeeded. */
  void keep() {
    for (Tried t : tried) {
      Made to = t.held.made(t.object.type());
      if (to == null) {
        to = new Made(t.object, t.before);
        t.held.made.add(to);
        made.add(to);
      }
      to.add(t);
      t.held.kept = t.held.states;
      last = t.number;
    }
    tried.clear();
  }

  /** Gives up the updates on trial: their call has failed. */
  void giveUp() {
    tried.forEach(t -> t.held.states = t.held.kept);
    tried.clear();
  }

  /** Returns the last commit number that the kept updates use; 0 if none was kept. */
  long last() {
    return last;
  }

  /** Returns the updates to commit, in the order of their numbers. */
  List<Prepared> prepared() {
    List<Prepared> all = new ArrayList<>(made.size());
    made.forEach(m -> all.add(m.prepared(now.nanos())));
    all.sort(Comparator.comparingLong(Prepared::number));
    return all;
  }

  /** Returns the operations that were applied to an object, in their order. */
  List<Operation> operations(ObjectId object) {
    Made of = held(object.key()).made(object.type());
    return of == null ? List.of() : of.operations;
  }
}
