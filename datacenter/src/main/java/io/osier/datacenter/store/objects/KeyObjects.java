package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.datacenter.store.StoredKey;
import io.osier.datacenter.store.VersionStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The objects of a key in memory.
 *
 * @param states the objects' states, in the order of their types
 * @param written what was written of each object, in the same order; empty if nothing was written
 *     of any
 * @param hasVersions whether the store may have versions of them besides the state in place; if
 *     not, that state, if there is one, says that it is alone
 * @param group the last group that changed an object; 0 if they were read from the store
 */
record KeyObjects(List<CrdtState> states, List<Written> written, boolean hasVersions, long group)
    implements StoredKey {
  /**
   * The operations that were written of an object since its last snapshot.
   *
   * @param operations how many there are
   * @param bytes their sizes
   */
  record Written(int operations, long bytes) {
    static final Written NOTHING = new Written(0, 0);
  }

  /** A key without objects. */
  static final KeyObjects NOTHING = new KeyObjects(List.of(), List.of(), false, 0);

  /** What an unpacked key takes in the heap besides its objects' bytes. */
  private static final int ENTRY_BYTES = 330;

  /** How much more small values take as objects in the heap than as bytes, roughly. */
  private static final int HEAP_FACTOR = 2;

  /** Makes a key's objects from its records. */
  static KeyObjects of(List<VersionStore.Loaded> loaded) {
    if (loaded.isEmpty()) {
      return NOTHING;
    }
    List<CrdtState> states = new ArrayList<>(loaded.size());
    List<Written> written = new ArrayList<>(loaded.size());
    boolean versions = false;
    for (VersionStore.Loaded l : loaded) {
      states.add(l.state());
      written.add(new Written(l.operations(), l.operationBytes()));
      versions |= l.hasVersions();
    }
    return of(states, written, versions, 0);
  }

  /**
   * Makes a key's objects from states in the order of their types, and what was written of each.
   */
  static KeyObjects of(
      List<CrdtState> states, List<Written> written, boolean hasVersions, long group) {
    return new KeyObjects(
        List.copyOf(states),
        areNothing(written) ? List.of() : List.copyOf(written),
        hasVersions,
        group);
  }

  /** Without a stream, as it is looked at with each write. */
  private static boolean areNothing(List<Written> written) {
    for (Written of : written) {
      if (!of.equals(Written.NOTHING)) {
        return false;
      }
    }
    return true;
  }

  /** Returns what was written of the object of a type since its last snapshot. */
  Written written(CrdtType type) {
    if (written.isEmpty()) {
      return Written.NOTHING;
    }
    for (int i = 0; i < states.size(); i++) {
      if (states.get(i).type() == type) {
        return written.get(i);
      }
    }
    return Written.NOTHING;
  }

  /** Returns the state of one of the objects, or null. */
  @Nullable CrdtState of(ObjectId object) {
    return of(object.type());
  }

  private @Nullable CrdtState of(CrdtType type) {
    for (CrdtState state : states) {
      if (state.type() == type) {
        return state;
      }
    }
    return null;
  }

  KeyObjects with(CrdtState state, long group) {
    List<CrdtState> after = replaced(states, state);
    return after.size() == states.size()
        ? new KeyObjects(after, written, hasVersions, group)
        : new KeyObjects(after, writtenOf(after), hasVersions, group);
  }

  private List<Written> writtenOf(List<CrdtState> some) {
    if (written.isEmpty()) {
      return List.of(); // nearly always; without a stream
    }
    List<Written> of = some.stream().map(s -> written(s.type())).toList();
    return areNothing(of) ? List.of() : of;
  }

  /**
   * Returns these objects, which were read anew, with what the former ones knew of large objects.
   */
  KeyObjects remembering(KeyObjects former) {
    List<CrdtState> known = new ArrayList<>(states.size());
    for (CrdtState state : states) {
      CrdtState before = former.of(state.type());
      known.add(before == null ? state : Decomposition.remembering(state, before));
    }
    return new KeyObjects(List.copyOf(known), written, hasVersions, group);
  }

  KeyObjects without(CrdtType type, long group) {
    List<CrdtState> others = states.stream().filter(s -> s.type() != type).toList();
    return new KeyObjects(others, writtenOf(others), hasVersions, group);
  }

  /**
   * Returns these objects with another count of what was written of one since its last snapshot.
   */
  KeyObjects counting(CrdtType type, Written count, boolean hasVersions, long group) {
    if (written(type).equals(count)) {
      return new KeyObjects(states, written, hasVersions, group);
    }
    List<Written> counts =
        states.stream().map(s -> s.type() == type ? count : written(s.type())).toList();
    return of(states, counts, hasVersions, group);
  }

  static List<CrdtState> replaced(List<CrdtState> before, CrdtState state) {
    boolean isOnly =
        before.isEmpty() || (before.size() == 1 && before.getFirst().type() == state.type());
    if (isOnly) {
      return List.of(state);
    }
    List<CrdtState> after = new ArrayList<>(before);
    after.removeIf(s -> s.type() == state.type());
    after.add(state);
    after.sort((a, b) -> a.type().compareTo(b.type()));
    return List.copyOf(after);
  }

  /** Returns the states' encoded sizes, about. */
  long sizeBytes() {
    long bytes = 0;
    for (CrdtState state : states) {
      bytes += state.sizeBytes();
    }
    return bytes;
  }

  /**
   * Returns about how many bytes the objects take in the heap while they are not packed whole. Sets
   * of small elements take several times as much if their leaves are not packed either; if that
   * counted in full, the sets in use would drive everything else out of a cache that had room for
   * them.
   */
  long heapBytes(Key key) {
    long bytes = (long) ENTRY_BYTES + key.length();
    for (CrdtState state : states) {
      bytes += Math.min(HEAP_FACTOR * state.sizeBytes(), state.heapBytes());
    }
    return bytes;
  }

  /** Returns whether some objects are decomposed, so that they cannot be packed whole. */
  boolean areDecomposed() {
    for (CrdtState state : states) {
      if (Decomposition.isDecomposed(state)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether some objects must be read anew once they are durable, since their source of
   * entries is old.
   */
  boolean areOld() {
    for (CrdtState state : states) {
      if (Decomposition.isOld(state)) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many bytes of the heap {@link #packLeaves} would free, about. */
  long looseHeapBytes() {
    long bytes = 0;
    for (CrdtState state : states) {
      bytes += Decomposition.isDecomposed(state) ? 0 : state.looseHeapBytes();
    }
    return bytes;
  }

  /**
   * As {@link CrdtState#packLeaves}, for all objects; returns this if there is nothing to do. The
   * entries of a decomposed object in memory are bounded, and leave memory only while they are the
   * same ones.
   */
  KeyObjects packLeaves() {
    List<CrdtState> packed =
        states.stream().map(s -> Decomposition.isDecomposed(s) ? s : s.packLeaves()).toList();
    for (int i = 0; i < packed.size(); i++) {
      if (packed.get(i) != states.get(i)) {
        return new KeyObjects(packed, written, hasVersions, group);
      }
    }
    return this;
  }
}
