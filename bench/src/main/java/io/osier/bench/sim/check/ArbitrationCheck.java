package io.osier.bench.sim.check;

import static java.util.Objects.requireNonNull;

import io.osier.bench.history.Cycles;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One order of all transactions: it extends causality, and whatever decides by time shows at every
 * place the last of those that are seen and wrote there. There is such an order if and only if "had
 * seen" and "lost to" together have no cycle.
 */
final class ArbitrationCheck {
  /** By transaction, those that come before it. */
  private final Map<Integer, BitSet> before = new TreeMap<>();

  /** Notes that transactions come before one: it had seen them, or won where they wrote, too. */
  void after(int number, BitSet earlier) {
    BitSet set = before.computeIfAbsent(number, n -> new BitSet());
    set.or(earlier);
    set.clear(number);
  }

  private BitSet before(int number) {
    return requireNonNull(before.get(number), "what has no number comes before nothing");
  }

  /** A few transactions that each come before the next, the last before the first; or none. */
  List<Integer> cycle() {
    BitSet left = new BitSet();
    before.keySet().forEach(left::set);
    boolean fewer = true;
    while (fewer) {
      fewer = false;
      for (int n = left.nextSetBit(0); n >= 0; n = left.nextSetBit(n + 1)) {
        if (!before(n).intersects(left)) {
          left.clear(n);
          fewer = true;
        }
      }
    }
    return left.isEmpty() ? List.of() : shortest(left);
  }

  /** The shortest cycle through any of these, of which each comes after another one. */
  private List<Integer> shortest(BitSet left) {
    List<Integer> shortest = List.of();
    for (int start = left.nextSetBit(0); start >= 0; start = left.nextSetBit(start + 1)) {
      List<Integer> cycle = Cycles.over(start, n -> before(n).stream()::iterator, left);
      if (!cycle.isEmpty() && (shortest.isEmpty() || cycle.size() < shortest.size())) {
        shortest = cycle;
      }
    }
    return shortest;
  }
}
