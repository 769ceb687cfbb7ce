package io.osier.datacenter.store;

import io.osier.crdt.Causal;
import io.osier.crdt.Decomposition;
import io.osier.crdt.EntrySource;
import io.osier.crdt.ObjectId;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which objects of a partition are decomposed, and how much of them is in memory: what was changed
 * since their entries were read. When that is a lot, the version of that moment is noted; once it
 * is written, a later source has it, and what was changed before goes from memory. Only for the
 * partition's thread.
 */
final class LargeObjects {
  /** A version that is written with a group. */
  private record Noted(long group, Causal version) {}

  private final DecompositionLimits limits;
  private final Function<ObjectId, EntrySource> entries;
  private final Map<ObjectId, Noted> noted = new HashMap<>();

  /** What objects were before the present group, of those that were decomposed. */
  private final Map<ObjectId, Causal> before = new HashMap<>();

  /**
   * For a partition.
   *
   * @param entries what has been written of an object's entries by now
   */
  LargeObjects(DecompositionLimits limits, Function<ObjectId, EntrySource> entries) {
    this.limits = limits;
    this.entries = entries;
  }

  /** An object is about to change. */
  void changing(ObjectId object, @Nullable Causal state) {
    if (state != null && Decomposition.isDecomposed(state)) {
      before.putIfAbsent(object, state);
    }
  }

  /** What an object was before the present group, if it was decomposed; null otherwise. */
  @Nullable Causal before(ObjectId object) {
    return before.get(object);
  }

  /** The object as it is to be written: decomposed, or not any more. */
  Causal formed(Causal state) {
    if (!Decomposition.isPossible(state)) {
      return state;
    }
    long bytes = state.sizeBytes();
    if (Decomposition.isDecomposed(state)) {
      return bytes < limits.bytesMin() / 4 ? Decomposition.whole(state) : state;
    }
    return bytes >= limits.bytesMin() ? Decomposition.of(state) : state;
  }

  /**
   * An object after what is written of it with a group was told.
   *
   * @param durableGroup up to this group everything is written
   * @return an equal one, of which less may be in memory
   */
  Causal written(ObjectId object, Causal state, long group, long durableGroup) {
    if (!Decomposition.isDecomposed(state)) {
      noted.remove(object);
      return state;
    }
    Noted former = noted.get(object);
    if (former != null && former.group <= durableGroup) {
      noted.remove(object);
      return Decomposition.rebased(state, former.version, entries.apply(object));
    }
    if (former == null
        && (Decomposition.inMemory(state) > limits.inMemoryMax() || Decomposition.isOld(state))) {
      noted.put(object, new Noted(group, state));
    }
    return state;
  }

  /** The present group has ended. */
  void groupEnded() {
    before.clear();
  }

  /**
   * Objects that were noted, are written, and were not changed since they were noted.
   *
   * @param forget lets go what is in memory of an object, if that is durable
   */
  void settle(long durableGroup, Predicate<ObjectId> forget) {
    Iterator<Map.Entry<ObjectId, Noted>> all = noted.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<ObjectId, Noted> each = all.next();
      if (each.getValue().group <= durableGroup && forget.test(each.getKey())) {
        all.remove();
      }
    }
  }
}
