package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.adaptation.AdaptationSettings;
import io.osier.bench.sim.check.TransactionCheck.Outcome;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The check of arbitration finds transactions that win by halves, directly or through others. */
public final class ArbitrationCheckTest {
  private static final ReplicaId AT = new ReplicaId("eu", 1);

  private final TransactionCheck check =
      new TransactionCheck(
          new Unit(
              0, KeyspacePolicy.causal("k", Duration.ofSeconds(1)), 0, AdaptationSettings.DEFAULT));

  private int committed(Set<Integer> places, Integer... past) {
    int number = check.begins(places, numbers(List.of(past)));
    check.ended(number, Outcome.COMMITTED, AT);
    return number;
  }

  public static BitSet numbers(List<Integer> of) {
    BitSet numbers = new BitSet();
    of.forEach(numbers::set);
    return numbers;
  }

  /** Of five places, who wrote there, the winner first. */
  @SafeVarargs
  static TransactionView view(List<Integer>... places) {
    List<BitSet> numbers = new ArrayList<>();
    List<Long> winners = new ArrayList<>();
    List<Boolean> added = new ArrayList<>();
    BitSet all = new BitSet();
    for (int i = 0; i < TransactionView.PLACES; i++) {
      List<Integer> writers = i < places.length ? places[i] : List.of();
      numbers.add(numbers(writers));
      winners.add((long) (writers.isEmpty() ? 0 : writers.getFirst()));
      added.add(!writers.isEmpty() && TransactionView.adds(writers.getFirst()));
      writers.forEach(all::set);
    }
    return new TransactionView(
        numbers, all.cardinality(), winners, winners, added, List.of(all, all));
  }

  private void seen(TransactionView view) {
    check.snapshot("somebody", AT, view, 0, TransactionCheck.NONE);
  }

  @Test
  void oneWinner_isFine() {
    int one = committed(Set.of(0, 1));
    int two = committed(Set.of(0, 1));
    seen(view(List.of(one), List.of(one)));
    seen(view(List.of(two, one), List.of(two, one)));
    check.ended();
  }

  @Test
  void halves_areFound() {
    int one = committed(Set.of(0, 1));
    int two = committed(Set.of(0, 1));
    seen(view(List.of(one, two), List.of(two, one)));
    assertThatThrownBy(check::ended).isInstanceOf(Violation.class).hasMessageContaining("lost to");
  }

  @Test
  void halves_areFoundInOneSnapshotsTypes() {
    int one = committed(Set.of(0));
    int two = committed(Set.of(0));
    TransactionView good = view(List.of(two, one));
    TransactionView bad =
        new TransactionView(
            good.numbers(),
            good.count(),
            good.registers(),
            List.of((long) one, 0L, 0L, 0L, 0L),
            good.added(),
            good.bins());
    seen(good);
    assertThatThrownBy(() -> seen(bad)).hasMessageContaining("several winners");
  }

  /** What {@link TransactionView} shows, but for the bins. */
  private static TransactionView withBins(TransactionView view, BitSet one, BitSet other) {
    return new TransactionView(
        view.numbers(),
        view.count(),
        view.registers(),
        view.fields(),
        view.added(),
        List.of(one, other));
  }

  @Test
  void binsThatDiffer_areFound() {
    int one = committed(Set.of(0));
    TransactionView view = view(List.of(one));
    BitSet bin = numbers(List.of(one));
    seen(withBins(view, bin, bin));
    assertThatThrownBy(() -> seen(withBins(view, bin, TransactionCheck.NONE)))
        .hasMessageContaining("a part of what was done to the bins");
  }

  @Test
  void whatWasSeenAndCleared_isFoundInTheBins() {
    int seen = committed(Set.of(0));
    int number = seen;
    while (!TransactionView.clears(number)) {
      number = committed(Set.of(1), seen);
    }
    TransactionView view = view(List.of(seen), List.of(number));
    BitSet cleared = numbers(List.of(number));
    seen(withBins(view, cleared, cleared));
    BitSet all = view.all();
    assertThatThrownBy(() -> seen(withBins(view, all, all)))
        .hasMessageContaining("had seen and cleared");
  }

  @Test
  void seenOne_thatWinsThroughAThird_isFound() {
    int eu = committed(Set.of(2));
    int us = committed(Set.of(0), eu);
    int ap = committed(Set.of(0, 2));
    seen(view(List.of(ap, us), List.of(), List.of(eu, ap)));
    assertThatThrownBy(check::ended).isInstanceOf(Violation.class).hasMessageContaining("lost to");
  }

  @Test
  void longChain_isNoCycle_andOneMoreEdgeMakesIt() {
    ArbitrationCheck order = new ArbitrationCheck();
    for (int i = 2; i <= 300; i++) {
      order.after(i, numbers(List.of(i - 1, i / 2)));
    }
    order.after(1, TransactionCheck.NONE);
    assertThat(order.cycle()).isEmpty();
    order.after(100, numbers(List.of(103)));
    assertThat(order.cycle()).containsExactlyInAnyOrder(100, 101, 102, 103);
  }
}
