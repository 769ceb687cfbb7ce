package io.osier.bench.history;

import io.osier.bench.history.History.Op;
import io.osier.bench.history.History.Txn;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The causal order of a history's transactions: the transitive closure of the sessions' orders, of
 * the clocks that sessions handed to others, and of reads from writers.
 *
 * <p>Each transaction has a vector with the number of transactions of each session that are before
 * it. A session that comes before no other transaction needs no place in the vectors.
 */
final class Causality {
  /** The history is not causally consistent. */
  static final class Inconsistency extends Exception {
    private static final long serialVersionUID = 1L;

    Inconsistency(String message) {
      super(message);
    }
  }

  /**
   * A read of what others wrote.
   *
   * @param from the transaction that wrote the value, −1 for "never written"
   */
  record Seen(Op op, int from) {}

  private final List<Txn> txns;
  private final Map<Integer, Integer> byNumber = new HashMap<>();
  private final Map<Long, Integer> writers = new HashMap<>();
  private final List<List<Integer>> direct = new ArrayList<>();
  private final List<List<Seen>> seen = new ArrayList<>();

  /**
   * By transaction, its session's place in the vectors (−1 for none) and its own in the session.
   */
  private final int[] chain;

  private final int[] position;
  private final int[][] vectors;

  /** By key, by place in the vectors: the writers of the key, in their order. */
  private final Map<Integer, Map<Integer, List<Integer>>> writersOf = new HashMap<>();

  /**
   * Computes the order of transactions.
   *
   * @throws Inconsistency if a read contradicts its own transaction, or shows a value that is no
   *     transaction's last write to the key, or if causality has a cycle
   */
  Causality(List<Txn> txns) throws Inconsistency {
    this.txns = txns;
    this.chain = new int[txns.size()];
    this.position = new int[txns.size()];
    this.vectors = new int[txns.size()][];
    for (int t = 0; t < txns.size(); t++) {
      byNumber.put(txns.get(t).number(), t);
      for (Map.Entry<Integer, Long> e : lastWrites(t).entrySet()) {
        writers.put(e.getValue(), t);
      }
    }
    for (int t = 0; t < txns.size(); t++) {
      seen.add(reads(t));
    }
    int chains = place();
    List<Integer> order = Cycles.order(direct);
    if (order.size() < txns.size()) {
      throw new Inconsistency("causality has a cycle: " + named(Cycles.any(direct, order)));
    }
    for (int t : order) {
      vectors[t] = new int[chains];
      for (int before : direct.get(t)) {
        for (int c = 0; c < chains; c++) {
          vectors[t][c] = Math.max(vectors[t][c], vectors[before][c]);
        }
        if (chain[before] >= 0) {
          int at = chain[before];
          vectors[t][at] = Math.max(vectors[t][at], position[before] + 1);
        }
      }
    }
  }

  private Map<Integer, Long> lastWrites(int t) {
    Map<Integer, Long> last = new HashMap<>();
    for (Op op : txns.get(t).ops()) {
      if (op.write()) {
        last.put(op.key(), op.value());
      }
    }
    return last;
  }

  /**
   * Returns a transaction's reads of values that others wrote. A key that it wrote or read before
   * must show the same value again.
   */
  private List<Seen> reads(int t) throws Inconsistency {
    Map<Integer, Long> own = new HashMap<>();
    Map<Integer, Long> read = new HashMap<>();
    List<Seen> reads = new ArrayList<>();
    for (Op op : txns.get(t).ops()) {
      if (op.write()) {
        own.put(op.key(), op.value());
        continue;
      }
      Long expected = own.getOrDefault(op.key(), read.get(op.key()));
      if (expected != null && expected != op.value()) {
        throw new Inconsistency(name(t) + " read " + op + " where it must read " + expected);
      }
      if (op.value() == History.ABORTED) {
        throw new Inconsistency(name(t) + " read " + op + ", which was aborted");
      }
      if (!own.containsKey(op.key()) && read.put(op.key(), op.value()) == null) {
        Integer from = op.value() == 0 ? Integer.valueOf(-1) : writers.get(op.value());
        if (from == null) {
          throw new Inconsistency(name(t) + " read " + op + ", which nobody wrote in the end");
        }
        reads.add(new Seen(op, from));
      }
    }
    return reads;
  }

  /** Notes direct predecessors, gives sessions their places, and returns the number of places. */
  private int place() {
    Map<Integer, Integer> last = new HashMap<>();
    Set<Integer> followed = new HashSet<>();
    for (int t = 0; t < txns.size(); t++) {
      Set<Integer> before = new HashSet<>();
      Integer previous = last.put(txns.get(t).session(), t);
      position[t] = previous == null ? 0 : position[previous] + 1;
      if (previous != null) {
        before.add(previous);
      }
      txns.get(t).after().forEach(number -> before.add(byNumber.get(number)));
      seen.get(t).stream().filter(s -> s.from() >= 0).forEach(s -> before.add(s.from()));
      direct.add(List.copyOf(before));
      before.forEach(b -> followed.add(txns.get(b).session()));
    }
    Map<Integer, Integer> chains = new HashMap<>();
    for (int t = 0; t < txns.size(); t++) {
      int session = txns.get(t).session();
      boolean placed = followed.contains(session);
      chain[t] = placed ? chains.computeIfAbsent(session, s -> chains.size()) : -1;
      if (placed) {
        for (int key : lastWrites(t).keySet()) {
          writersOf
              .computeIfAbsent(key, k -> new HashMap<>())
              .computeIfAbsent(chain[t], c -> new ArrayList<>())
              .add(t);
        }
      }
    }
    return chains.size();
  }

  /** Returns the number n of transactions, which are numbered 0 to n − 1. */
  int size() {
    return txns.size();
  }

  /** Returns the direct predecessors of each transaction. */
  List<List<Integer>> direct() {
    return direct;
  }

  /** Returns a transaction's reads of values that others wrote. */
  List<Seen> seen(int t) {
    return seen.get(t);
  }

  boolean isBefore(int a, int b) {
    return chain[a] >= 0 && vectors[b][chain[a]] > position[a];
  }

  /** Returns, of each session, the last transaction before {@code t} that wrote a key. */
  List<Integer> lastWritersBefore(int t, int key) {
    List<Integer> found = new ArrayList<>();
    writersOf
        .getOrDefault(key, Map.of())
        .forEach(
            (c, of) -> {
              int low = 0; // how many of them are before t
              int high = of.size();
              while (low < high) {
                int middle = (low + high) >>> 1;
                if (position[of.get(middle)] < vectors[t][c]) {
                  low = middle + 1;
                } else {
                  high = middle;
                }
              }
              if (low > 0) {
                found.add(of.get(low - 1));
              }
            });
    return found;
  }

  /** Returns a path from one transaction to a later one, each directly before the next. */
  List<Integer> path(int from, int to) {
    Map<Integer, Integer> next = new HashMap<>();
    List<Integer> queue = new ArrayList<>(List.of(to));
    for (int i = 0; i < queue.size() && !next.containsKey(from); i++) {
      for (int b : direct.get(queue.get(i))) {
        if (next.putIfAbsent(b, queue.get(i)) == null) {
          queue.add(b);
        }
      }
    }
    List<Integer> path = new ArrayList<>(List.of(from));
    while (path.getLast() != to) {
      path.add(next.get(path.getLast()));
    }
    return path;
  }

  String name(int t) {
    return txns.get(t).toString();
  }

  String named(List<Integer> some) {
    return String.join(" < ", some.stream().map(this::name).toList());
  }
}
