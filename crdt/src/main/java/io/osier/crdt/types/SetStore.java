package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.KeyOrder;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.tree.TreeEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The common part of the sets: elements are values, and the queries are the same.
 *
 * @param <V> the cell of an element
 */
public abstract class SetStore<S extends SetStore<S, V>, V> extends EntryStore<S, Value, V> {
  /** Drawing by index is worthwhile if at least one of so many entries is visible. */
  private static final int SHOWN_SHARE = 8;

  SetStore(EntryContent<Value, V> content) {
    super(content);
  }

  final boolean contains(Value element) {
    return isVisible(cell(element));
  }

  @Override
  public final Reading read(Query query) {
    return switch (query) {
      case Query.Whole q -> new Reading.Many(visible(TreeEntry::key));
      case Query.Range q -> new Reading.Many(new RangeReader<>(this, q).visible(TreeEntry::key));
      case Query.Contains q -> new Reading.Flag(contains(q.element()));
      case Query.Among q -> new Reading.Many(q.present(this::contains));
      case Query.Size q -> new Reading.Count(visible());
      default -> throw wrongQuery(query);
    };
  }

  /**
   * Draws elements, each with the same probability; returns them in their order. Costs what is
   * drawn, or the whole set if it {@link #isDrawnWhole}.
   *
   * @param count the most elements to draw
   * @param seed the same seed draws the same elements of the same set
   */
  public final List<Value> drawn(int count, long seed) {
    if (isDrawnWhole()) {
      List<Value> all = visible(TreeEntry::key);
      return drawn(all.size(), Math.min(count, all.size()), seed, all::get);
    }
    return drawn(
        entryCount(),
        Math.min(count, visible()),
        seed,
        rank -> {
          TreeEntry<Value, V> entry = inMemory().at(rank);
          return isVisible(entry.cell()) ? entry.key() : null;
        });
  }

  /**
   * Whether all elements must be looked at to draw some: entries outside the heap are found only by
   * their keys, and in a set that mostly remembers removals few indexes lead to a visible element.
   */
  public final boolean isDrawnWhole() {
    return behind() != null || (long) visible() * SHOWN_SHARE < entryCount();
  }

  /**
   * Draws the first elements of a permutation, of which only the moved indexes are kept (Fisher and
   * Yates).
   */
  private static List<Value> drawn(
      int places, int count, long seed, IntFunction<@Nullable Value> element) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, Integer> moved = new HashMap<>();
    List<Value> drawn = new ArrayList<>(count);
    for (int i = 0; drawn.size() < count; i++) {
      int at = random.nextInt(i, places);
      Integer here = moved.remove(i);
      Integer there = at == i ? here : moved.get(at);
      if (at != i) {
        moved.put(at, here == null ? i : here);
      }
      Value value = element.apply(there == null ? at : there);
      if (value != null) {
        drawn.add(value);
      }
    }
    Collections.sort(drawn);
    return drawn;
  }

  /** Skips a cell; returns whether a reader sees it. */
  abstract boolean skipCell(WireInput in);

  @Override
  final boolean skip(WireInput in) {
    in.skipValue();
    return skipCell(in);
  }

  @Override
  final @Nullable Reading readPacked(Query query, WireInput in) {
    return query instanceof Query.Contains q
        ? readContains(q.element(), in)
        : super.readPacked(query, in);
  }

  /** Reads up to the element's position, or to the first element if none is before that. */
  private @Nullable Reading readContains(Value element, WireInput in) {
    boolean isAny = false;
    boolean isPast = false;
    for (int n = in.readCount(entryBytesMin()); n > 0 && !(isPast && isAny); n--) {
      int order = compareKey(in, element);
      boolean isSeen = skipCell(in);
      if (order == 0 && isSeen) {
        return new Reading.Flag(true);
      }
      isAny |= isSeen;
      isPast |= order >= 0;
    }
    return isAny ? new Reading.Flag(false) : null;
  }

  @Override
  public final List<Value> touched(Operation operation) {
    return switch (operation) {
      case Operation.Add o -> o.elements();
      case Operation.Remove o -> o.elements();
      default -> List.of();
    };
  }

  @Override
  public final List<Value> keys(Part part) {
    if (part instanceof Part.Element element) {
      return List.of(element.value());
    }
    throw OsierException.of(ErrorCode.WRONG_TYPE, "a " + type() + " has elements, not fields");
  }

  @Override
  public final boolean leavesNothing() {
    return true;
  }

  @Override
  final boolean areOfOnePart(Value one, Value other) {
    return one.equals(other);
  }

  @Override
  public final long keyBytes(Value element) {
    return element.sizeBytes();
  }

  @Override
  public final long keyHeapBytes(Value element) {
    return element.heapBytes();
  }

  @Override
  public final byte[] orderedKey(Value element) {
    return KeyOrder.of(element);
  }

  @Override
  public final Value readOrderedKey(byte[] bytes) {
    return KeyOrder.value(bytes);
  }

  @Override
  public final Value readKey(WireInput in) {
    return in.readValue();
  }

  @Override
  public final int compareKey(WireInput in, Value other) {
    return in.compareValue(other);
  }

  @Override
  public final void writeKey(WireOutput out, Value element) {
    out.writeValue(element);
  }
}
