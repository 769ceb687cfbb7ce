package io.osier.adaptation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

final class SpaceSavingProperties {
  private enum Shape {
    UNIFORM,
    SKEWED,
    /** Each item once before any comes again: the worst case for a small summary. */
    CYCLIC
  }

  private static List<Integer> stream(Shape shape, long seed, int length) {
    Random random = new Random(seed);
    List<Integer> items = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      items.add(
          switch (shape) {
            case UNIFORM -> random.nextInt(60);
            case SKEWED -> (int) (60 * Math.pow(random.nextDouble(), 4));
            case CYCLIC -> i % 60;
          });
    }
    return items;
  }

  @Property(tries = 500)
  void counts_areWithinTheirBound(
      @ForAll Shape shape,
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 80) int capacity,
      @ForAll @IntRange(min = 0, max = 2_000) int length) {
    SpaceSaving<Integer> summary = new SpaceSaving<>(capacity);
    Map<Integer, Long> exact = new HashMap<>();
    for (int item : stream(shape, seed, length)) {
      summary.offer(item);
      exact.merge(item, 1L, Long::sum);
    }
    assertThat(summary.size()).isEqualTo(Math.min(capacity, exact.size()));
    long bound = length / capacity;
    long before = Long.MAX_VALUE;
    for (SpaceSaving.Entry<Integer> e : summary.top(capacity)) {
      long truth = exact.getOrDefault(e.item(), 0L);
      assertThat(truth).isBetween(e.count() - e.error(), e.count());
      assertThat(e.error()).isLessThanOrEqualTo(bound);
      assertThat(e.count()).isLessThanOrEqualTo(before);
      before = e.count();
    }
    exact.forEach(
        (item, count) -> {
          if (count > bound) {
            assertThat(summary.contains(item)).as("%d, %d times", item, count).isTrue();
          }
        });
  }

  /** Halving everything keeps the order and the bound, for the halved counts. */
  @Property(tries = 300)
  void halving_keepsOrderAndBound(@ForAll Shape shape, @ForAll long seed) {
    SpaceSaving<Integer> summary = new SpaceSaving<>(20);
    Map<Integer, Double> exact = new HashMap<>();
    double offers = 0;
    for (int round = 0; round < 4; round++) {
      for (int item : stream(shape, seed + round, 300)) {
        summary.offer(item);
        exact.merge(item, 1.0, Double::sum);
        offers++;
      }
      summary.halve();
      exact.replaceAll((item, count) -> count / 2);
      offers /= 2;
    }
    long before = Long.MAX_VALUE;
    for (SpaceSaving.Entry<Integer> e : summary.top(20)) {
      // Rounding up adds less than 1 for each halving, to the count and to the error.
      assertThat(exact.getOrDefault(e.item(), 0.0))
          .isBetween(e.count() - e.error() - 2.0, e.count() + 0.01);
      assertThat((double) e.error()).isLessThanOrEqualTo(offers / 20 + 2);
      assertThat(e.count()).isLessThanOrEqualTo(before);
      before = e.count();
    }
  }
}
