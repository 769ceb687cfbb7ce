package io.osier.datacenter.store.objects;

import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.store.DecompositionLimits;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which objects of a partition are decomposed, and bounds how much of them is in memory:
 * the changes since their entries were read. When there are many, the present version is noted;
 * once that is written, a new source of entries has it, and the changes leave memory. Only for the
 * partition's thread.
 */
final class LargeObjects {
  private static final Logger LOG = LoggerFactory.getLogger(LargeObjects.class);

  /** As {@link DecompositionLimits#inMemoryMax}, in bytes of the heap. */
  private static final long IN_MEMORY_BYTES_MAX = 4 << 20;

  /** How many maps are remembered that must not be decomposed. */
  private static final int KEPT_WHOLE_MAX = 1_024;

  /** A version that is written with a group. */
  private record Noted(long group, CrdtState version) {}

  private final DecompositionLimits limits;
  private final Function<ObjectId, EntrySource> entries;
  private final Map<ObjectId, Noted> noted = new HashMap<>();

  /**
   * Maps that were mostly one field when they were decomposed, each with the size up to which it
   * stays whole.
   */
  private final LinkedHashMap<ObjectId, Long> keptWhole = new LinkedHashMap<>();

  /** Decomposed objects as they were before the present group. */
  private final Map<ObjectId, CrdtState> before = new HashMap<>();

  /**
   * @param entries returns the written entries of an object
   */
  LargeObjects(DecompositionLimits limits, Function<ObjectId, EntrySource> entries) {
    this.limits = limits;
    this.entries = entries;
  }

  void changing(ObjectId object, @Nullable CrdtState state) {
    if (state != null && Decomposition.isDecomposed(state)) {
      before.putIfAbsent(object, state);
    }
  }

  /** Returns an object as it was before the present group, if it was decomposed; null otherwise. */
  @Nullable CrdtState before(ObjectId object) {
    return before.get(object);
  }

  /**
   * Returns the object in the form in which it will be written: decomposed, or not any more.
   *
   * @param updates the updates that were joined to it
   */
  CrdtState formed(ObjectId object, CrdtState state, List<CrdtState> updates) {
    if (!Decomposition.isPossible(state)) {
      return state;
    }
    long bytes = state.sizeBytes();
    long head = Decomposition.headBytes(state);
    if (Decomposition.isDecomposed(state)) {
      boolean isSmall = bytes < limits.bytesMin() / 4;
      if (isSmall || head > 2 * limits.headBytesMax()) {
        return whole(state);
      }
      if (Decomposition.isMostlyOneField(state, updates)) {
        keepWhole(object, bytes);
        return whole(state);
      }
      return state;
    }
    boolean isLarge = bytes >= limits.bytesMin() && bytes >= keptWhole.getOrDefault(object, 0L);
    return isLarge && head <= limits.headBytesMax() ? Decomposition.of(state) : state;
  }

  private void keepWhole(ObjectId object, long bytes) {
    keptWhole.remove(object);
    keptWhole.put(object, 2 * bytes);
    if (keptWhole.size() > KEPT_WHOLE_MAX) {
      keptWhole.pollFirstEntry();
    }
  }

  /**
   * Returns the whole object; one with a damaged entry stays decomposed, so that other objects do
   * not fail with it.
   */
  private static CrdtState whole(CrdtState state) {
    try {
      return Decomposition.whole(state);
    } catch (OsierException e) {
      LOG.warn("a {} stays decomposed: {}", state.type(), e.reason());
      return state;
    }
  }

  /**
   * Called when the writing of an object with a group was decided.
   *
   * @param durableGroup the group up to which everything is written
   * @return an equal one, of which less may be in memory
   */
  CrdtState written(ObjectId object, CrdtState state, long group, long durableGroup) {
    if (!Decomposition.isDecomposed(state)) {
      noted.remove(object);
      return state;
    }
    Noted former = noted.get(object);
    if (former != null && former.group <= durableGroup) {
      noted.remove(object);
      return rebased(object, state, former.version);
    }
    if (former == null
        && (Decomposition.inMemory(state) > limits.inMemoryMax()
            || state.looseHeapBytes() > IN_MEMORY_BYTES_MAX
            || Decomposition.isOld(state))) {
      noted.put(object, new Noted(group, state));
    }
    return state;
  }

  private CrdtState rebased(ObjectId object, CrdtState state, CrdtState written) {
    return Decomposition.isDecomposed(state)
        ? Decomposition.rebased(state, written, entries.apply(object))
        : state;
  }

  void groupEnded() {
    before.clear();
  }

  /** Replaces a state of an object by another one. */
  @FunctionalInterface
  interface Replacing {
    /**
     * Replaces the state unless the object was changed and the change is not durable yet.
     *
     * @return whether the object is done with
     */
    boolean replace(ObjectId object, UnaryOperator<CrdtState> by);
  }

  /**
   * Lets the changes of objects leave memory that were noted, are written, and were not changed
   * since.
   */
  void settle(long durableGroup, Replacing objects) {
    Iterator<Map.Entry<ObjectId, Noted>> all = noted.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<ObjectId, Noted> each = all.next();
      ObjectId object = each.getKey();
      CrdtState version = each.getValue().version;
      if (each.getValue().group <= durableGroup
          && objects.replace(object, state -> rebased(object, state, version))) {
        all.remove();
      }
    }
  }
}
