package io.osier.adaptation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.adaptation.PlacementPolicy.Demand;
import io.osier.adaptation.PlacementPolicy.Keyspace;
import io.osier.adaptation.PlacementPolicy.Kind;
import io.osier.adaptation.PlacementPolicy.Move;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Where the rule leaves the five homes of {@code osier bench run placement}: each datacenter asks
 * 40 reads and 40 updates a second, and moves are made until none is worth it.
 */
final class HomesPlacementTest {
  private static final List<String> DCS = List.of("ap", "au", "eu", "sa", "us");

  /** The ways there and back, in milliseconds. */
  private static final Map<String, Double> WAYS =
      Map.of(
          "eu-us", 80.0, "ap-us", 120.0, "ap-eu", 40.0, "au-eu", 240.0, "au-us", 180.0, "ap-au",
          110.0, "eu-sa", 190.0, "sa-us", 120.0, "ap-sa", 260.0, "au-sa", 300.0);

  private static final double ASKS = 40;
  private static final double READ_BYTES = 110;
  private static final double SHIPPED_BYTES = 100;

  /** What a forwarded request and its answer take on the link. */
  private static final double FORWARDED_BYTES = 60;

  private static final double HOME_BYTES = 200_000;

  private int copies;
  private int moves;
  private double linkBytes;

  private static SortedMap<String, Demand> demands(String home, double own) {
    SortedMap<String, Demand> demands = new TreeMap<>();
    for (String dc : DCS) {
      Map<String, Double> ways = new HashMap<>();
      for (String to : DCS) {
        if (!to.equals(dc)) {
          ways.put(to, WAYS.get(dc.compareTo(to) < 0 ? dc + "-" + to : to + "-" + dc));
        }
      }
      double asks = ASKS * (dc.equals(home) ? own : (1 - own) / (DCS.size() - 1));
      demands.put(dc, new Demand(asks, READ_BYTES, asks, ways));
    }
    return demands;
  }

  /** Moves until nothing is worth it. */
  private void settle(double own, double msWorth, Set<String> first) {
    PlacementPolicy policy = new PlacementPolicy(msWorth, 600);
    copies = 0;
    moves = 0;
    linkBytes = 0;
    for (String home : DCS) {
      SortedMap<String, Demand> demands = demands(home, own);
      Set<String> holders = new TreeSet<>(first);
      Move move = next(policy, demands, holders);
      while (move.kind() != Kind.STAY) {
        holders = new TreeSet<>(move.holders(holders));
        moves++;
        assertThat(moves).isLessThan(100);
        move = next(policy, demands, holders);
      }
      if (own > 0.5) {
        assertThat(holders).contains(home);
      }
      copies += holders.size();
      linkBytes += linkBytes(demands, holders);
    }
  }

  private static Move next(
      PlacementPolicy policy, SortedMap<String, Demand> demands, Set<String> holders) {
    Set<String> all = new TreeSet<>(DCS);
    return policy.decide(new Keyspace(demands, holders, all, true, 2, SHIPPED_BYTES, HOME_BYTES));
  }

  /** What a home takes on the links in a second. */
  private static double linkBytes(SortedMap<String, Demand> demands, Set<String> holders) {
    double bytes = ASKS * (holders.size() - 1) * SHIPPED_BYTES;
    for (Map.Entry<String, Demand> e : demands.entrySet()) {
      bytes += holders.contains(e.getKey()) ? 0 : e.getValue().asks() * FORWARDED_BYTES;
    }
    return bytes;
  }

  private static double linkBytesOfAllFive() {
    return DCS.size() * ASKS * (DCS.size() - 1) * SHIPPED_BYTES;
  }

  /** 90 % of each datacenter's calls are on its own home. */
  @Test
  void homes_haveTwoHoldersEach_whereWaitingCostsLittle() {
    settle(0.9, 1, Set.copyOf(DCS));
    assertThat(copies).isEqualTo(10);
    assertThat(moves).isEqualTo(15);
    assertThat(linkBytes).isLessThan(0.35 * linkBytesOfAllFive());
  }

  /** A tenth of all calls is worth a third holder where it is far to the others. */
  @Test
  void homes_haveMoreHolders_whereWaitingCostsMore() {
    settle(0.9, 5, Set.copyOf(DCS));
    assertThat(copies).isEqualTo(13);
    assertThat(linkBytes).isBetween(0.35 * linkBytesOfAllFive(), 0.5 * linkBytesOfAllFive());
    settle(0.9, 100, Set.copyOf(DCS));
    assertThat(copies).isEqualTo(25);
  }

  @Test
  void uniformLoad_takesNoMoreOnTheLinksThanAllFive_whateverWaitingCosts() {
    for (double msWorth : new double[] {0, 1, 5, 100}) {
      settle(0.2, msWorth, Set.of("eu", "us"));
      assertThat(linkBytes).as("%s", msWorth).isLessThanOrEqualTo(1.02 * linkBytesOfAllFive());
    }
    assertThat(copies).as("where waiting costs most").isEqualTo(25);
  }
}
