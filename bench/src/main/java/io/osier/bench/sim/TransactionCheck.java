package io.osier.bench.sim;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.propagation.ObjectId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Transactional causal consistency, by its definition and from what clients saw alone. Every
 * transaction adds its number to some of a few sets, and 1 to a counter. A snapshot shows all of
 * the sets and the counter. Then:
 *
 * <ul>
 *   <li>atomic: a transaction is in all of its sets or in none, and the counter is the number of
 *       transactions that are seen;
 *   <li>causal: with a transaction everything is seen that it had seen itself, and all that its
 *       session had seen or done before it;
 *   <li>monotone: a session never loses sight of what it saw or did;
 *   <li>repeatable: within a transaction nothing changes but by itself;
 *   <li>what was aborted, or refused, is never seen, and what was acknowledged is there in the end.
 * </ul>
 */
final class TransactionCheck {
  static final int KEYS = 5;
  static final Key COUNT = Key.of("txn-count");

  /** What became of a transaction, as far as its client knows. */
  enum Outcome {
    UNKNOWN,
    COMMITTED,
    NEVER
  }

  private static final class Known {
    final Set<Integer> keys;
    final Set<Long> past;
    Outcome outcome = Outcome.UNKNOWN;
    ReplicaId at;

    Known(Set<Integer> keys, Set<Long> past) {
      this.keys = keys;
      this.past = past;
    }
  }

  private final Unit unit;
  private final Map<Long, Known> known = new HashMap<>();
  private long numbers;
  private long snapshots;

  TransactionCheck(Unit unit) {
    this.unit = unit;
  }

  /** The objects that a snapshot shows. */
  static List<ObjectId> objects() {
    List<ObjectId> objects = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      objects.add(new ObjectId(key(i), CrdtType.G_SET));
    }
    objects.add(new ObjectId(COUNT, CrdtType.PN_COUNTER));
    return objects;
  }

  static Key key(int i) {
    return Key.of("txn-" + i);
  }

  /** How many snapshots were checked. */
  long snapshots() {
    return snapshots;
  }

  /**
   * A transaction is about to be asked for.
   *
   * @param keys the sets that it writes
   * @param past what its session has seen and done
   * @return its number
   */
  long begins(Set<Integer> keys, Set<Long> past) {
    known.put(++numbers, new Known(keys, new TreeSet<>(past)));
    return numbers;
  }

  /** What a transaction's snapshot shows is before it. */
  void saw(long number, Set<Long> seen) {
    known.get(number).past.addAll(seen);
  }

  /** The client knows what became of a transaction. */
  void ended(long number, Outcome outcome, ReplicaId at) {
    known.get(number).outcome = outcome;
    known.get(number).at = at;
  }

  /** Reads a snapshot: by set, the numbers in it; under {@link #KEYS} the counter's value. */
  static Map<Integer, Set<Long>> view(List<Reading> readings) {
    Map<Integer, Set<Long>> view = new TreeMap<>();
    for (int i = 0; i < KEYS; i++) {
      Set<Long> numbers = new TreeSet<>();
      for (Value value : ((Reading.Many) readings.get(i)).values()) {
        numbers.add(((Value.Int) value).content());
      }
      view.put(i, numbers);
    }
    return view;
  }

  static Set<Long> all(Map<Integer, Set<Long>> view) {
    Set<Long> all = new TreeSet<>();
    view.values().forEach(all::addAll);
    return all;
  }

  /**
   * Checks a snapshot.
   *
   * @param own the transaction that read it, if it has written already; otherwise 0
   * @param wanted what the session had seen or done
   */
  void snapshot(
      String who,
      ReplicaId at,
      Map<Integer, Set<Long>> view,
      long counter,
      long own,
      Set<Long> wanted) {
    snapshots++;
    Set<Long> all = all(view);
    for (long number : all) {
      Known tx = known.get(number);
      if (tx == null || tx.outcome == Outcome.NEVER) {
        throw violation("%s at %s sees transaction %d, which was never committed", who, at, number);
      }
      for (int i = 0; i < KEYS; i++) {
        if (tx.keys.contains(i) != view.get(i).contains(number)) {
          throw violation(
              "%s at %s sees a part of transaction %d, which wrote %s: %s",
              who, at, number, tx.keys, view);
        }
      }
      if (number != own && !all.containsAll(tx.past)) {
        Set<Long> missing = new TreeSet<>(tx.past);
        missing.removeAll(all);
        throw violation(
            "%s at %s sees transaction %d without %s, which it had seen", who, at, number, missing);
      }
    }
    if (counter != all.size()) {
      throw violation(
          "%s at %s sees %d transactions, and the counter is %d", who, at, all.size(), counter);
    }
    if (!all.containsAll(wanted)) {
      Set<Long> missing = new TreeSet<>(wanted);
      missing.removeAll(all);
      throw violation("%s lost sight of %s at %s", who, missing, at);
    }
  }

  /** Two reads of one snapshot. */
  void repeated(
      String who, Map<Integer, Set<Long>> first, Map<Integer, Set<Long>> second, long own) {
    for (int i = 0; i < KEYS; i++) {
      Set<Long> expected = new TreeSet<>(first.get(i));
      if (own != 0 && known.get(own).keys.contains(i)) {
        expected.add(own);
      }
      if (!expected.equals(second.get(i))) {
        throw violation(
            "%s read %s and then %s in one transaction (its own is %d)", who, first, second, own);
      }
    }
  }

  /** At the end: everything acknowledged by who kept its memory is there. */
  void ended(ReplicaId at, Map<Integer, Set<Long>> view, Set<ReplicaId> lost) {
    Set<Long> all = all(view);
    known.forEach(
        (number, tx) -> {
          if (tx.outcome == Outcome.COMMITTED && !lost.contains(tx.at) && !all.contains(number)) {
            throw violation("%s lacks transaction %d of %s", at, number, tx.at);
          }
        });
  }

  private Violation violation(String message, Object... parameters) {
    return new Violation(unit + "/txn", message, parameters);
  }
}
