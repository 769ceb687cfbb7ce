package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.HeapSize;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.Arrays;

/** A small immutable set of dots, sorted; nearly always of one. */
public final class DotSet {
  /** No dots. */
  public static final DotSet EMPTY = new DotSet(new Dot[0]);

  private final Dot[] dots;

  private DotSet(Dot[] dots) {
    this.dots = dots;
  }

  /** The set of one dot. */
  public static DotSet of(Dot dot) {
    return new DotSet(new Dot[] {dot});
  }

  /** How many dots. */
  public int size() {
    return dots.length;
  }

  /** The i-th dot in their order. */
  public Dot get(int i) {
    return dots[i];
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return dots.length == 0;
  }

  /** Whether the dot is in the set. */
  public boolean contains(Dot dot) {
    return Arrays.binarySearch(dots, dot) >= 0;
  }

  /**
   * The causal join: a dot stays if both sides have it, or if one has it and the other's context
   * does not know it.
   */
  public DotSet join(DotSet other, CausalContext mine, CausalContext theirs) {
    if (dots.length == 1 && other.dots.length == 1 && dots[0].equals(other.dots[0])) {
      return this;
    }
    Dot[] kept = new Dot[dots.length + other.dots.length];
    int size = 0;
    int i = 0;
    int j = 0;
    while (i < dots.length || j < other.dots.length) {
      int order =
          i == dots.length ? 1 : j == other.dots.length ? -1 : dots[i].compareTo(other.dots[j]);
      if (order == 0) {
        kept[size++] = dots[i];
        i++;
        j++;
      } else if (order < 0) {
        if (!theirs.contains(dots[i])) {
          kept[size++] = dots[i];
        }
        i++;
      } else {
        if (!mine.contains(other.dots[j])) {
          kept[size++] = other.dots[j];
        }
        j++;
      }
    }
    if (size == 0) {
      return EMPTY;
    }
    return size == dots.length && Arrays.equals(dots, 0, size, kept, 0, size)
        ? this
        : new DotSet(Arrays.copyOf(kept, size));
  }

  /** What the set takes in the heap, about, in bytes. */
  public long heapBytes() {
    return dots.length == 0
        ? 0
        : HeapSize.object(HeapSize.REFERENCE)
            + HeapSize.array(dots.length, HeapSize.REFERENCE)
            + dots.length * Dot.HEAP_BYTES;
  }

  /** An estimate of the encoded size, in bytes. */
  public int sizeBytes() {
    return 1 + 4 * dots.length;
  }

  /** Writes the set. */
  public void write(WireOutput out) {
    out.writeCount(dots.length);
    for (Dot dot : dots) {
      out.writeDot(dot);
    }
  }

  /** Reads a set. */
  public static DotSet read(WireInput in) {
    int n = in.readCount(2);
    if (n == 0) {
      return EMPTY;
    }
    Dot[] dots = new Dot[n];
    for (int i = 0; i < n; i++) {
      dots[i] = in.readDot();
      if (i > 0 && dots[i - 1].compareTo(dots[i]) >= 0) {
        throw new MalformedException("dots are not in order");
      }
    }
    return new DotSet(dots);
  }

  /** Goes past a set. */
  static void skip(WireInput in) {
    for (int n = in.readCount(2); n > 0; n--) {
      in.readReplica();
      in.readNumber();
    }
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof DotSet d && Arrays.equals(dots, d.dots);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(dots);
  }

  @Override
  public String toString() {
    return Arrays.toString(dots);
  }
}
