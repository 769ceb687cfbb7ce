package io.osier.bench.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.adaptation.AdaptationSettings;
import io.osier.bench.sim.TransactionCheck.Outcome;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The check of arbitration finds transactions that win by halves, directly or through others. */
final class ArbitrationCheckTest {
  private static final ReplicaId AT = new ReplicaId("eu", 1);

  private final TransactionCheck check =
      new TransactionCheck(
          new Unit(
              0, KeyspacePolicy.causal("k", Duration.ofSeconds(1)), 0, AdaptationSettings.DEFAULT));

  private long committed(Set<Integer> places, Set<Long> past) {
    long number = check.begins(places, past);
    check.ended(number, Outcome.COMMITTED, AT);
    return number;
  }

  /** Of five places, who wrote there, the winner first. */
  @SafeVarargs
  private static TransactionView view(List<Long>... places) {
    List<Set<Long>> numbers = new ArrayList<>();
    List<Long> winners = new ArrayList<>();
    List<Boolean> added = new ArrayList<>();
    Set<Long> all = new TreeSet<>();
    for (int i = 0; i < TransactionView.PLACES; i++) {
      List<Long> writers = i < places.length ? places[i] : List.of();
      numbers.add(new TreeSet<>(writers));
      winners.add(writers.isEmpty() ? 0L : writers.getFirst());
      added.add(!writers.isEmpty() && TransactionView.adds(writers.getFirst()));
      all.addAll(writers);
    }
    return new TransactionView(numbers, all.size(), winners, winners, added);
  }

  private void seen(TransactionView view) {
    check.snapshot("somebody", AT, view, 0, Set.of());
  }

  @Test
  void oneWinner_isFine() {
    long one = committed(Set.of(0, 1), Set.of());
    long two = committed(Set.of(0, 1), Set.of());
    seen(view(List.of(one), List.of(one)));
    seen(view(List.of(two, one), List.of(two, one)));
    check.ended();
  }

  @Test
  void halves_areFound() {
    long one = committed(Set.of(0, 1), Set.of());
    long two = committed(Set.of(0, 1), Set.of());
    seen(view(List.of(one, two), List.of(two, one)));
    assertThatThrownBy(check::ended).isInstanceOf(Violation.class).hasMessageContaining("lost to");
  }

  @Test
  void halves_areFoundInOneSnapshotsTypes() {
    long one = committed(Set.of(0), Set.of());
    long two = committed(Set.of(0), Set.of());
    TransactionView good = view(List.of(two, one));
    TransactionView bad =
        new TransactionView(
            good.numbers(),
            good.count(),
            good.registers(),
            List.of(one, 0L, 0L, 0L, 0L),
            good.added());
    seen(good);
    assertThatThrownBy(() -> seen(bad)).hasMessageContaining("several winners");
  }

  @Test
  void seenOne_thatWinsThroughAThird_isFound() {
    long eu = committed(Set.of(2), Set.of());
    long us = committed(Set.of(0), Set.of(eu));
    long ap = committed(Set.of(0, 2), Set.of());
    seen(view(List.of(ap, us), List.of(), List.of(eu, ap)));
    assertThatThrownBy(check::ended).isInstanceOf(Violation.class).hasMessageContaining("lost to");
  }

  @Test
  void longChain_isNoCycle_andOneMoreEdgeMakesIt() {
    ArbitrationCheck order = new ArbitrationCheck();
    for (long i = 2; i <= 300; i++) {
      order.after(i, List.of(i - 1, i / 2));
    }
    order.after(1, List.of());
    assertThat(order.cycle()).isEmpty();
    order.after(100, List.of(103L));
    assertThat(order.cycle()).containsExactlyInAnyOrder(100L, 101L, 102L, 103L);
  }
}
