package io.osier.core;

import java.util.Arrays;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Collects dots in any order, and builds causal contexts of them. Dots are not kept as objects: the
 * removal of a large set names one for each element. Not thread-safe.
 */
public final class DotCollector {
  private static final int ROOM_MIN = 4;

  private ReplicaId[] replicas = new ReplicaId[0];
  private long[] numbers = new long[0];
  private int size;

  public DotCollector() {}

  /** Adds a dot, which may have been added before. */
  public void add(ReplicaId replica, long number) {
    if (size == numbers.length) {
      int room = Math.max(ROOM_MIN, 2 * size);
      replicas = Arrays.copyOf(replicas, room);
      numbers = Arrays.copyOf(numbers, room);
    }
    replicas[size] = replica;
    numbers[size++] = number;
  }

  /** Returns how many dots were added. */
  public int size() {
    return size;
  }

  /** Returns the context of all added dots. */
  public CausalContext context() {
    return context(0, size);
  }

  /**
   * Returns the context of some of the added dots.
   *
   * @param from how many dots had been added before the first of them
   * @param to how many dots had been added with the last of them
   */
  public CausalContext context(int from, int to) {
    if (from == to) {
      return CausalContext.EMPTY;
    }
    ReplicaId first = replicas[from];
    int same = from + 1;
    while (same < to && isSame(first, replicas[same])) {
      same++;
    }
    if (same == to) {
      return CausalContext.trusted(
          new ReplicaId[] {first}, new long[][] {ranges(Arrays.copyOfRange(numbers, from, to))});
    }
    SortedMap<ReplicaId, DotCollector> byReplica = new TreeMap<>();
    DotCollector one = null;
    for (int i = from; i < to; i++) {
      if (one == null || !isSame(replicas[i], replicas[i - 1])) {
        one = byReplica.computeIfAbsent(replicas[i], r -> new DotCollector());
      }
      one.add(replicas[i], numbers[i]);
    }
    return CausalContext.trusted(
        byReplica.keySet().toArray(new ReplicaId[0]),
        byReplica.values().stream().map(DotCollector::ranges).toArray(long[][]::new));
  }

  private static boolean isSame(ReplicaId one, @Nullable ReplicaId other) {
    return one == other || one.equals(other);
  }

  private long[] ranges() {
    return ranges(Arrays.copyOf(numbers, size));
  }

  /** Returns the ranges of one replica's numbers; sorts the numbers. */
  private static long[] ranges(long[] of) {
    Arrays.sort(of);
    long[] ranges = new long[2 * of.length];
    int n = 0;
    for (long number : of) {
      if (n > 0 && ranges[n - 1] >= number - 1) {
        ranges[n - 1] = number;
      } else {
        ranges[n++] = number - 1;
        ranges[n++] = number;
      }
    }
    return n == ranges.length ? ranges : Arrays.copyOf(ranges, n);
  }
}
