package io.osier.adaptation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

final class SpaceSavingProperties {
  private static final int ITEMS = 60;
  private static final int LENGTH_MAX = 1_000;

  /** Items evenly, a few far more often, or each once before any comes again. */
  @Provide
  Arbitrary<List<Integer>> streams() {
    Arbitrary<Integer> even =
        Arbitraries.integers().between(0, ITEMS - 1).withDistribution(RandomDistribution.uniform());
    Arbitrary<Integer> skewed = even.map(i -> i * i / ITEMS * i / ITEMS);
    // The worst case for a small summary.
    Arbitrary<List<Integer>> cyclic =
        Arbitraries.integers()
            .between(0, LENGTH_MAX)
            .map(n -> IntStream.range(0, n).mapToObj(i -> i % ITEMS).toList());
    return Arbitraries.oneOf(list(even), list(skewed), cyclic);
  }

  private static Arbitrary<List<Integer>> list(Arbitrary<Integer> items) {
    return items.list().ofMaxSize(LENGTH_MAX).withSizeDistribution(RandomDistribution.uniform());
  }

  private static void drop(Map<Integer, Long> noted, int item, long[] note) {
    assertThat(note[0]).isEqualTo(noted.remove(item));
    note[0] = 0;
  }

  @Property(tries = 500)
  void counts_areWithinTheirBound(
      @ForAll("streams") List<Integer> stream, @ForAll @IntRange(min = 1, max = 80) int capacity) {
    Map<Integer, Long> noted = new HashMap<>(); // since each was kept without a break
    SpaceSaving<Integer, long[]> summary =
        new SpaceSaving<>(capacity, () -> new long[1], (item, note) -> drop(noted, item, note));
    Map<Integer, Long> exact = new HashMap<>();
    for (int item : stream) {
      summary.offer(item)[0]++;
      noted.merge(item, 1L, Long::sum);
      exact.merge(item, 1L, Long::sum);
    }
    assertThat(summary.size()).isEqualTo(Math.min(capacity, exact.size()));
    long bound = stream.size() / capacity;
    long before = Long.MAX_VALUE;
    Map<Integer, Long> kept = new HashMap<>();
    for (SpaceSaving.Entry<Integer, long[]> e : summary.top(capacity)) {
      kept.put(e.item(), e.note()[0]);
      assertThat(summary.note(e.item())).isSameAs(e.note());
      long truth = exact.getOrDefault(e.item(), 0L);
      assertThat(truth).isBetween(e.count() - e.error(), e.count());
      assertThat(e.error()).isLessThanOrEqualTo(bound);
      assertThat(e.count()).isLessThanOrEqualTo(before);
      before = e.count();
    }
    assertThat(kept).isEqualTo(noted);
    exact.forEach(
        (item, count) -> {
          if (count > bound) {
            assertThat(kept.containsKey(item)).as("%d, %d times", item, count).isTrue();
          }
        });
  }

  /** Halving everything keeps the order and the bound, for the halved counts. */
  @Property(tries = 300)
  void halving_keepsOrderAndBound(
      @ForAll @Size(min = 1, max = 4) List<@From("streams") List<Integer>> rounds) {
    Map<Integer, Long> noted = new HashMap<>();
    SpaceSaving<Integer, long[]> summary =
        new SpaceSaving<>(20, () -> new long[1], (item, note) -> drop(noted, item, note));
    Map<Integer, Double> exact = new HashMap<>();
    double offers = 0;
    for (List<Integer> stream : rounds) {
      for (int item : stream) {
        summary.offer(item)[0]++;
        noted.merge(item, 1L, Long::sum);
        exact.merge(item, 1.0, Double::sum);
        offers++;
      }
      summary.halve();
      exact.replaceAll((item, count) -> count / 2);
      offers /= 2;
    }
    long before = Long.MAX_VALUE;
    for (SpaceSaving.Entry<Integer, long[]> e : summary.top(20)) {
      assertThat(e.note()[0]).isEqualTo(noted.get(e.item()));
      // Rounding up adds less than 1 for each halving, to the count and to the error.
      assertThat(exact.getOrDefault(e.item(), 0.0))
          .isBetween(e.count() - e.error() - 2.0, e.count() + 0.01);
      assertThat((double) e.error()).isLessThanOrEqualTo(offers / 20 + 2);
      assertThat(e.count()).isLessThanOrEqualTo(before);
      before = e.count();
    }
  }
}
