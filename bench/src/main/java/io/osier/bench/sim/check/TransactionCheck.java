package io.osier.bench.sim.check;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Transactional causal consistency, by its definition and from what clients saw alone. Every
 * transaction writes some of a few places, as {@link TransactionView} says, and a snapshot shows
 * all of them. Then:
 *
 * <ul>
 *   <li>atomic: a transaction is in all of its places or in none, and the counter is the number of
 *       transactions that are seen;
 *   <li>causal: with a transaction everything is seen that it had seen itself, and all that its
 *       session had seen or done before it;
 *   <li>monotone: a session never loses sight of what it saw or did;
 *   <li>repeatable: within a transaction nothing changes but by itself;
 *   <li>arbitrated: whatever decides by time shows the last of the transactions that are seen, by
 *       one order of all, which extends causality;
 *   <li>cleared: of the bins, which all transactions write alike, none shows what another does not,
 *       nor what a transaction has seen that cleared them and is seen;
 *   <li>what was aborted, or refused, is never seen, and what was acknowledged is there in the end.
 * </ul>
 */
public final class TransactionCheck {
  /** What became of a transaction, as far as its client knows. */
  public enum Outcome {
    UNKNOWN,
    COMMITTED,
    NEVER
  }

  private static final class Known {
    final Set<Integer> places;
    final BitSet past;
    Outcome outcome = Outcome.UNKNOWN;

    /** The replica where it has ended; null before. */
    @Nullable ReplicaId at;

    Known(Set<Integer> places, BitSet past) {
      this.places = places;
      this.past = past;
    }
  }

  /** No transactions; not to be changed. */
  public static final BitSet NONE = new BitSet(0);

  private final Unit unit;
  private final Map<Integer, Known> known = new HashMap<>();
  private final ArbitrationCheck arbitration = new ArbitrationCheck();
  private int numbers;
  private long snapshots;

  public TransactionCheck(Unit unit) {
    this.unit = unit;
  }

  /** How many snapshots were checked. */
  public long snapshots() {
    return snapshots;
  }

  /**
   * A transaction is about to be asked for.
   *
   * @param places where it writes
   * @param past what its session has seen and done
   * @return its number
   */
  public int begins(Set<Integer> places, BitSet past) {
    known.put(++numbers, new Known(places, (BitSet) past.clone()));
    return numbers;
  }

  /** Notes that a transaction has seen others in its snapshot. */
  public void saw(int number, BitSet seen) {
    known(number).past.or(seen);
  }

  /**
   * The client knows what became of a transaction.
   *
   * @param at where it was committed; not needed otherwise
   */
  public void ended(int number, Outcome outcome, @Nullable ReplicaId at) {
    Known tx = known(number);
    tx.outcome = outcome;
    tx.at = at;
  }

  private Known known(int number) {
    return requireNonNull(known.get(number), "a transaction that has begun");
  }

  /**
   * Checks a snapshot.
   *
   * @param own the transaction that read it, if it has written already; otherwise 0
   * @param wanted what the session had seen or done
   */
  public void snapshot(String who, ReplicaId at, TransactionView view, int own, BitSet wanted) {
    snapshots++;
    BitSet all = view.all();
    for (int number = all.nextSetBit(0); number >= 0; number = all.nextSetBit(number + 1)) {
      Known tx = known.get(number);
      if (tx == null || tx.outcome == Outcome.NEVER) {
        throw violation("%s at %s sees transaction %d, which was never committed", who, at, number);
      }
      for (int i = 0; i < TransactionView.PLACES; i++) {
        if (tx.places.contains(i) != view.numbers().get(i).get(number)) {
          throw violation(
              "%s at %s sees a part of transaction %d, which wrote %s: %s",
              who, at, number, tx.places, view);
        }
      }
      BitSet missing = number == own ? NONE : missing(tx.past, all);
      if (!missing.isEmpty()) {
        throw violation(
            "%s at %s sees transaction %d without %s, which it had seen", who, at, number, missing);
      }
    }
    if (view.count() != all.cardinality()) {
      throw violation(
          "%s at %s sees %d transactions, and the counter is %d",
          who, at, all.cardinality(), view.count());
    }
    BitSet missing = missing(wanted, all);
    if (!missing.isEmpty()) {
      throw violation("%s lost sight of %s at %s", who, missing, at);
    }
    for (int i = 0; i < TransactionView.PLACES; i++) {
      winner(who, at, view, i);
    }
    bins(who, at, view, all);
  }

  private void bins(String who, ReplicaId at, TransactionView view, BitSet all) {
    BitSet first = view.bins().getFirst();
    if (!view.bins().stream().allMatch(first::equals) || !missing(first, all).isEmpty()) {
      throw violation("%s at %s sees a part of what was done to the bins: %s", who, at, view);
    }
    for (int number = all.nextSetBit(0); number >= 0; number = all.nextSetBit(number + 1)) {
      if (TransactionView.clears(number) && first.intersects(known(number).past)) {
        throw violation(
            "%s at %s sees transaction %d, and in the bins what that had seen and cleared: %s",
            who, at, number, view);
      }
    }
  }

  /** Whatever decides by time at a place shows one transaction, to which all others seen lost. */
  private void winner(String who, ReplicaId at, TransactionView view, int place) {
    BitSet writers = view.numbers().get(place);
    long winner = view.registers().get(place);
    boolean written =
        writers.isEmpty()
            ? winner == 0
            : winner > 0 && winner <= numbers && writers.get((int) winner);
    boolean agreed =
        view.fields().get(place) == winner
            && view.added().get(place) == (winner != 0 && TransactionView.adds(winner));
    if (!written || !agreed) {
      throw violation(
          "%s at %s sees several winners at place %d, or none, of %s: register %d, field %d, set"
              + " %s",
          who, at, place, writers, winner, view.fields().get(place), view.added().get(place));
    }
    if (winner != 0) {
      arbitration.after((int) winner, writers);
    }
  }

  /** Checks two reads of one snapshot. */
  public void repeated(String who, TransactionView first, TransactionView second, int own) {
    if (!second.equals(own == 0 ? first : first.with(own, known(own).places))) {
      throw violation(
          "%s read %s and then %s in one transaction (its own is %d)", who, first, second, own);
    }
  }

  /** At the end: the order of all transactions that were ever seen. */
  public void ended() {
    known.forEach((number, tx) -> arbitration.after(number, tx.past));
    List<Integer> cycle = arbitration.cycle();
    if (!cycle.isEmpty()) {
      List<String> places = new ArrayList<>();
      cycle.forEach(n -> places.add(n + " at " + known(n).at + " of " + known(n).places));
      throw violation(
          "each of these had been seen by the next, or lost to it, and so the last by the first:"
              + " %s",
          places);
    }
  }

  /** At the end: everything acknowledged by who kept its memory is there. */
  public void ended(ReplicaId at, TransactionView view, Set<ReplicaId> lost) {
    BitSet all = view.all();
    known.forEach(
        (number, tx) -> {
          if (tx.outcome == Outcome.COMMITTED && !lost.contains(tx.at) && !all.get(number)) {
            throw violation("%s lacks transaction %d of %s", at, number, tx.at);
          }
        });
  }

  /** The wanted transactions that are not there. */
  private static BitSet missing(BitSet wanted, BitSet there) {
    BitSet missing = (BitSet) wanted.clone();
    missing.andNot(there);
    return missing;
  }

  private Violation violation(String message, @Nullable Object... parameters) {
    return new Violation(unit + "/txn", message, parameters);
  }
}
