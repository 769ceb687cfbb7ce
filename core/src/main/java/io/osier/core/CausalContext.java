package io.osier.core;

import io.osier.core.memory.HeapSize;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The set of dots that a state or a delta has seen: per replica, disjoint ranges of commit numbers.
 *
 * <p>A state's context is nearly always one range {@code (0, n]} per replica, which is a version
 * vector; a delta's is the range {@code (predecessor, last]} of its origin and the dots that it
 * removes. A range may span commit numbers that belong to other objects of the partition: they name
 * no dot of this object, so covering them says nothing, and keeps the form small.
 *
 * <p>Immutable and safe for any thread. Equal sets have equal forms. After the causal context of
 * Almeida, Shoker and Baquero, "Delta State Replicated Data Types" (2016), with the dot cloud kept
 * as ranges.
 */
public final class CausalContext {
  /** The empty context. */
  public static final CausalContext EMPTY = new CausalContext(new ReplicaId[0], new long[0][]);

  /** With more replicas than this, a lookup searches instead of scanning. */
  private static final int SCANNED_MAX = 8;

  /** Sorted by {@link ReplicaId#compareTo}. */
  private final ReplicaId[] replicas;

  /**
   * Per replica: lo1, hi1, lo2, hi2, …, each pair the range (lo, hi]; ascending, with lo(i+1) >
   * hi(i), so that touching ranges are always one. Never empty.
   */
  private final long[][] ranges;

  private CausalContext(ReplicaId[] replicas, long[][] ranges) {
    this.replicas = replicas;
    this.ranges = ranges;
  }

  /** Returns the context of one dot. */
  public static CausalContext of(Dot dot) {
    return range(dot.replica(), dot.number() - 1, dot.number());
  }

  /**
   * Returns the context of one replica's commit numbers in {@code (after, through]}.
   *
   * @throws IllegalArgumentException unless 0 ≤ after &lt; through
   */
  public static CausalContext range(ReplicaId replica, long after, long through) {
    NumberRanges.check(after, through);
    return new CausalContext(new ReplicaId[] {replica}, new long[][] {new long[] {after, through}});
  }

  /** Returns a context of arrays that are in its form and never change; they are not copied. */
  static CausalContext trusted(ReplicaId[] replicas, long[][] ranges) {
    return new CausalContext(replicas, ranges);
  }

  /**
   * Builds a context from ranges in its own order: replicas ascending, and each one's ranges
   * ascending and not touching. Costs O(1) a range, where joining them one by one would cost O(n).
   * Not thread-safe.
   */
  public static final class Builder {
    private final List<ReplicaId> replicas = new ArrayList<>();
    private final List<long[]> ranges = new ArrayList<>();
    private long[] current = new long[2];
    private int size;

    public Builder() {}

    /**
     * Adds the replica's commit numbers in {@code (after, through]}.
     *
     * @throws IllegalArgumentException if the range is empty or not behind the last one
     */
    public Builder add(ReplicaId replica, long after, long through) {
      NumberRanges.check(after, through);
      int order = replicas.isEmpty() ? -1 : replicas.getLast().compareTo(replica);
      if (order > 0 || (order == 0 && after <= current[size - 1])) {
        throw new IllegalArgumentException("a causal context's ranges are not in order");
      }
      if (order < 0) {
        finishReplica();
        replicas.add(replica);
        size = 0;
      }
      if (size == current.length) {
        current = Arrays.copyOf(current, 2 * size);
      }
      current[size++] = after;
      current[size++] = through;
      return this;
    }

    private void finishReplica() {
      if (!replicas.isEmpty()) {
        ranges.add(Arrays.copyOf(current, size));
      }
    }

    /** Returns the context; the builder must not be used afterwards. */
    public CausalContext build() {
      finishReplica();
      return replicas.isEmpty()
          ? EMPTY
          : new CausalContext(replicas.toArray(new ReplicaId[0]), ranges.toArray(new long[0][]));
    }
  }

  /** Returns about how many bytes the context takes in the heap; the replicas' names are shared. */
  public long heapBytes() {
    if (replicas.length == 0) {
      return 0;
    }
    long bytes =
        HeapSize.object(2 * HeapSize.REFERENCE)
            + 2 * HeapSize.array(replicas.length, HeapSize.REFERENCE);
    for (long[] r : ranges) {
      bytes += HeapSize.array(r.length, Long.BYTES);
    }
    return bytes;
  }

  /** Whether the context contains the dot. */
  public boolean contains(Dot dot) {
    return contains(dot.replica(), dot.number());
  }

  /** Whether the context contains the replica's commit number. */
  public boolean contains(ReplicaId replica, long number) {
    int i = indexOf(replica);
    if (i < 0) {
      return false;
    }
    long[] r = ranges[i];
    int k = NumberRanges.firstEndingAt(r, number);
    return k < r.length && r[k] < number;
  }

  /** Returns the replica's largest commit number in the context; 0 if it has none. */
  public long last(ReplicaId replica) {
    int i = indexOf(replica);
    return i < 0 ? 0 : ranges[i][ranges[i].length - 1];
  }

  /** Returns the largest n such that every commit number 1..n of the replica is in the context. */
  public long through(ReplicaId replica) {
    int i = indexOf(replica);
    return i < 0 || ranges[i][0] != 0 ? 0 : ranges[i][1];
  }

  private int indexOf(ReplicaId replica) {
    if (replicas.length > SCANNED_MAX) {
      return Arrays.binarySearch(replicas, replica);
    }
    // A handful of replicas: a scan beats a binary search, and most lookups hit the same instance.
    for (int i = 0; i < replicas.length; i++) {
      if (replicas[i] == replica || replicas[i].equals(replica)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns this context with the replica's commit numbers in {@code (after, through]} added. */
  public CausalContext withRange(ReplicaId replica, long after, long through) {
    NumberRanges.check(after, through);
    int i = indexOf(replica);
    if (i < 0) {
      return joinAll(range(replica, after, through));
    }
    long[] r = ranges[i];
    long[] union;
    if (r.length == 2 && after >= r[0] && after <= r[1]) {
      // The common case: a state's single range grows at its end.
      union = through <= r[1] ? r : new long[] {r[0], through};
    } else {
      union = NumberRanges.union(r, new long[] {after, through});
    }
    if (union == r) {
      return this;
    }
    long[][] next = ranges.clone();
    next[i] = union;
    return new CausalContext(replicas, next);
  }

  /** Returns the union of both contexts. */
  public CausalContext join(CausalContext other) {
    if (other == this || other.replicas.length == 0) {
      return this;
    }
    if (replicas.length == 0) {
      return other;
    }
    if (other.replicas.length == 1 && other.ranges[0].length == 2) {
      // Nearly all deltas have this form.
      return withRange(other.replicas[0], other.ranges[0][0], other.ranges[0][1]);
    }
    return joinAll(other);
  }

  private CausalContext joinAll(CausalContext other) {
    int n = replicas.length;
    int m = other.replicas.length;
    ReplicaId[] rs = new ReplicaId[n + m];
    long[][] rg = new long[n + m][];
    int size = 0;
    int i = 0;
    int j = 0;
    boolean changed = false;
    while (i < n || j < m) {
      int order = i == n ? 1 : j == m ? -1 : compare(replicas[i], other.replicas[j]);
      if (order < 0) {
        rs[size] = replicas[i];
        rg[size++] = ranges[i++];
      } else if (order > 0) {
        rs[size] = other.replicas[j];
        rg[size++] = other.ranges[j++];
        changed = true;
      } else {
        rs[size] = replicas[i];
        long[] union = NumberRanges.union(ranges[i], other.ranges[j]);
        changed |= union != ranges[i];
        rg[size++] = union;
        i++;
        j++;
      }
    }
    return changed ? new CausalContext(Arrays.copyOf(rs, size), Arrays.copyOf(rg, size)) : this;
  }

  private static int compare(ReplicaId a, ReplicaId b) {
    return a == b ? 0 : a.compareTo(b);
  }

  /** Whether this context contains every dot of the other one. */
  public boolean covers(CausalContext other) {
    for (int j = 0; j < other.replicas.length; j++) {
      int i = indexOf(other.replicas[j]);
      if (i < 0 || !NumberRanges.covers(ranges[i], other.ranges[j])) {
        return false;
      }
    }
    return true;
  }

  /** Returns per replica the largest commit number in the context. */
  public VersionVector toVersionVector() {
    long[] last = new long[replicas.length];
    for (int i = 0; i < replicas.length; i++) {
      last[i] = ranges[i][ranges[i].length - 1];
    }
    return VersionVector.trusted(replicas, last);
  }

  /** Whether the context contains no dot. */
  public boolean isEmpty() {
    return replicas.length == 0;
  }

  /** Returns the number of replicas that have a dot here. */
  public int size() {
    return replicas.length;
  }

  /** Returns the replicas, in the order of {@link ReplicaId#compareTo}. */
  public List<ReplicaId> replicas() {
    return List.of(replicas);
  }

  /** Returns the i-th replica, in the order of {@link ReplicaId#compareTo}. */
  public ReplicaId replica(int i) {
    return replicas[i];
  }

  /** Returns how many ranges all replicas have together. */
  public int rangeCount() {
    int count = 0;
    for (long[] r : ranges) {
      count += r.length / 2;
    }
    return count;
  }

  /** Returns how many ranges the i-th replica has. */
  public int rangeCount(int i) {
    return ranges[i].length / 2;
  }

  /** Returns the exclusive start of the k-th range of the i-th replica. */
  public long rangeAfter(int i, int k) {
    return ranges[i][2 * k];
  }

  /** Returns the inclusive end of the k-th range of the i-th replica. */
  public long rangeLast(int i, int k) {
    return ranges[i][2 * k + 1];
  }

  @Override
  public boolean equals(Object o) {
    return o == this
        || (o instanceof CausalContext c
            && Arrays.equals(replicas, c.replicas)
            && Arrays.deepEquals(ranges, c.ranges));
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(replicas) * 31 + Arrays.deepHashCode(ranges);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < replicas.length; i++) {
      text.append(i == 0 ? "" : ", ").append(replicas[i]).append(':');
      for (int k = 0; k < ranges[i].length; k += 2) {
        text.append('(').append(ranges[i][k]).append(',').append(ranges[i][k + 1]).append(']');
      }
    }
    return text.append('}').toString();
  }
}
