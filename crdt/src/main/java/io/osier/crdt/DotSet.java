package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A small immutable set of dots, sorted. Nearly always it has one dot, which is kept in two fields
 * and not as an object, since a replicated set has a DotSet for each element.
 */
public final class DotSet {
  public static final DotSet EMPTY = new DotSet(null, 0, null);

  /** The replica of the only dot; null if there is none, or more than one. */
  private final @Nullable ReplicaId replica;

  private final long number;

  /** All dots if there is more than one; null otherwise. */
  private final Dot @Nullable [] dots;

  private DotSet(@Nullable ReplicaId replica, long number, Dot @Nullable [] dots) {
    this.replica = replica;
    this.number = number;
    this.dots = dots;
  }

  public static DotSet of(Dot dot) {
    return new DotSet(dot.replica(), dot.number(), null);
  }

  /** Returns the set of some dots in ascending order. */
  private static DotSet of(Dot[] sorted, int size) {
    return switch (size) {
      case 0 -> EMPTY;
      case 1 -> of(sorted[0]);
      default -> new DotSet(null, 0, sorted.length == size ? sorted : Arrays.copyOf(sorted, size));
    };
  }

  public int size() {
    return dots != null ? dots.length : replica == null ? 0 : 1;
  }

  /** Returns the i-th dot in their order. */
  public Dot get(int i) {
    if (dots != null) {
      return dots[i];
    }
    if (replica == null || i != 0) {
      throw new IndexOutOfBoundsException(i);
    }
    return new Dot(replica, number);
  }

  public boolean isEmpty() {
    return replica == null && dots == null;
  }

  /** Notes that an update replaces or removes what the dots wrote. */
  public void supersede(UpdateContext preparation) {
    if (replica != null) {
      preparation.supersede(replica, number);
    } else if (dots != null) {
      for (Dot dot : dots) {
        preparation.supersede(dot);
      }
    }
  }

  /**
   * Returns the causal join: a dot stays if both sides have it, or if one has it and the other's
   * context does not contain it.
   */
  public DotSet join(DotSet other, CausalContext mine, CausalContext theirs) {
    if (dots != null || other.dots != null) {
      return joinMany(other, mine, theirs);
    }
    if (number == other.number && (replica == null || replica.equals(other.replica))) {
      return this;
    }
    boolean isKept = replica != null && !theirs.contains(replica, number);
    boolean isAdded = other.replica != null && !mine.contains(other.replica, other.number);
    if (isKept && isAdded) {
      Dot[] both = {get(0), other.get(0)};
      Arrays.sort(both);
      return new DotSet(null, 0, both);
    }
    return isKept ? this : isAdded ? other : EMPTY;
  }

  private DotSet joinMany(DotSet other, CausalContext mine, CausalContext theirs) {
    int n = size();
    int m = other.size();
    Dot[] kept = new Dot[n + m];
    int size = 0;
    int left = 0;
    int i = 0;
    int j = 0;
    while (i < n || j < m) {
      int order = i == n ? 1 : j == m ? -1 : get(i).compareTo(other.get(j));
      if (order == 0 || (order < 0 && !theirs.contains(get(i)))) {
        kept[size++] = get(i);
        left++;
      } else if (order > 0 && !mine.contains(other.get(j))) {
        kept[size++] = other.get(j);
      }
      i += order <= 0 ? 1 : 0;
      j += order >= 0 ? 1 : 0;
    }
    return left == n && size == n ? this : of(kept, size);
  }

  /** Returns about how many bytes the set takes in the heap. */
  public long heapBytes() {
    if (isEmpty()) {
      return 0;
    }
    long self = HeapSize.object(2 * HeapSize.REFERENCE + Long.BYTES);
    return dots == null
        ? self
        : self + HeapSize.array(dots.length, HeapSize.REFERENCE) + dots.length * Dot.HEAP_BYTES;
  }

  /** Returns an estimate of the encoded size, in bytes. */
  public int sizeBytes() {
    return 1 + 4 * size();
  }

  public void write(WireOutput out) {
    out.writeCount(size());
    if (replica != null) {
      out.writeDot(replica, number);
    } else if (dots != null) {
      for (Dot dot : dots) {
        out.writeDot(dot);
      }
    }
  }

  public static DotSet read(WireInput in) {
    int n = in.readCount(2);
    if (n <= 1) {
      return n == 0 ? EMPTY : of(in.readDot());
    }
    Dot[] dots = new Dot[n];
    for (int i = 0; i < n; i++) {
      dots[i] = in.readDot();
      if (i > 0 && dots[i - 1].compareTo(dots[i]) >= 0) {
        throw new MalformedException("dots are not in order");
      }
    }
    return of(dots, n);
  }

  /** Skips an encoded set; returns whether it has a dot. */
  public static boolean skip(WireInput in) {
    int size = in.readCount(2);
    for (int n = size; n > 0; n--) {
      in.readReplica();
      in.readNumber();
    }
    return size > 0;
  }

  @Override
  public boolean equals(Object o) {
    if (o == this) {
      return true;
    }
    if (!(o instanceof DotSet d) || size() != d.size()) {
      return false;
    }
    return dots != null
        ? Arrays.equals(dots, d.dots)
        : replica == null || (number == d.number && replica.equals(d.replica));
  }

  @Override
  public int hashCode() {
    return dots != null
        ? Arrays.hashCode(dots)
        : replica == null ? 1 : 31 * replica.hashCode() + Long.hashCode(number);
  }

  @Override
  public String toString() {
    return dots != null ? Arrays.toString(dots) : replica == null ? "[]" : "[" + get(0) + "]";
  }
}
