package io.osier.bench.history;

import static java.util.Objects.requireNonNull;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Topological orders and cycles of a graph that is given by the direct predecessors of each node.
 */
public final class Cycles {
  private Cycles() {}

  /** Returns the nodes in topological order, without those that are on a cycle or behind one. */
  static List<Integer> order(List<? extends Iterable<Integer>> before) {
    int n = before.size();
    int[] missing = new int[n];
    List<List<Integer>> after = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      after.add(new ArrayList<>(2));
    }
    for (int i = 0; i < n; i++) {
      for (int b : before.get(i)) {
        after.get(b).add(i);
        missing[i]++;
      }
    }
    Deque<Integer> ready = new ArrayDeque<>();
    for (int i = 0; i < n; i++) {
      if (missing[i] == 0) {
        ready.add(i);
      }
    }
    List<Integer> order = new ArrayList<>(n);
    while (!ready.isEmpty()) {
      int i = ready.poll();
      order.add(i);
      for (int a : after.get(i)) {
        if (--missing[a] == 0) {
          ready.add(a);
        }
      }
    }
    return order;
  }

  /**
   * Returns a short cycle: each node is before the next, and the last before the first.
   *
   * @param order the result of {@link #order}, which lacks some nodes
   */
  static List<Integer> any(List<? extends Iterable<Integer>> before, List<Integer> order) {
    BitSet left = new BitSet();
    left.set(0, before.size());
    order.forEach(left::clear);
    return left.stream()
        .mapToObj(start -> over(start, before::get, left))
        .filter(cycle -> !cycle.isEmpty())
        .findFirst()
        .orElseThrow();
  }

  /**
   * Searches a short cycle through a node, breadth first over predecessors.
   *
   * @param before returns the direct predecessors of a node
   * @param left the nodes among which it is searched
   * @return each node is before the next, and the last before the first; empty if there is none
   */
  public static List<Integer> over(
      int start, IntFunction<? extends Iterable<Integer>> before, BitSet left) {
    Map<Integer, Integer> next = new HashMap<>();
    List<Integer> queue = new ArrayList<>(List.of(start));
    for (int i = 0; i < queue.size(); i++) {
      int at = queue.get(i);
      for (int b : before.apply(at)) {
        if (b == start) {
          List<Integer> cycle = new ArrayList<>(List.of(start));
          for (int n = at; n != start; n = requireNonNull(next.get(n), "a way back")) {
            cycle.add(n);
          }
          return cycle;
        }
        if (left.get(b) && next.putIfAbsent(b, at) == null) {
          queue.add(b);
        }
      }
    }
    return List.of();
  }
}
