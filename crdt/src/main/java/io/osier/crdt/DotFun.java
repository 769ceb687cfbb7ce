package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A small immutable map from dots to the values that they wrote: one entry, or one for each
 * concurrent write.
 *
 * @param <V> the type of the values
 */
public final class DotFun<V> {
  private static final DotFun<?> EMPTY = new DotFun<>(new Dot[0], new Object[0]);

  /** Sorted, without duplicates. */
  private final Dot[] dots;

  private final Object[] values;

  private DotFun(Dot[] dots, Object[] values) {
    this.dots = dots;
    this.values = values;
  }

  @SuppressWarnings("unchecked") // it holds no value
  public static <V> DotFun<V> empty() {
    return (DotFun<V>) EMPTY;
  }

  public static <V> DotFun<V> of(Dot dot, V value) {
    return new DotFun<>(new Dot[] {dot}, new Object[] {value});
  }

  public int size() {
    return dots.length;
  }

  public boolean isEmpty() {
    return dots.length == 0;
  }

  public Dot dot(int i) {
    return dots[i];
  }

  @SuppressWarnings("unchecked") // only values of this type are ever put in
  public V value(int i) {
    return (V) values[i];
  }

  /** Notes that an update replaces or removes all entries. */
  public void supersede(UpdateContext preparation) {
    for (Dot dot : dots) {
      preparation.supersede(dot);
    }
  }

  public DotFun<V> join(DotFun<V> other, CausalContext mine, CausalContext theirs) {
    Dot[] keptDots = new Dot[dots.length + other.dots.length];
    Object[] kept = new Object[keptDots.length];
    int size = 0;
    int more = 0;
    int i = 0;
    int j = 0;
    while (i < dots.length || j < other.dots.length) {
      int order =
          i == dots.length ? 1 : j == other.dots.length ? -1 : dots[i].compareTo(other.dots[j]);
      boolean left = order == 0 || (order < 0 && !theirs.contains(dots[i]));
      boolean right = order > 0 && !mine.contains(other.dots[j]);
      if (left || right) {
        keptDots[size] = left ? dots[i] : other.dots[j];
        kept[size++] = left ? values[i] : other.values[j];
        more += left ? 0 : 1;
      }
      i += order <= 0 ? 1 : 0;
      j += order >= 0 ? 1 : 0;
    }
    if (size == 0) {
      return empty();
    }
    if (size == dots.length && more == 0) {
      return this;
    }
    return new DotFun<>(Arrays.copyOf(keptDots, size), Arrays.copyOf(kept, size));
  }

  public long heapBytes(ToLongFunction<V> valueBytes) {
    if (dots.length == 0) {
      return 0;
    }
    long bytes =
        HeapSize.object(2 * HeapSize.REFERENCE)
            + 2 * HeapSize.array(dots.length, HeapSize.REFERENCE)
            + dots.length * Dot.HEAP_BYTES;
    for (int i = 0; i < dots.length; i++) {
      bytes += valueBytes.applyAsLong(value(i));
    }
    return bytes;
  }

  public long sizeBytes(ToLongFunction<V> valueBytes) {
    long bytes = 1 + 4L * dots.length;
    for (int i = 0; i < dots.length; i++) {
      bytes += valueBytes.applyAsLong(value(i));
    }
    return bytes;
  }

  public void write(WireOutput out, BiConsumer<WireOutput, V> writer) {
    out.writeCount(dots.length);
    for (int i = 0; i < dots.length; i++) {
      out.writeDot(dots[i]);
      writer.accept(out, value(i));
    }
  }

  public static <V> DotFun<V> read(WireInput in, Function<WireInput, V> reader) {
    int n = in.readCount(3);
    if (n == 0) {
      return empty();
    }
    Dot[] dots = new Dot[n];
    Object[] values = new Object[n];
    for (int i = 0; i < n; i++) {
      dots[i] = in.readDot();
      values[i] = reader.apply(in);
      if (i > 0 && dots[i - 1].compareTo(dots[i]) >= 0) {
        throw new MalformedException("dots are not in order");
      }
    }
    return new DotFun<>(dots, values);
  }

  /** Skips an encoded map; returns whether it has an entry. */
  public static boolean skip(WireInput in, Consumer<WireInput> skipper) {
    int size = in.readCount(3);
    for (int n = size; n > 0; n--) {
      skipDot(in);
      skipper.accept(in);
    }
    return size > 0;
  }

  /**
   * Reads the value of a map with exactly one entry, as nearly all have; otherwise returns null,
   * with the input somewhere in the map.
   */
  public static <V> @Nullable V readOnly(WireInput in, Function<WireInput, V> reader) {
    if (in.readCount(3) != 1) {
      return null;
    }
    skipDot(in);
    return reader.apply(in);
  }

  public static void skipDot(WireInput in) {
    in.readReplica();
    in.readNumber();
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof DotFun<?> f
        && Arrays.equals(dots, f.dots)
        && Arrays.equals(values, f.values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(dots) * 31 + Arrays.hashCode(values);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < dots.length; i++) {
      text.append(i == 0 ? "" : ", ").append(dots[i]).append('=').append(values[i]);
    }
    return text.append(']').toString();
  }
}
