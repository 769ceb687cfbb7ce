package io.osier.adaptation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.AdaptationSettings.Policy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PlannerTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Conditions TWO_SECONDS = new Conditions(2 * SECOND, 2 * SECOND, 2, 50);

  private static AdaptationSettings settings(Policy policy, int group) {
    return new AdaptationSettings(1_000, 200, 500, 3_000, group, 2, policy, 4.0);
  }

  /** Updates one object at a steady rate for some seconds. */
  private static Mode after(
      Policy policy, double perSecond, int opBytes, long objectBytes, double slaSeconds) {
    Planner<String> planner = new Planner<>(settings(policy, 0), 0);
    long sla = (long) (slaSeconds * SECOND);
    double due = 0;
    for (long now = 0; now < 20 * SECOND; now += SECOND / 2) {
      due += perSecond / 2;
      for (; due >= 1; due--) {
        planner.updated("x", opBytes, objectBytes);
      }
      planner.decide(now, new Conditions(sla, sla, 2, 50));
    }
    return planner.modeOf("x");
  }

  @ParameterizedTest
  @CsvSource({
    // updates/s, op bytes, object bytes, SLA s, expected
    "100,  30,    100, 2.0, STATE", // a hot counter
    "0.1,  30,    100, 2.0, OP", // cold: no gain, only delay
    "0.4,  30,    100, 2.0, OP", // a flush would carry less than two
    "0.8,  30,    100, 2.0, STATE", // the one that opens a window, and 1.6 in it
    "100,  30,    100, 0.0, OP", // no window at all
    "100,  30,  30000, 2.0, STATE", // a hot set: its delta is far smaller than itself
    "2,    30,    100, 10,  STATE", // a longer window gathers enough
  })
  void cost(double perSecond, int opBytes, long objectBytes, double slaSeconds, Mode expected) {
    assertThat(after(Policy.COST, perSecond, opBytes, objectBytes, slaSeconds)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "100, 30,   1024, 2.0, STATE", // 200 updates a KiB
    "1,   30,   1024, 2.0, OP", // 2 updates a KiB
    "100, 30, 102400, 2.0, OP", // large: 2 updates a KiB
    "100, 30,   1024, 0.0, OP",
  })
  void ratio(double perSecond, int opBytes, long objectBytes, double slaSeconds, Mode expected) {
    assertThat(after(Policy.RATIO, perSecond, opBytes, objectBytes, slaSeconds))
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    // updates/s, by chance; switches in ten minutes, less than
    "0.5, 50", // the threshold itself
    "0.8, 12",
    "1.5, 4",
  })
  void noiseAroundTheThreshold_switchesRarely(double perSecond, int most) {
    Planner<String> planner = new Planner<>(settings(Policy.COST, 0), 0);
    Random random = new Random(7);
    for (long now = 0; now < 600 * SECOND; now += SECOND / 2) {
      for (int i = 0; i < 2; i++) {
        if (random.nextDouble() < perSecond / 4) {
          planner.updated("x", 30, 100);
        }
      }
      planner.decide(now, TWO_SECONDS);
    }
    assertThat(planner.switchesByCause().values().stream().mapToLong(n -> n).sum())
        .isLessThan(most);
  }

  /**
   * One of seven datacenters sees a seventh of 42 updates a second of each object, and has 0.4 s to
   * hold them, as before any round was measured.
   */
  @Test
  void aSeventhOfTheUpdates_isEnoughToFindTheHotObjectsInThreePeriods() {
    Planner<Integer> planner = new Planner<>(settings(Policy.COST, 0), 0);
    Random random = new Random(7);
    for (int period = 1; period <= 3; period++) {
      for (int object = 0; object < 200; object++) {
        for (double at = gap(random, 6); at < 0.5; at += gap(random, 6)) {
          planner.updated(object, 30, 200);
        }
      }
      planner.decide(period * SECOND / 2, new Conditions(SECOND, 400_000_000L, 6, 700));
    }
    assertThat(planner.stateObjects()).isGreaterThan(150);
  }

  /** Seconds until the next update, if they come by chance. */
  private static double gap(Random random, double perSecond) {
    return -Math.log(1 - random.nextDouble()) / perSecond;
  }

  @Test
  void oneUpdate_saysNothingOfARate() {
    Planner<String> planner = new Planner<>(settings(Policy.COST, 0), 0);
    planner.updated("x", 30, 100);
    for (long now = SECOND / 2; now < 20 * SECOND; now += SECOND / 2) {
      planner.decide(now, new Conditions(30 * SECOND, 29 * SECOND, 2, 50));
      assertThat(planner.modeOf("x")).as("at %d ms", now / 1_000_000).isEqualTo(Mode.OP);
    }
  }

  @Test
  void whatLeavesTheTop_goesBackToOperations() {
    AdaptationSettings few = new AdaptationSettings(100, 5, 500, 5_000, 0, 2, Policy.COST, 4.0);
    Planner<Integer> planner = new Planner<>(few, 0);
    long now = 0;
    for (int group = 0; group < 2; group++) {
      for (int i = 0; i < 60; i++, now += SECOND / 2) {
        for (int object = 0; object < 5; object++) {
          for (int n = 0; n < 50; n++) {
            planner.updated(group * 10 + object, 30, 100);
          }
        }
        planner.decide(now, TWO_SECONDS);
      }
      for (int object = 0; object < 20; object++) {
        assertThat(planner.modeOf(object))
            .as("object %d", object)
            .isEqualTo(object / 10 == group && object % 10 < 5 ? Mode.STATE : Mode.OP);
      }
    }
    assertThat(planner.stateObjects()).isEqualTo(5);
  }

  /** Its counter was a hot object's, and what was measured of that says nothing of it. */
  @Test
  void objectThatTakesOverACounter_isMeasuredAnew() {
    AdaptationSettings one = new AdaptationSettings(1, 1, 500, 3_000, 0, 2, Policy.COST, 4.0);
    Planner<String> planner = new Planner<>(one, 0);
    for (int period = 1; period <= 20; period++) {
      for (int n = 0; n < 50; n++) {
        planner.updated("hot", 30, 100);
      }
      planner.decide(period * SECOND / 2, TWO_SECONDS);
    }
    assertThat(planner.hot(1).getFirst().perSecond()).isBetween(90.0, 110.0);
    planner.updated("cold", 70, 100);
    planner.decide(21 * SECOND / 2, TWO_SECONDS);
    Planner.Hot<String> taken = planner.hot(1).getFirst();
    assertThat(taken.object()).isEqualTo("cold");
    assertThat(taken.perSecond()).isZero();
    assertThat(taken.opBytes()).isEqualTo(70);
  }

  @Test
  void groups_switchStepByStep() {
    Planner<Integer> planner = new Planner<>(settings(Policy.COST, 10), 0);
    List<Integer> steps = new ArrayList<>();
    for (long now = 0; now < 30 * SECOND; now += SECOND / 2) {
      for (int object = 0; object < 35; object++) {
        for (int n = 0; n < 50; n++) {
          planner.updated(object, 30, 100);
        }
      }
      int switched = planner.decide(now, TWO_SECONDS).size();
      if (switched > 0) {
        steps.add(switched);
      }
    }
    assertThat(steps).containsExactly(10, 10, 10, 5);
  }

  /**
   * The thesis's figure 4.3 with 50,000 objects: nine of ten of the new top are found within five
   * seconds.
   */
  @Test
  void shiftOfTheHotSet_isFoundWithinFiveSeconds() {
    int objects = 50_000;
    Planner<Integer> planner = new Planner<>(settings(Policy.COST, 0), 0);
    Zipf zipf = new Zipf(objects, 0.99, 11);
    long now = 0;
    for (; now < 60 * SECOND; now += SECOND / 2) {
      offer(planner, zipf, 0, 5_000, now);
    }
    for (; now < 65 * SECOND; now += SECOND / 2) {
      offer(planner, zipf, objects / 2, 5_000, now);
    }
    Set<Integer> expected = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      expected.add(i + objects / 2);
    }
    Set<Integer> found =
        planner.hot(50).stream().map(Planner.Hot::object).collect(Collectors.toSet());
    found.retainAll(expected);
    assertThat(found.size()).as("of the 50 hottest").isGreaterThanOrEqualTo(45);
  }

  private static void offer(Planner<Integer> planner, Zipf zipf, int shift, int n, long now) {
    for (int i = 0; i < n; i++) {
      planner.updated((zipf.next() + shift) % zipf.size(), 30, 100);
    }
    planner.decide(now, TWO_SECONDS);
  }

  /** Ranks by their cumulated weights. */
  private static final class Zipf {
    private final double[] sums;
    private final Random random;

    Zipf(int n, double exponent, long seed) {
      sums = new double[n];
      double sum = 0;
      for (int i = 0; i < n; i++) {
        sum += 1 / Math.pow(i + 1, exponent);
        sums[i] = sum;
      }
      random = new Random(seed);
    }

    int size() {
      return sums.length;
    }

    int next() {
      int i = java.util.Arrays.binarySearch(sums, random.nextDouble() * sums[sums.length - 1]);
      return i < 0 ? -i - 1 : i;
    }
  }

  /** Decides whenever it is due, until a time; returns how often that was. */
  private static int decideUntil(Planner<String> planner, long fromNanos, long untilNanos) {
    int decisions = 0;
    for (long now = fromNanos; now < untilNanos; now += SECOND / 100) {
      if (planner.nextDecisionNanos() <= now) {
        planner.decide(now, TWO_SECONDS);
        decisions++;
      }
    }
    return decisions;
  }

  @Test
  void whereNothingIsUpdated_nothingIsDecided_untilThereIsAnUpdate() {
    Planner<String> planner = new Planner<>(settings(Policy.COST, 0), 0);
    planner.updated("x", 30, 100);
    decideUntil(planner, 0, 40 * SECOND);
    assertThat(planner.nextDecisionNanos()).isEqualTo(Long.MAX_VALUE);
    assertThat(planner.hot(10)).isEmpty();
    planner.updated("x", 30, 100);
    assertThat(planner.nextDecisionNanos()).isLessThanOrEqualTo(100 * SECOND);
    assertThat(decideUntil(planner, 100 * SECOND, 103 * SECOND))
        .as("the first, and 2 a second")
        .isEqualTo(7);
    assertThat(planner.hot(10)).hasSize(1);
  }

  /** What was measured after a rest is as if it had begun then: no time of the rest counts. */
  @Test
  void hotObjectAfterARest_isFoundAsSoonAsAfterTheStart() {
    Planner<String> planner = new Planner<>(settings(Policy.COST, 0), 0);
    decideUntil(planner, 0, 1_000 * SECOND);
    assertThat(planner.nextDecisionNanos()).isEqualTo(Long.MAX_VALUE);
    for (int i = 0; i < 150; i++) {
      planner.updated("x", 30, 100);
      decideUntil(
          planner, 1_000 * SECOND + i * SECOND / 100, 1_000 * SECOND + (i + 1) * SECOND / 100);
    }
    assertThat(planner.modeOf("x")).isEqualTo(Mode.STATE);
    assertThat(planner.hot(1).getFirst().perSecond()).isBetween(80.0, 120.0);
  }

  /** It goes back to operations first, as it would without a rest. */
  @Test
  void heldObject_keepsItAwake_untilItHasGoneBack() {
    Planner<String> planner = new Planner<>(settings(Policy.COST, 0), 0);
    for (int i = 0; i < 500; i++) {
      planner.updated("x", 30, 100);
      decideUntil(planner, i * SECOND / 100, (i + 1) * SECOND / 100);
    }
    assertThat(planner.modeOf("x")).isEqualTo(Mode.STATE);
    decideUntil(planner, 5 * SECOND, 100 * SECOND);
    assertThat(planner.modeOf("x")).isEqualTo(Mode.OP);
    assertThat(planner.nextDecisionNanos()).isEqualTo(Long.MAX_VALUE);
  }
}
