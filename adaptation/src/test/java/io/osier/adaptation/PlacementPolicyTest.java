package io.osier.adaptation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.PlacementPolicy.Demand;
import io.osier.adaptation.PlacementPolicy.Keyspace;
import io.osier.adaptation.PlacementPolicy.Kind;
import io.osier.adaptation.PlacementPolicy.Move;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Who should hold a keyspace, by figures. */
final class PlacementPolicyTest {
  private static final List<String> DCS = List.of("ap", "eu", "sa", "us");
  private static final Map<String, Double> WAYS =
      Map.of("ap", 120.0, "eu", 100.0, "sa", 110.0, "us", 80.0);

  private final PlacementPolicy policy = new PlacementPolicy(100, 600);

  private static Keyspace keyspace(
      Map<String, Demand> demands, Set<String> holders, double shipped, double bytes) {
    return new Keyspace(
        new TreeMap<>(demands), holders, new TreeSet<>(DCS), true, 2, shipped, bytes);
  }

  private static Demand demand(double reads, double updates) {
    return demandOf(reads, updates, WAYS);
  }

  @Test
  void whereItIsRead_itIsHeld_unlessUpdatesOrTheMoveCostMore() {
    Set<String> pair = Set.of("eu", "us");
    Move read = policy.decide(keyspace(Map.of("ap", demand(100, 0)), pair, 100, 1e6));
    assertThat(read.kind()).isEqualTo(Kind.ADD);
    assertThat(read.dc()).isEqualTo("ap");
    assertThat(read.holders(pair)).containsExactly("ap", "eu", "us");
    // (200 B + 80 ms * 100 B) * 100 a second; the move is 1 MB over ten minutes
    assertThat(read.why())
        .contains("ap: 820000 B/s saved", "0 B/s for updates", "1667 B/s for the");
    Map<String, Demand> written = Map.of("ap", demand(100, 0), "eu", demand(0, 10_000));
    assertThat(policy.decide(keyspace(written, pair, 100, 1e6)).kind()).isEqualTo(Kind.STAY);
    assertThat(policy.decide(keyspace(Map.of("ap", demand(1, 0)), pair, 100, 1e9)).kind())
        .isEqualTo(Kind.STAY);
    assertThat(policy.decide(keyspace(Map.of("ap", demand(0.1, 0)), pair, 100, 0)).kind())
        .as("a read each ten seconds")
        .isEqualTo(Kind.STAY);
  }

  @Test
  void holderThatOnlyTakesUpdates_goes_butNotBelowTheLeast() {
    Map<String, Demand> demands = Map.of("ap", demand(50, 1000), "eu", demand(50, 0));
    Move move = policy.decide(keyspace(demands, Set.of("ap", "eu", "us"), 100, 1e6));
    assertThat(move.kind()).isEqualTo(Kind.REMOVE);
    assertThat(move.dc()).isEqualTo("us");
    assertThat(move.why()).contains("us: 0 B/s saved while it holds", "100000 B/s for updates");
    assertThat(policy.decide(keyspace(demands, Set.of("ap", "us"), 100, 1e6)).kind())
        .isNotEqualTo(Kind.REMOVE);
  }

  /** Between what adds a holder and what removes it there is room, so noise moves nothing. */
  @Test
  void whatIsAboutWorthIt_neitherComesNorGoes() {
    Set<String> without = Set.of("eu", "us");
    Set<String> with = Set.of("ap", "eu", "us");
    // A read a second saves 8200 B/s at ap, an update costs it 100.
    for (int updates : new int[] {60, 80, 100, 150}) {
      Map<String, Demand> demands = Map.of("ap", demand(1, 0), "eu", demand(500, updates));
      assertThat(policy.decide(keyspace(demands, without, 100, 0)).dc()).isNotEqualTo("ap");
      assertThat(policy.decide(keyspace(demands, with, 100, 0)).dc()).isNotEqualTo("ap");
    }
    Map<String, Demand> few = Map.of("ap", demand(1, 0), "eu", demand(500, 40));
    assertThat(policy.decide(keyspace(few, without, 100, 0)).dc()).isEqualTo("ap");
    Set<String> three = Set.of("ap", "eu", "sa");
    Map<String, Demand> used =
        Map.of("ap", demand(1, 0), "eu", demand(500, 220), "sa", demand(500, 0));
    assertThat(policy.decide(keyspace(used, three, 100, 0)).dc()).isEqualTo("ap");
  }

  /** Who asks by way of a holder counts for it: else it would go, and they would pay more. */
  @Test
  void holderThatIsTheNearestOfOthers_stays() {
    Demand far = new Demand(100, 200, 0, Map.of("sa", 5.0, "eu", 200.0, "us", 200.0));
    Map<String, Demand> demands = Map.of("ap", far, "eu", demand(10, 500));
    Keyspace k =
        new Keyspace(
            new TreeMap<>(demands),
            Set.of("eu", "sa", "us"),
            Set.of("eu", "sa", "us"),
            true,
            1,
            100,
            1e3);
    assertThat(policy.decide(k).dc()).isEqualTo("us");
    assertThat(policy.decide(k.with(Set.of("eu", "sa"))).kind()).isEqualTo(Kind.STAY);
  }

  /** As where one link is cut: a way that is not known is none of 0 ms. */
  @Test
  void wayThatIsNotKnown_isAwaited_andWhatMayNeedItStays() {
    Demand cut = new Demand(100, 200, 0, Map.of("sa", 80.0, "eu", 120.0));
    Map<String, Demand> demands = Map.of("ap", cut, "eu", demandOf(0, 1_000, Map.of()));
    Keyspace k = keyspace(demands, Set.of("eu", "sa", "us"), 100, 1e3);
    assertThat(policy.decide(k).dc()).as("its clients reach it").isEqualTo("ap");
    Keyspace denied =
        new Keyspace(k.demands(), Set.of("eu", "us"), Set.of("eu", "us"), true, 1, 10_000, 1e3);
    Move stays = policy.decide(denied);
    assertThat(stays.kind()).as("us may be the nearest of ap").isEqualTo(Kind.STAY);
    assertThat(stays.why()).contains("us: the way from ap to us is not known");
    // Nobody has measured anything yet.
    Map<String, Demand> none = Map.of("ap", demandOf(100, 0, Map.of()), "eu", demand(0, 10_000));
    for (Set<String> holders : List.of(Set.of("sa", "us"), Set.of("sa", "us", "ap"))) {
      Map<String, Demand> first = Map.of("ap", demandOf(100, 1_000, Map.of()));
      Move move = policy.decide(keyspace(first, holders, 10_000, 1e3));
      assertThat(move.dc()).isNotEqualTo("ap");
      assertThat(policy.decide(keyspace(none, holders, 100, 1e3)).dc()).isNotEqualTo("ap");
    }
    Move first = policy.decide(keyspace(none, Set.of("sa", "us"), 100, 1e3));
    assertThat(first.why()).contains("ap: no way from ap to sa, us is known");
  }

  private static Demand demandOf(double reads, double updates, Map<String, Double> ways) {
    return new Demand(reads, 200, updates, ways);
  }

  @Test
  void keyspaceThatNobodyUses_neverMoves() {
    for (Set<String> holders : List.of(Set.of("eu", "us"), Set.copyOf(DCS))) {
      Move move = policy.decide(keyspace(Map.of("ap", demand(0, 0)), holders, 100, 0));
      assertThat(move.kind()).isEqualTo(Kind.STAY);
    }
  }

  /** A byte that is stored for a month is worth so many on the links. */
  @Test
  void storageThatHasAPrice_countsAgainstEachHolder() {
    PlacementPolicy dear = new PlacementPolicy(100, 600, 10_000);
    Map<String, Demand> read = Map.of("ap", demand(100, 0));
    Set<String> pair = Set.of("eu", "us");
    Set<String> three = Set.of("ap", "eu", "us");
    assertThat(policy.decide(keyspace(read, pair, 100, 1e8)).dc()).isEqualTo("ap");
    Move stays = dear.decide(keyspace(read, pair, 100, 1e8));
    assertThat(stays.kind()).isEqualTo(Kind.STAY);
    // 10^8 B * 10,000 in 2,592,000 s
    assertThat(stays.why()).contains("ap: 820000 B/s saved", "385802 B/s for storage");
    assertThat(dear.decide(keyspace(read, pair, 100, 1e7)).dc()).isEqualTo("ap");
    Move goes = dear.decide(keyspace(read, three, 100, 1e8));
    assertThat(goes.kind()).as("nobody uses it there").isEqualTo(Kind.REMOVE);
    assertThat(goes.dc()).isIn("eu", "us");
    assertThat(policy.decide(keyspace(read, three, 100, 1e8)).kind()).isEqualTo(Kind.STAY);
    assertThat(new PlacementPolicy(100, 600, 4_000).decide(keyspace(read, three, 100, 1e8)).kind())
        .as("in ten minutes that does not pay for moving it back")
        .isEqualTo(Kind.STAY);
    assertThat(
            new PlacementPolicy(100, 7 * 86_400, 5).decide(keyspace(read, three, 100, 1e8)).kind())
        .as("in a week it does")
        .isEqualTo(Kind.REMOVE);
    assertThat(dear.decide(keyspace(Map.of(), pair, 100, 1e9)).kind())
        .as("two hold it at least")
        .isEqualTo(Kind.STAY);
  }

  // ---------------------------------------------------------------- any figures

  private static Keyspace drawn(Random random) {
    SortedMap<String, Demand> demands = new TreeMap<>();
    Set<String> holders = new TreeSet<>();
    Set<String> candidates = new TreeSet<>();
    for (String dc : DCS) {
      Map<String, Double> ways = new HashMap<>();
      DCS.forEach(other -> ways.put(other, (double) random.nextInt(200)));
      double scale = Math.pow(10, random.nextInt(5) - 1);
      if (random.nextInt(5) > 0) {
        demands.put(
            dc,
            new Demand(
                random.nextInt(10) * scale,
                random.nextInt(1000),
                random.nextInt(10) * scale / 10,
                random.nextBoolean() ? ways : Map.of()));
      }
      if (random.nextBoolean()) {
        holders.add(dc);
      }
      if (random.nextInt(3) > 0) {
        candidates.add(dc);
      }
    }
    if (holders.isEmpty()) {
      holders.add("us");
    }
    return new Keyspace(
        demands,
        holders,
        candidates,
        random.nextInt(4) > 0,
        1 + random.nextInt(3),
        random.nextInt(1000),
        Math.pow(10, random.nextInt(9)));
  }

  @Property
  void constantRates_moveIsWithinTheLaws_lowersWhatAllPay_andThereIsAnEnd(@ForAll long seed) {
    Random random = new Random(seed);
    Keyspace k = drawn(random);
    PlacementPolicy priced =
        random.nextBoolean() ? policy : new PlacementPolicy(100, 600, random.nextInt(100_000));
    int moves = 0;
    for (Move move = priced.decide(k); move.kind() != Kind.STAY; move = priced.decide(k)) {
      Set<String> after = new TreeSet<>(move.holders(k.holders()));
      if (move.kind() == Kind.ADD) {
        assertThat(k.candidates()).contains(move.dc());
      } else {
        assertThat(after).hasSizeGreaterThanOrEqualTo(k.least());
        assertThat(k.mayRemove()).isTrue();
      }
      double paid = priced.paid(k, after);
      if (k.holders().size() >= k.least()) {
        assertThat(paid).isLessThan(priced.paid(k, k.holders()));
      } else {
        assertThat(move.kind()).as("what it costs does not matter").isEqualTo(Kind.ADD);
        for (String other : k.candidates()) {
          Set<String> instead = new TreeSet<>(k.holders());
          if (instead.add(other)) {
            assertThat(paid).as("the best").isLessThanOrEqualTo(priced.paid(k, instead) + 1e-6);
          }
        }
      }
      assertThat(move.why()).isNotEmpty();
      k = k.with(after);
      assertThat(++moves).as("each set comes once at most").isLessThan(16);
    }
    if (k.holders().size() < k.least()) {
      assertThat(k.holders()).as("nobody else may hold it").containsAll(k.candidates());
    }
  }

  /** Rates that are others in each period: at last one of 64 periods sees a move. */
  @Test
  void ratesThatFlip_moveLittle() {
    int moves = 0;
    long period = 10_000;
    PlacementPauses pauses = new PlacementPauses(period, 600_000);
    Set<String> holders = new TreeSet<>(Set.of("eu", "us"));
    Random random = new Random(7);
    int periods = 10_000;
    for (int i = 0; i < periods; i++) {
      Map<String, Demand> demands =
          random.nextBoolean()
              ? Map.of("ap", demand(1000, 0))
              : Map.of("eu", demand(0, 10_000), "us", demand(10, 0));
      Move move = policy.decide(keyspace(demands, holders, 100, 1e6));
      if (pauses.found(move.kind(), move.dc(), i * period) == 0 && move.kind() != Kind.STAY) {
        holders = new TreeSet<>(move.holders(holders));
        pauses.moved(move.kind(), move.dc(), i * period);
        moves++;
      }
    }
    assertThat(moves).isBetween(3, 8 + periods / PlacementPauses.PAUSES_MAX);
  }

  @Test
  void moveMustBeFoundInThreePeriodsInARow_andThePauseBeginsWhenItIsDone() {
    PlacementPauses pauses = new PlacementPauses(10_000, 600_000);
    assertThat(pauses.found(Kind.ADD, "ap", 0)).isEqualTo(20_000);
    assertThat(pauses.found(Kind.ADD, "ap", 10_000)).isEqualTo(10_000);
    assertThat(pauses.found(Kind.REMOVE, "ap", 20_000)).isEqualTo(20_000);
    assertThat(pauses.found(Kind.ADD, "ap", 30_000)).isEqualTo(20_000);
    assertThat(pauses.found(Kind.ADD, "sa", 40_000)).isEqualTo(20_000);
    assertThat(pauses.found(Kind.ADD, "sa", 50_000)).isEqualTo(10_000);
    assertThat(pauses.found(Kind.STAY, "", 60_000)).isEqualTo(20_000);
    for (long now = 70_000; now < 90_000; now += 10_000) {
      pauses.found(Kind.ADD, "sa", now);
    }
    assertThat(pauses.found(Kind.ADD, "sa", 90_000)).isZero();
    pauses.moved(Kind.ADD, "sa", 90_000);
    pauses.goesOn(150_000);
    assertThat(pauses.leftMillis(151_000)).isEqualTo(9_000);
  }

  /** A datacenter that comes and goes once a day has no long pause. */
  @Test
  void movesThatAreFarApart_doNotFlap() {
    PlacementPauses pauses = new PlacementPauses(10_000, 600_000);
    long day = 86_400_000;
    for (int i = 0; i < 10; i++) {
      pauses.moved(Kind.ADD, "ap", i * day);
      pauses.moved(Kind.REMOVE, "us", i * day + 20_000);
      pauses.moved(Kind.ADD, "us", i * day + day / 2);
      pauses.moved(Kind.REMOVE, "ap", i * day + day / 2 + 20_000);
      assertThat(pauses.leftMillis(i * day + day / 2 + 20_000)).isEqualTo(10_000);
    }
  }
}
