package io.osier.bench.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What clients did and saw: sessions of transactions of reads and writes, every written value being
 * written once. Whether that is causally consistent is for {@link Causality}, {@link CausalCheck}
 * and {@link ArbitrationCheck} to say.
 */
final class History {
  /** What is written by transactions that are then aborted: nobody may read it. */
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
   * A committed transaction, or the reads of one that was aborted.
   *
   * @param session its session: each transaction comes after the one before it
   * @param number its own
   * @param after the numbers of others that it comes after: its session had been given their clock
   * @param at the datacenter that served it, for messages
   */
  record Txn(int session, int number, List<Op> ops, List<Integer> after, String at) {
    Txn {
      ops = List.copyOf(ops);
      after = List.copyOf(after);
    }

    Txn(int session, int number, List<Op> ops) {
      this(session, number, ops, List.of());
    }

    Txn(int session, int number, List<Op> ops, List<Integer> after) {
      this(session, number, ops, after, "");
    }

    @Override
    public String toString() {
      StringBuilder text = new StringBuilder();
      text.append(number)
          .append(" of session ")
          .append(session)
          .append(' ')
          .append(at)
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

  /**
   * One line an operation: {@code r(key,value,session,txn)} or {@code w(…)}. What a transaction
   * comes after is not in them, but for the order of its session.
   */
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
    try {
      Causality causality = new Causality(txns);
      new CausalCheck(causality).run();
      new ArbitrationCheck(causality).run();
      return Optional.empty();
    } catch (Inconsistency e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }
}
