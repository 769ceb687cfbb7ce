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
 * Which objects of a partition are decomposed, and how much of them is in memory: what was changed
 * since their entries were read. When that is a lot, the version of that moment is noted; once it
 * is written, a later source has it, and what was changed before goes from memory. Only for the
 * partition's thread.
 */
final class LargeObjects {
  private static final Logger LOG = LoggerFactory.getLogger(LargeObjects.class);

  /** As {@link DecompositionLimits#inMemoryMax}, in bytes of the heap. */
  private static final long IN_MEMORY_BYTES_MAX = 4 << 20;

  /** Of so many maps it is remembered that they are not to be decomposed. */
  private static final int KEPT_WHOLE_MAX = 1_024;

  /** A version that is written with a group. */
  private record Noted(long group, CrdtState version) {}

  private final DecompositionLimits limits;
  private final Function<ObjectId, EntrySource> entries;
  private final Map<ObjectId, Noted> noted = new HashMap<>();

  /** Up to which size maps stay whole that were mostly one field when they were decomposed. */
  private final LinkedHashMap<ObjectId, Long> keptWhole = new LinkedHashMap<>();

  /** What objects were before the present group, of those that were decomposed. */
  private final Map<ObjectId, CrdtState> before = new HashMap<>();

  /**
   * @param entries what has been written of an object's entries by now
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

  /** What an object was before the present group, if it was decomposed; null otherwise. */
  @Nullable CrdtState before(ObjectId object) {
    return before.get(object);
  }

  /**
   * The object as it is to be written: decomposed, or not any more.
   *
   * @param updates what was joined to it
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

  /** An object with a damaged entry stays as it is: others must not fail with it. */
  private static CrdtState whole(CrdtState state) {
    try {
      return Decomposition.whole(state);
    } catch (OsierException e) {
      LOG.warn("a {} stays decomposed: {}", state.type(), e.reason());
      return state;
    }
  }

  /**
   * An object after what is written of it with a group was told.
   *
   * @param durableGroup up to this group everything is written
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

  /** Puts what an object is into the place of what it was. */
  @FunctionalInterface
  interface Replacing {
    /**
     * Does so unless the object was changed lately, and that is not durable.
     *
     * @return whether there is nothing more to be done
     */
    boolean replace(ObjectId object, UnaryOperator<CrdtState> by);
  }

  /** Objects that were noted, are written, and were not changed since. */
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
