package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Decomposition;
import io.osier.crdt.ObjectId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The objects of a key as they are in memory.
 *
 * @param states in the order of their types
 * @param operations written since the last snapshots
 * @param operationBytes their sizes
 * @param hasVersions whether the store may have versions of them, beside what is put in place:
 *     otherwise that says that it is alone, if there is any
 * @param group the last that changed it; 0 when read from the store
 */
record KeyObjects(
    List<Causal> states, int operations, long operationBytes, boolean hasVersions, long group)
    implements StoredKey {
  /** Of a key that holds nothing. */
  static final KeyObjects NOTHING = new KeyObjects(List.of(), 0, 0, false, 0);

  /** What a key that is not packed takes beside its objects' bytes. */
  private static final int ENTRY_BYTES = 330;

  /** How much larger small values are as objects than as bytes, roughly. */
  private static final int HEAP_FACTOR = 2;

  /** A key's objects as its records give them. */
  static KeyObjects of(List<VersionStore.Loaded> loaded) {
    if (loaded.isEmpty()) {
      return NOTHING;
    }
    List<Causal> states = new ArrayList<>(loaded.size());
    int operations = 0;
    long bytes = 0;
    boolean versions = false;
    for (VersionStore.Loaded l : loaded) {
      states.add(l.state());
      operations += l.operations();
      bytes += l.operationBytes();
      versions |= l.hasVersions();
    }
    return new KeyObjects(List.copyOf(states), operations, bytes, versions, 0);
  }

  /** The state of one of them, or null. */
  @Nullable Causal of(ObjectId object) {
    return of(object.type());
  }

  private @Nullable Causal of(CrdtType type) {
    for (Causal state : states) {
      if (state.type() == type) {
        return state;
      }
    }
    return null;
  }

  /** With another state of one of them. */
  KeyObjects with(Causal state, long group) {
    return new KeyObjects(replaced(states, state), operations, operationBytes, hasVersions, group);
  }

  /** What was read anew, with what was known of large objects. */
  KeyObjects remembering(KeyObjects former) {
    List<Causal> known = new ArrayList<>(states.size());
    for (Causal state : states) {
      Causal before = former.of(state.type());
      known.add(before == null ? state : Decomposition.remembering(state, before));
    }
    return new KeyObjects(List.copyOf(known), operations, operationBytes, hasVersions, group);
  }

  /** Without one of them. */
  KeyObjects without(CrdtType type, long group) {
    List<Causal> others = states.stream().filter(s -> s.type() != type).toList();
    return new KeyObjects(others, operations, operationBytes, hasVersions, group);
  }

  /** With other counts of what was written since the last snapshots. */
  KeyObjects counting(int operations, long operationBytes, boolean hasVersions, long group) {
    return new KeyObjects(states, operations, operationBytes, hasVersions, group);
  }

  static List<Causal> replaced(List<Causal> before, Causal state) {
    boolean isOnly =
        before.isEmpty() || (before.size() == 1 && before.getFirst().type() == state.type());
    if (isOnly) {
      return List.of(state);
    }
    List<Causal> after = new ArrayList<>(before);
    after.removeIf(s -> s.type() == state.type());
    after.add(state);
    after.sort((a, b) -> a.type().compareTo(b.type()));
    return List.copyOf(after);
  }

  /** The states' encoded sizes, about. */
  long sizeBytes() {
    long bytes = 0;
    for (Causal state : states) {
      bytes += state.sizeBytes();
    }
    return bytes;
  }

  /**
   * Roughly the bytes that they take while they are not packed whole. Sets of small elements take
   * several times as much if their leaves are not packed either: counted in full, those that are in
   * use would drive all else out of a cache that has had room for them.
   */
  long heapBytes(Key key) {
    long bytes = (long) ENTRY_BYTES + key.length();
    for (Causal state : states) {
      bytes += Math.min(HEAP_FACTOR * state.sizeBytes(), state.heapBytes());
    }
    return bytes;
  }

  /** Whether some are decomposed: they cannot be packed whole. */
  boolean areDecomposed() {
    for (Causal state : states) {
      if (Decomposition.isDecomposed(state)) {
        return true;
      }
    }
    return false;
  }

  /** Whether some are to be read anew once they are durable, since what they are read by is old. */
  boolean areOld() {
    for (Causal state : states) {
      if (Decomposition.isOld(state)) {
        return true;
      }
    }
    return false;
  }

  /** What {@link #packLeaves} could make smaller, in bytes of the heap, about. */
  long looseHeapBytes() {
    long bytes = 0;
    for (Causal state : states) {
      bytes += Decomposition.isDecomposed(state) ? 0 : state.looseHeapBytes();
    }
    return bytes;
  }

  /**
   * As {@link Causal#packLeaves}, of all: this if there is nothing to do. What a decomposed object
   * has in memory is bounded, and goes from there as long as its cells stay the same ones.
   */
  KeyObjects packLeaves() {
    List<Causal> packed =
        states.stream().map(s -> Decomposition.isDecomposed(s) ? s : s.packLeaves()).toList();
    for (int i = 0; i < packed.size(); i++) {
      if (packed.get(i) != states.get(i)) {
        return new KeyObjects(packed, operations, operationBytes, hasVersions, group);
      }
    }
    return this;
  }
}
