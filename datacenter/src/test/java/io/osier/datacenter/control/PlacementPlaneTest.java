package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.crdt.Query;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The holders of a keyspace follow what is asked of it, in a world that is stepped. */
final class PlacementPlaneTest extends PlacementPlaneFixture {
  @Test
  void holdersFollowTheLoad_byTheFirstHolder_audited_andStayWhereItStays() {
    seconds(30, Map.of("eu", 100L), Map.of("us", 100L));
    assertThat(at("sa").holders(CARTS)).containsExactly("eu", "us");
    assertThat(view("us").next()).contains("nothing moves", "ap: 0 B/s saved where it holds");
    assertThat(audited()).isEmpty();
    // The load moves to ap: it gets the keyspace, and whoever only takes updates gives it up.
    seconds(120, Map.of("ap", 100L), Map.of("ap", 100L));
    assertThat(at("sa").holders(CARTS)).containsExactly("ap", "us");
    assertThat(at("us").load.audited).isEmpty();
    assertThat(at("eu").load.audited.getFirst())
        .startsWith("keyspace alter carts replicas=ap,eu,us: ap: ")
        .contains("B/s saved");
    assertThat(at("sa").plane.views(CARTS).getFirst().by()).isEqualTo("placement");
    int moves = audited().size();
    assertThat(moves).isEqualTo(2);
    seconds(200, Map.of("ap", 100L), Map.of("ap", 100L));
    assertThat(audited()).as("there is an end").hasSize(moves);
    assertThat(view("sa").cheapest().holders()).contains("ap").hasSize(2);
  }

  /** Clients of a datacenter that is restarted are elsewhere for some seconds. */
  @Test
  void onePeriodAlone_movesNothing_andAMoveThatIsDoneHasAPause() {
    seconds(60, Map.of("eu", 10L, "us", 100L, "ap", 100L), Map.of("eu", 1L));
    assertThat(at("sa").holders(CARTS)).containsExactly("ap", "eu", "us");
    int moves = audited().size();
    for (int i = 0; i < 10; i++) {
      seconds(15, Map.of("eu", 10L, "us", 100L), Map.of("eu", 100L)); // a lull at ap
      seconds(35, Map.of("eu", 10L, "us", 100L, "ap", 100L), Map.of("eu", 1L));
      seconds(10, Map.of("sa", 10_000L, "eu", 10L, "us", 100L, "ap", 100L), Map.of()); // a burst
      seconds(35, Map.of("eu", 10L, "us", 100L, "ap", 100L), Map.of("eu", 1L));
    }
    assertThat(audited()).hasSize(moves);
    assertThat(view("eu").next()).doesNotContain(" in ");
    command("alter", Map.of("replicas", "ap,eu,sa,us")); // nobody asks there
    seconds(10, Map.of("eu", 10L, "us", 100L, "ap", 100L), Map.of("eu", 100L));
    assertThat(at("sa").holders(CARTS)).contains("sa");
    seconds(90, Map.of("eu", 10L, "us", 100L, "ap", 100L), Map.of("eu", 100L));
    assertThat(at("sa").holders(CARTS)).containsExactly("ap", "eu", "us");
  }

  private void untilHolds(String dc, boolean holds, Map<String, Long> updates) {
    for (int i = 0; i < 60 && at("eu").holders(CARTS).contains(dc) != holds; i++) {
      seconds(10, Map.of("eu", 100L, "us", 100L, "ap", holds ? 100L : 0), updates);
    }
    assertThat(at("eu").holders(CARTS).contains(dc)).isEqualTo(holds);
  }

  @Test
  void pauseBeginsWhenTheMoveIsDone() {
    for (int i = 0; i < 3; i++) { // so it is a long one
      untilHolds("ap", true, Map.of());
      untilHolds("ap", false, Map.of("eu", 100L));
    }
    untilHolds("ap", true, Map.of());
    at("ap").quiet = false;
    seconds(2_000, Map.of("eu", 100L, "us", 100L), Map.of("eu", 100L));
    assertThat(view("eu").next()).contains("ap is being removed");
    at("ap").quiet = true;
    seconds(100, Map.of("eu", 100L, "us", 100L, "ap", 100L), Map.of());
    assertThat(view("eu").next()).containsPattern("ap is added in \\d+ s, if that stays so");
    untilHolds("ap", true, Map.of());
  }

  @Test
  void idleKeyspace_neitherMoves_norIsToldAgain() {
    seconds(30, Map.of("ap", 50L), Map.of());
    seconds(60, Map.of(), Map.of());
    List<String> held = at("eu").holders(CARTS);
    int moves = audited().size();
    var changes = at("eu").copy.state(ControlPlane.KEYSPACES);
    seconds(300, Map.of(), Map.of());
    assertThat(at("eu").holders(CARTS)).isEqualTo(held);
    assertThat(audited()).hasSize(moves);
    assertThat(at("eu").copy.state(ControlPlane.KEYSPACES)).isEqualTo(changes);
  }

  @Test
  void lawsArePlacementsToo_andPinnedMovesNothing() {
    command("alter", Map.of("deny", "ap"));
    seconds(60, Map.of("ap", 100L), Map.of());
    assertThat(at("sa").holders(CARTS)).containsExactly("eu", "us");
    command("alter", Map.of("placement", "pinned"));
    command("alter", Map.of("deny", ""));
    assertThat(view("eu").next()).contains("pinned");
    nodes.values().forEach(node -> node.restart(PAIR));
    seconds(60, Map.of("ap", 100L), Map.of());
    assertThat(at("sa").holders(CARTS)).containsExactly("eu", "us");
    assertThat(view("eu").placement()).isEqualTo("pinned");
    command("alter", Map.of("placement", "adaptive"));
    seconds(60, Map.of("ap", 100L), Map.of());
    assertThat(at("sa").holders(CARTS)).contains("ap");
    command("alter", Map.of("placement", "fixed"));
    assertThat(at("eu").load.counted).isEmpty();
    assertThat(at("eu").plane.placements()).isEmpty();
  }

  /** Each decides by what it has heard of; what both did ends alike, and above the least. */
  @Test
  void twoThatDecideAtOnce_endInOneOutcome() {
    seconds(30, Map.of("eu", 10L), Map.of("us", 10L));
    for (Node node : nodes.values()) {
      node.cut =
          node.dc.equals("eu") ? Set.of("us") : node.dc.equals("us") ? Set.of("eu") : Set.of();
    }
    seconds(60, Map.of("ap", 100L, "sa", 100L), Map.of());
    assertThat(at("ap").holders(CARTS)).as("a holder is out of reach").containsExactly("eu", "us");
    assertThat(view("us").next()).contains("eu holds it, and is out of reach");
    nodes.values().forEach(node -> node.cut = Set.of());
    // Both alter at once: one by an operator's command at the same time.
    at("us").alter(CARTS, "eu,sa,us");
    at("eu").alter(CARTS, "ap,eu,us");
    seconds(120, Map.of("ap", 100L, "sa", 100L), Map.of());
    List<String> held = at("eu").holders(CARTS);
    assertThat(held).contains("ap", "sa");
    nodes.values().forEach(node -> assertThat(node.holders(CARTS)).isEqualTo(held));
  }

  @Test
  void datacenterThatIsAway_isNoCandidate_andAfterARestartTheDeciderGoesOn() {
    nodes.values().forEach(node -> node.cut = Set.of("ap"));
    seconds(60, Map.of("ap", 100L), Map.of());
    assertThat(at("sa").holders(CARTS)).containsExactly("eu", "us");
    nodes.values().forEach(node -> node.cut = Set.of());
    at("eu").restart(PAIR);
    seconds(60, Map.of("ap", 100L), Map.of());
    assertThat(at("sa").holders(CARTS)).contains("ap");
  }

  /** Whose disk is full hears nothing of it, and cannot say so either. */
  @Test
  void datacenterThatTakesNothing_isNotAdded() {
    nodes.values().forEach(node -> node.load.lagging = Set.of("ap"));
    seconds(150, Map.of("ap", 100L, "sa", 100L), Map.of());
    assertThat(at("us").holders(CARTS)).containsExactly("eu", "sa", "us");
    assertThat(view("eu").next()).contains("; ap takes no updates of _osier");
    nodes.values().forEach(node -> node.load.lagging = Set.of());
    seconds(60, Map.of("ap", 100L, "sa", 100L), Map.of());
    assertThat(at("us").holders(CARTS)).containsExactly("ap", "eu", "sa", "us");
  }

  /** It would not hear who is added or removed, and lacks what was written since. */
  @Test
  void holderThatTakesNothing_stopsMoves_andDoesNotDecide() {
    command("alter", Map.of("replicas", "ap,eu,us"));
    nodes.values().forEach(node -> node.load.lagging = Set.of("ap"));
    seconds(150, Map.of("us", 100L, "sa", 100L), Map.of("us", 100L));
    assertThat(at("us").holders(CARTS)).containsExactly("ap", "eu", "us");
    assertThat(audited()).isEmpty();
    assertThat(view("us").decider()).isEqualTo("eu");
    assertThat(view("us").next()).contains("ap holds it, and takes no updates of _osier");
    nodes.values().forEach(node -> node.load.lagging = Set.of());
    seconds(150, Map.of("us", 100L, "sa", 100L), Map.of("us", 100L));
    assertThat(at("us").holders(CARTS)).containsExactly("sa", "us");
  }

  /**
   * What it told last counts on: so others are added, but none is removed. It may be the only one
   * that those who are away can ask.
   */
  @Test
  void whileOneThatUsesItIsAway_holdersAreAdded_andNoneIsRemoved() {
    command("alter", Map.of("placement", "pinned"));
    seconds(30, Map.of("ap", 100L), Map.of("ap", 100L));
    nodes.values().forEach(node -> node.cut = Set.of("ap"));
    command("alter", Map.of("placement", "adaptive"));
    Map<String, Long> reads = Map.of("sa", 100L, "eu", 100L);
    seconds(90, reads, Map.of("eu", 100L));
    assertThat(at("sa").holders(CARTS)).containsExactly("eu", "sa", "us");
    assertThat(view("eu").next()).contains("none is removed while ap, which uses it, is out of");
    assertThat(view("eu").cheapest().holders()).as("if moves cost nothing").hasSize(2);
    seconds(300, reads, Map.of("eu", 100L));
    assertThat(at("sa").holders(CARTS)).as("not added, nor anybody removed").hasSize(3);
    nodes.values().forEach(node -> node.cut = Set.of());
    seconds(90, reads, Map.of("eu", 100L));
    assertThat(at("sa").holders(CARTS)).containsExactly("eu", "sa");
  }

  @Test
  void figuresOfAnEarlierTime_areGone() {
    seconds(30, Map.of("ap", 100L), Map.of("ap", 100L));
    command("alter", Map.of("placement", "fixed"));
    seconds(10, Map.of(), Map.of());
    assertThat(told()).doesNotContain("_load.");
    command("alter", Map.of("placement", "adaptive"));
    assertThat(view("eu").next()).contains("ap has not reported its load yet");
    seconds(30, Map.of(), Map.of());
    assertThat(told()).contains("_load.ap", "_load.eu", "_load.sa", "_load.us");
  }

  private String told() {
    return at("eu").copy.state(ControlPlane.KEYSPACES).read(new Query.Whole()).toString();
  }

  /** It holds nothing any more, and counts for nothing that the laws ask for. */
  @Test
  void holderThatWasGivenUp_isReplaced_andNobodyElseGoes() {
    giveUp("us");
    for (int i = 0; i < 60; i++) {
      at("ap").load.asked(100, 1_000);
      round(CARTS);
      clock += 2_000;
    }
    assertThat(at("sa").holders(CARTS)).containsExactly("ap", "eu");
    assertThat(audited()).hasSize(1);
  }

  /** The laws ask for two, whatever that costs. */
  @Test
  void holderThatWasGivenUp_isReplaced_evenIfNobodyAsks() {
    giveUp("us");
    for (int i = 0; i < 60; i++) {
      round(CARTS);
      clock += 2_000;
    }
    assertThat(at("sa").holders(CARTS)).hasSize(2).contains("eu");
    assertThat(audited()).hasSize(1);
  }

  /** Any loads, restarts and ways that are cut: the laws hold at each step, and all end alike. */
  @Test
  void anyLoads_andFaults_endAlike() {
    for (int seed = 0; seed < 6; seed++) {
      nodes.clear();
      begin();
      createAdaptive();
      Random random = new Random(seed);
      for (int i = 0; i < 12; i++) {
        String dc = DCS.get(random.nextInt(4));
        String other = DCS.get(random.nextInt(4));
        switch (random.nextInt(4)) {
          case 0 -> at(dc).restart(PAIR);
          case 1 -> at(dc).cut = new TreeSet<>(Set.of(other));
          default -> nodes.values().forEach(node -> node.cut = Set.of());
        }
        seconds(
            15, Map.of(dc, (long) random.nextInt(300)), Map.of(other, (long) random.nextInt(300)));
      }
      nodes.values().forEach(node -> node.cut = Set.of());
      seconds(60, Map.of(), Map.of());
      List<String> held = at("eu").holders(CARTS);
      assertThat(held).as("seed %d", seed).hasSizeGreaterThanOrEqualTo(2);
      nodes.values().forEach(node -> assertThat(node.holders(CARTS)).isEqualTo(held));
    }
  }
}
