package io.osier.bench.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A history of clients' sessions, which are sequences of transactions and programs of reads and
 * writes, and the check that it is causally consistent. Each value is written once.
 */
final class History {
  /** The value that transactions write which are then aborted; nobody may read it. */
  static final long ABORTED = -1;

  /**
   * A read or a write.
   *
   * @param value 0 for "never written"
   */
  record Op(boolean write, int key, long value) {
    @Override
    public String toString() {
      return (write ? "w" : "r") + key + "=" + value;
    }
  }

  /**
   * A committed transaction, or the reads of one that was aborted; or a program.
   *
   * @param session the number of its session; transactions of a session come after each other
   * @param after the numbers of other transactions that it comes after, by clocks handed to its
   *     session
   * @param at the datacenter that served it
   * @param isProgram whether it is a program, which that datacenter executed in one turn
   */
  record Txn(
      int session, int number, List<Op> ops, List<Integer> after, String at, boolean isProgram) {
    Txn {
      ops = List.copyOf(ops);
      after = List.copyOf(after);
    }

    @Override
    public String toString() {
      StringBuilder text = new StringBuilder();
      text.append(number)
          .append(" of session ")
          .append(session)
          .append(' ')
          .append(at)
          .append(isProgram ? " program" : "")
          .append(" [");
      ops.forEach(o -> text.append(o).append(' '));
      return text.append("after ").append(after).append(']').toString();
    }
  }

  private final List<Txn> txns = new ArrayList<>();

  /** Adds a transaction; those of one session in their order. */
  void add(Txn txn) {
    txns.add(txn);
  }

  List<Txn> txns() {
    return txns;
  }

  Optional<String> violation() {
    try {
      checkTurns();
      Causality causality = new Causality(txns);
      checkReads(causality);
      checkArbitration(causality);
      return Optional.empty();
    } catch (Causality.Inconsistency e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** A register's value that a program at a datacenter has read and replaced. */
  private record Replaced(String at, int key, long value) {}

  /** Checks that no two programs of one datacenter read and replace the same value. */
  private void checkTurns() throws Causality.Inconsistency {
    Map<Replaced, Txn> by = new HashMap<>();
    for (Txn txn : txns) {
      Map<Integer, Long> read = new HashMap<>();
      for (Op op : txn.isProgram ? txn.ops : List.<Op>of()) {
        if (!op.write) {
          read.putIfAbsent(op.key, op.value);
          continue;
        }
        Long value = read.put(op.key, op.value); // which is its own from now on
        Txn other = value == null ? null : by.putIfAbsent(new Replaced(txn.at, op.key, value), txn);
        if (other != null) {
          throw new Causality.Inconsistency(
              "both read and replaced r" + op.key + "=" + value + ": " + other + ", " + txn);
        }
      }
    }
  }

  /**
   * Causal consistency by the definition of Bouajjani, Enea, Guerraoui and Hamza, "On Verifying
   * Causal Consistency" (2017), for transactions, of a history whose causal order has no cycle:
   * nobody reads a value of a key although another write of it lies causally between, nor "never
   * written" although a write of the key lies causally before.
   */
  private static void checkReads(Causality causality) throws Causality.Inconsistency {
    for (int t = 0; t < causality.size(); t++) {
      for (Causality.Seen read : causality.seen(t)) {
        // If a session's writer lies between, so does its last writer before t.
        for (int other : causality.lastWritersBefore(t, read.op().key())) {
          boolean between = read.from() < 0 || causality.isBefore(read.from(), other);
          if (other != read.from() && between) {
            throw new Causality.Inconsistency(
                causality.name(t)
                    + " read "
                    + read.op()
                    + " although it comes after another write: "
                    + causality.named(causality.path(other, t)));
          }
        }
      }
    }
  }

  /**
   * Convergence, as the "last writer wins" of transactional causal consistency has it: there is one
   * order of all transactions which extends causality, and every read shows the last in this order
   * of the writes that are causally before it. Who read one write although another lay before it
   * has seen the other lose: it comes earlier in the order. So there is such an order if and only
   * if causality and these losses together have no cycle.
   */
  private static void checkArbitration(Causality causality) throws Causality.Inconsistency {
    List<Set<Integer>> before = new ArrayList<>();
    causality.direct().forEach(direct -> before.add(new HashSet<>(direct)));
    for (int t = 0; t < causality.size(); t++) {
      for (Causality.Seen read : causality.seen(t)) {
        // A session's other writers are before its last one.
        for (int loser : causality.lastWritersBefore(t, read.op().key())) {
          if (loser != read.from()) {
            before.get(read.from()).add(loser);
          }
        }
      }
    }
    List<Integer> order = Cycles.order(before);
    if (order.size() < causality.size()) {
      throw new Causality.Inconsistency(
          "each of these comes before the next, or was seen to lose to it, and so the last before"
              + " the first: "
              + causality.named(Cycles.any(before, order)));
    }
  }
}
