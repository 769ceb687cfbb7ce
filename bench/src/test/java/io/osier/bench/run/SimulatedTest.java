package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SimulatedTest {
  private static Map<String, Double> run(int dcs, String way, int seed) {
    Scenario scenario =
        Scenario.read("datacenters", List.of("seconds=0.3", "load.rate=5000", "only=[]"), false);
    Map<String, Double> figures = new TreeMap<>();
    for (Scenario.Part one : scenario.cases()) {
      for (Scenario.Part variant : one.variants()) {
        if (one.name().equals(dcs + " datacenters") && variant.name().equals(way)) {
          Simulated.run(variant.config(), seed, way, (row, figure, v) -> figures.put(figure, v));
        }
      }
    }
    return figures;
  }

  /** The run itself checks what every datacenter holds, and throws if it is not that. */
  @ParameterizedTest
  @ValueSource(strings = {"op", "state-full", "state-delta", "adaptive"})
  void sequence_everyWayEndsRight(String way) {
    for (int dcs : new int[] {3, 7}) {
      Map<String, Double> figures = run(dcs, way, 7);
      assertThat(figures.get("violations")).isZero();
      assertThat(figures.get("equal s")).isPositive();
      assertThat(figures.get("link bytes/operation")).isPositive();
    }
  }

  @Test
  void sequence_oneSeedIsOneRun() {
    Map<String, Double> first = run(3, "adaptive", 5);
    Map<String, Double> second = run(3, "adaptive", 5);
    first.remove("µs/op, all simulated");
    second.remove("µs/op, all simulated");
    assertThat(first).isEqualTo(second);
  }
}
