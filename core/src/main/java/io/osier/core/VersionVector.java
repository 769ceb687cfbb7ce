package io.osier.core;

import io.osier.core.memory.HeapSize;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Maps each replica to a commit number: "all updates of that replica up to here". A missing entry
 * is 0. Immutable and safe for any thread; entries are kept sorted, so equal vectors have equal
 * forms.
 */
public final class VersionVector {
  /** The vector without entries. */
  public static final VersionVector EMPTY = new VersionVector(new ReplicaId[0], new long[0]);

  private final ReplicaId[] replicas;
  private final long[] numbers;

  private VersionVector(ReplicaId[] replicas, long[] numbers) {
    this.replicas = replicas;
    this.numbers = numbers;
  }

  /** Returns a vector of arrays that are in its order and never change; they are not copied. */
  static VersionVector trusted(ReplicaId[] replicas, long[] numbers) {
    return numbers.length == 0 ? EMPTY : new VersionVector(replicas, numbers);
  }

  /** Returns about how many bytes the vector takes in the heap; the replicas' names are shared. */
  public long heapBytes() {
    return numbers.length == 0
        ? 0
        : HeapSize.object(2 * HeapSize.REFERENCE)
            + HeapSize.array(numbers.length, HeapSize.REFERENCE)
            + HeapSize.array(numbers.length, Long.BYTES);
  }

  /** Returns a vector of one entry; {@code number} 0 gives {@link #EMPTY}. */
  public static VersionVector of(ReplicaId replica, long number) {
    return EMPTY.with(replica, number);
  }

  /** Returns a vector of the map's entries. */
  public static VersionVector of(Map<ReplicaId, Long> entries) {
    TreeMap<ReplicaId, Long> sorted = new TreeMap<>(entries);
    sorted.values().removeIf(n -> n == 0);
    ReplicaId[] rs = sorted.keySet().toArray(new ReplicaId[0]);
    long[] ns = sorted.values().stream().mapToLong(VersionVector::checkNumber).toArray();
    return new VersionVector(rs, ns);
  }

  /**
   * Returns a vector of entries in its own order: replicas ascending, numbers at least 1.
   *
   * @throws IllegalArgumentException if they are not
   */
  public static VersionVector ofSorted(List<ReplicaId> replicas, long[] numbers) {
    for (int i = 0; i < numbers.length; i++) {
      if (numbers[i] < 1 || (i > 0 && replicas.get(i - 1).compareTo(replicas.get(i)) >= 0)) {
        throw new IllegalArgumentException("a version vector's entries are not in order");
      }
    }
    return numbers.length == 0
        ? EMPTY
        : new VersionVector(replicas.toArray(new ReplicaId[0]), numbers.clone());
  }

  private static long checkNumber(long number) {
    if (number < 0) {
      throw new IllegalArgumentException("commit number must not be negative: " + number);
    }
    return number;
  }

  /** Returns the commit number of the replica; 0 if it has no entry. */
  public long get(ReplicaId replica) {
    int i = Arrays.binarySearch(replicas, replica);
    return i < 0 ? 0 : numbers[i];
  }

  /** Returns this vector with one entry set to exactly {@code number} (0 removes it). */
  public VersionVector with(ReplicaId replica, long number) {
    checkNumber(number);
    int i = Arrays.binarySearch(replicas, replica);
    if (i >= 0) {
      if (numbers[i] == number) {
        return this;
      }
      if (number == 0) {
        return without(i);
      }
      long[] ns = numbers.clone();
      ns[i] = number;
      return new VersionVector(replicas, ns);
    }
    if (number == 0) {
      return this;
    }
    int at = -i - 1;
    ReplicaId[] rs = new ReplicaId[replicas.length + 1];
    long[] ns = new long[rs.length];
    System.arraycopy(replicas, 0, rs, 0, at);
    System.arraycopy(numbers, 0, ns, 0, at);
    rs[at] = replica;
    ns[at] = number;
    System.arraycopy(replicas, at, rs, at + 1, replicas.length - at);
    System.arraycopy(numbers, at, ns, at + 1, numbers.length - at);
    return new VersionVector(rs, ns);
  }

  private VersionVector without(int at) {
    ReplicaId[] rs = new ReplicaId[replicas.length - 1];
    long[] ns = new long[rs.length];
    System.arraycopy(replicas, 0, rs, 0, at);
    System.arraycopy(numbers, 0, ns, 0, at);
    System.arraycopy(replicas, at + 1, rs, at, rs.length - at);
    System.arraycopy(numbers, at + 1, ns, at, rs.length - at);
    return new VersionVector(rs, ns);
  }

  /** Returns this vector with the entry raised to {@code number} if it is lower. */
  public VersionVector raised(ReplicaId replica, long number) {
    return get(replica) >= number ? this : with(replica, number);
  }

  /** Returns the least upper bound: for each entry the larger number. */
  public VersionVector join(VersionVector other) {
    if (other.replicas.length == 0 || other == this) {
      return this;
    }
    if (replicas.length == 0) {
      return other;
    }
    if (other.isAtMost(this)) {
      return this;
    }
    int n = replicas.length;
    int m = other.replicas.length;
    ReplicaId[] rs = new ReplicaId[n + m];
    long[] ns = new long[n + m];
    int size = 0;
    int i = 0;
    int j = 0;
    while (i < n || j < m) {
      int order = i == n ? 1 : j == m ? -1 : replicas[i].compareTo(other.replicas[j]);
      rs[size] = order <= 0 ? replicas[i] : other.replicas[j];
      ns[size++] =
          order < 0
              ? numbers[i]
              : order > 0 ? other.numbers[j] : Math.max(numbers[i], other.numbers[j]);
      i += order <= 0 ? 1 : 0;
      j += order >= 0 ? 1 : 0;
    }
    return new VersionVector(Arrays.copyOf(rs, size), Arrays.copyOf(ns, size));
  }

  /** Returns the entries of this vector that are larger than the other one's. */
  public VersionVector beyond(VersionVector other) {
    VersionVector beyond = EMPTY;
    for (int i = 0; i < size(); i++) {
      if (number(i) > other.get(replica(i))) {
        beyond = beyond.with(replica(i), number(i));
      }
    }
    return beyond;
  }

  /** Whether every entry here is at most the other's: the order of the lattice. */
  public boolean isAtMost(VersionVector other) {
    for (int i = 0; i < replicas.length; i++) {
      if (other.get(replicas[i]) < numbers[i]) {
        return false;
      }
    }
    return true;
  }

  /** Returns the number of entries. */
  public int size() {
    return replicas.length;
  }

  /** Whether the vector has no entries. */
  public boolean isEmpty() {
    return replicas.length == 0;
  }

  /** Returns the replica of the i-th entry, in the order of {@link ReplicaId#compareTo}. */
  public ReplicaId replica(int i) {
    return replicas[i];
  }

  /** Returns the commit number of the i-th entry. */
  public long number(int i) {
    return numbers[i];
  }

  @Override
  public boolean equals(Object o) {
    return o == this
        || (o instanceof VersionVector v
            && Arrays.equals(replicas, v.replicas)
            && Arrays.equals(numbers, v.numbers));
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(replicas) * 31 + Arrays.hashCode(numbers);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < replicas.length; i++) {
      text.append(i == 0 ? "" : ", ").append(replicas[i]).append(':').append(numbers[i]);
    }
    return text.append('}').toString();
  }
}
