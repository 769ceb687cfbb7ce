package io.osier.adaptation;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.PlacementPolicy.Demand;
import io.osier.adaptation.PlacementPolicy.Keyspace;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What other holders would cost, by figures. */
final class PlacementAdviceTest {
  private final PlacementPolicy policy = new PlacementPolicy(100, 600);

  /** 100 reads a second of 200 bytes at ap, 10 updates a second of 50 bytes at eu. */
  private static Keyspace keyspace(Set<String> holders, Set<String> candidates, int least) {
    Map<String, Demand> demands =
        Map.of(
            "ap", new Demand(100, 200, 0, Map.of("eu", 90.0, "us", 80.0)),
            "eu", new Demand(0, 0, 10, Map.of("us", 40.0)),
            "us", Demand.NONE);
    return new Keyspace(new TreeMap<>(demands), holders, candidates, true, least, 50, 1e6);
  }

  private List<PlacementAdvice> advice(Keyspace k) {
    return PlacementAdvice.of(policy, k);
  }

  private static PlacementAdvice of(List<PlacementAdvice> all, String what) {
    return all.stream().filter(a -> a.what().contains(what)).findFirst().orElseThrow();
  }

  private static PlacementAdvice.Way way(PlacementAdvice of, String dc) {
    return requireNonNull(of.ways().get(dc));
  }

  @Test
  void eachSetOfHolders_hasItsBytes_waysAndStorage() {
    List<PlacementAdvice> all = advice(keyspace(Set.of("eu", "us"), Set.of("ap", "eu", "us"), 2));
    assertThat(all)
        .extracting(PlacementAdvice::what)
        .containsExactly(
            List.of("now"),
            List.of("cheapest"),
            List.of("with ap", "all"),
            List.of("without eu"),
            List.of("without us"));
    PlacementAdvice now = all.getFirst();
    assertThat(now.linkBytes()).as("answers, and updates to us").isEqualTo(100 * 200 + 10 * 50);
    assertThat(now.paid()).isEqualTo(now.linkBytes() + 100 * 80 * 100);
    assertThat(now.storedBytes()).isEqualTo(2e6);
    assertThat(now.p50Millis()).hasValue(80);
    assertThat(way(now, "eu").millis()).hasValue(0);
    assertThat(now.ways()).as("of those who ask").doesNotContainKey("us");
    PlacementAdvice everywhere = of(all, "all");
    assertThat(everywhere.linkBytes()).isEqualTo(2 * 10 * 50);
    assertThat(everywhere.storedBytes()).isEqualTo(3e6);
    assertThat(everywhere.p50Millis()).hasValue(0);
    assertThat(of(all, "cheapest").holders()).containsExactly("ap", "eu");
    PlacementAdvice alone = of(all, "without us");
    assertThat(alone.isAllowed()).as("two hold it at least").isFalse();
    assertThat(alone.p50Millis()).hasValue(90);
  }

  @Test
  void whatIsStored_isPaidForEachHolder_andTravelsNot() {
    Keyspace k = keyspace(Set.of("eu", "us"), Set.of("ap", "eu", "us"), 2);
    PlacementAdvice free = of(advice(k), "all");
    PlacementAdvice dear = of(PlacementAdvice.of(new PlacementPolicy(100, 600, 2_592), k), "all");
    assertThat(dear.linkBytes()).isEqualTo(free.linkBytes());
    assertThat(dear.paid()).isEqualTo(free.paid() + 3 * 1_000);
  }

  @Test
  void whereFewerHoldItThanAreTo_thatIsNotAllowed_andTheCheapestHasEnough() {
    Map<String, Demand> demands =
        Map.of(
            "eu", new Demand(0, 0, 10, Map.of("us", 40.0, "ap", 90.0)),
            "us", new Demand(0, 0, 1, Map.of()));
    Keyspace k =
        new Keyspace(new TreeMap<>(demands), Set.of("eu"), Set.of("ap", "us"), true, 2, 5_000, 1e6);
    List<PlacementAdvice> all = advice(k);
    assertThat(all.getFirst().what()).containsExactly("now");
    assertThat(all.getFirst().isAllowed()).isFalse();
    assertThat(of(all, "cheapest").holders()).as("though alone is cheaper").hasSize(2);
    assertThat(of(all, "cheapest").isAllowed()).isTrue();
  }

  @Test
  void whatTheLawsForbid_isSaid() {
    List<PlacementAdvice> all = advice(keyspace(Set.of("us"), Set.of("eu", "us"), 2));
    assertThat(of(all, "with eu").isAllowed()).isTrue();
    assertThat(of(all, "with ap").isAllowed()).isFalse();
    assertThat(of(all, "all").isAllowed()).isFalse();
    assertThat(all).extracting(PlacementAdvice::what).noneMatch(w -> w.contains("without us"));
  }

  @Test
  void wayThatWasNotMeasured_isUnknown_andNothingAskedHasNone() {
    Map<String, Demand> demands = Map.of("ap", new Demand(100, 200, 0, Map.of()));
    Keyspace k = new Keyspace(new TreeMap<>(demands), Set.of("eu"), Set.of("eu"), true, 1, 50, 1e6);
    assertThat(advice(k).getFirst().p50Millis()).isEmpty();
    assertThat(way(advice(k).getFirst(), "ap").millis()).isEmpty();
    Keyspace idle = new Keyspace(new TreeMap<>(), Set.of("eu"), Set.of("eu"), true, 1, 50, 1e6);
    assertThat(advice(idle)).hasSize(1);
    assertThat(advice(idle).getFirst().p50Millis()).isEmpty();
  }
}
