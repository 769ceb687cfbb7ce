package io.osier.bench.history;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What clients did and saw: sessions of transactions of reads and writes, every written value being
 * written once. And whether that is causally consistent, by the definition of Bouajjani, Enea,
 * Guerraoui and Hamza, "On Verifying Causal Consistency" (2017), for transactions: with causality
 * the transitive closure of the sessions' orders and of who read from whom,
 *
 * <ul>
 *   <li>every value that was read was written, by a committed transaction's last write of the key;
 *   <li>causality has no cycle;
 *   <li>nobody reads a value of a key although another write of it lies causally between;
 *   <li>nobody reads "never written" although a write of the key lies causally before.
 * </ul>
 */
final class History {
  /**
   * A read or a write.
   *
   * @param value 0 for "never written"
   */
  record Op(boolean write, int key, long value) {}

  /** A committed transaction. */
  record Txn(int session, int number, List<Op> ops) {}

  private final List<Txn> txns = new ArrayList<>();

  /** Adds a transaction; those of one session in their order. */
  void add(Txn txn) {
    txns.add(txn);
  }

  List<Txn> txns() {
    return txns;
  }

  /** One line an operation: {@code r(key,value,session,txn)} or {@code w(…)}. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Txn txn : txns) {
      for (Op op : txn.ops) {
        lines.add(
            (op.write ? "w(" : "r(")
                + op.key
                + ","
                + op.value
                + ","
                + txn.session
                + ","
                + txn.number
                + ")");
      }
    }
    return lines;
  }

  /** What is wrong, if anything is. */
  Optional<String> violation() {
    int n = txns.size();
    Map<Long, Integer> writer = new HashMap<>();
    Map<Integer, List<Integer>> writersOf = new HashMap<>();
    for (int t = 0; t < n; t++) {
      Map<Integer, Long> last = new HashMap<>();
      for (Op op : txns.get(t).ops) {
        if (op.write) {
          last.put(op.key, op.value);
        }
      }
      for (Map.Entry<Integer, Long> e : last.entrySet()) {
        writer.put(e.getValue(), t);
        writersOf.computeIfAbsent(e.getKey(), k -> new ArrayList<>()).add(t);
      }
    }
    BitSet[] before = new BitSet[n];
    Map<Integer, Integer> lastOf = new HashMap<>();
    for (int t = 0; t < n; t++) {
      before[t] = new BitSet(n);
      Integer previous = lastOf.put(txns.get(t).session, t);
      if (previous != null) {
        before[t].set(previous);
      }
      Optional<String> wrong = readFrom(t, writer, before[t]);
      if (wrong.isPresent()) {
        return wrong;
      }
    }
    Optional<String> cycle = close(before);
    if (cycle.isPresent()) {
      return cycle;
    }
    for (int t = 0; t < n; t++) {
      Optional<String> wrong = overwritten(t, writer, writersOf, before);
      if (wrong.isPresent()) {
        return wrong;
      }
    }
    return Optional.empty();
  }

  /** Notes from whom a transaction read; own writes are to be read back. */
  private Optional<String> readFrom(int t, Map<Long, Integer> writer, BitSet before) {
    Map<Integer, Long> own = new HashMap<>();
    Map<Integer, Long> read = new HashMap<>();
    for (Op op : txns.get(t).ops) {
      if (op.write) {
        own.put(op.key, op.value);
        continue;
      }
      Long expected = own.getOrDefault(op.key, read.get(op.key));
      if (expected != null && expected != op.value) {
        return Optional.of(txns.get(t) + " read " + op + " where it must read " + expected);
      }
      if (own.containsKey(op.key)) {
        continue;
      }
      read.put(op.key, op.value);
      if (op.value != 0) {
        Integer from = writer.get(op.value);
        if (from == null) {
          return Optional.of(txns.get(t) + " read " + op + ", which nobody wrote in the end");
        }
        before.set(from);
      }
    }
    return Optional.empty();
  }

  /** The transitive closure, in the order in which transactions can come; or a cycle. */
  private Optional<String> close(BitSet[] before) {
    int n = before.length;
    boolean[] done = new boolean[n];
    int left = n;
    while (left > 0) {
      int found = 0;
      for (int t = 0; t < n; t++) {
        if (done[t]) {
          continue;
        }
        boolean ready = true;
        for (int p = before[t].nextSetBit(0); p >= 0; p = before[t].nextSetBit(p + 1)) {
          ready &= done[p];
        }
        if (ready) {
          BitSet direct = (BitSet) before[t].clone();
          for (int p = direct.nextSetBit(0); p >= 0; p = direct.nextSetBit(p + 1)) {
            before[t].or(before[p]);
          }
          done[t] = true;
          found++;
        }
      }
      if (found == 0) {
        return Optional.of("causality has a cycle");
      }
      left -= found;
    }
    return Optional.empty();
  }

  private Optional<String> overwritten(
      int t, Map<Long, Integer> writer, Map<Integer, List<Integer>> writersOf, BitSet[] before) {
    Map<Integer, Long> own = new HashMap<>();
    for (Op op : txns.get(t).ops) {
      if (op.write) {
        own.put(op.key, op.value);
      } else if (!own.containsKey(op.key)) {
        Integer from = op.value == 0 ? null : writer.get(op.value);
        for (int other : writersOf.getOrDefault(op.key, List.of())) {
          boolean between =
              other != t
                  && before[t].get(other)
                  && (from == null || (other != from && before[other].get(from)));
          if (between) {
            return Optional.of(
                txns.get(t) + " read " + op + " although it comes after " + txns.get(other));
          }
        }
      }
    }
    return Optional.empty();
  }
}
