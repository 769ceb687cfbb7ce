package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Holders are removed from keyspaces of four datacenters. */
final class HolderRemovalsTest extends HolderPlaneFixture {
  @Test
  void holderThatIsRemoved_forwards_givesItsRightsAway_andDropsWhatItHas() {
    create("carts");
    for (String name : List.of("pair", "carts")) {
      at("ap").alter(name, "eu");
      settle();
      assertThat(at("us").ceased).contains(name);
      assertThat(at("us").open.contains(name) || name.equals("pair")).isTrue();
      for (Node node : nodes.values()) {
        assertThat(node.holders(name)).as("who is asked").containsExactly("eu");
        assertThat(node.state(name, "us")).startsWith("leaving");
      }
      assertThat(at("us").given).as("eu has not what us had").isEmpty();
      settleWholly(name);
      assertThat(at("us").given).containsOnly(name + "[eu]");
      at("us").given.clear();
      assertThat(at("us").open).doesNotContain(name);
      assertThat(at("us").holdings).doesNotContainKey(name);
      assertThat(at("eu").holding(name).holders()).containsExactly("eu");
      assertThat(at("sa").state(name, "us")).isEqualTo("none");
      at("us").restart(PAIR);
      assertThat(at("us").plane.beginConfigured()).as("the file says that it holds it").isEmpty();
      assertThat(at("us").open).doesNotContain(name);
    }
  }

  /** As of one that is new: nothing is shown before it has what the others have. */
  @Test
  void holderThatIsAddedAgain_beginsAnotherTerm() {
    create("carts");
    for (String name : List.of("pair", "carts")) {
      at("us").alter(name, "eu");
      settleWholly(name);
      at("eu").alter(name, "eu,us");
      at("us").whole.remove(name);
      settle();
      assertThat(at("us").open).contains(name);
      assertThat(at("us").holding(name).joins()).isTrue();
      assertThat(at("us").holding(name).terms()).containsExactly(Map.entry("us", 1));
      assertThat(at("eu").holding(name).terms()).containsExactly(Map.entry("us", 1));
      assertThat(at("ap").holders(name)).containsExactly("eu");
      at("us").whole.add(name);
      settle();
      assertThat(at("ap").holders(name)).containsExactly("eu", "us");
    }
  }

  /** Each is killed after each step, and goes on with what its store says. */
  @Test
  void whoeverEnds_whileAHolderIsRemoved_goesOn() {
    for (String ends : List.of("eu", "us")) {
      for (int steps = 0; steps < 10; steps++) {
        nodes.clear();
        begin();
        at("eu").alter("pair", "eu");
        for (int i = 0; i < 16; i++) {
          if (i == steps) {
            at(ends).restart(PAIR);
          }
          round("pair");
        }
        assertThat(at("us").holdings).as(ends + " ended at " + steps).doesNotContainKey("pair");
        assertThat(at("us").serves("pair", false)).isFalse();
        assertThat(at("us").given).contains("pair[eu]");
        assertThat(at("eu").serves("pair", true)).isTrue();
        assertThat(at("sa").holders("pair")).containsExactly("eu");
      }
    }
  }

  @Test
  void holdersThatRemoveEachOther_endAlike_andOneStaysAndTakesUpdates() {
    at("eu").alter("pair", "eu");
    at("us").alter("pair", "us");
    for (String dc : List.of("eu", "us")) { // each knows one word alone
      clock += 2_000;
      at(dc).plane.look();
      at(dc).plane.look();
    }
    settleWholly("pair");
    for (Node node : nodes.values()) {
      assertThat(node.holders("pair")).containsExactly("eu");
    }
    assertThat(at("eu").serves("pair", true)).isTrue();
    assertThat(at("us").holdings).doesNotContainKey("pair");
    at("eu").alter("pair", "eu,us");
    settleWholly("pair");
    assertThat(at("eu").holders("pair")).as("the former word counts no more").hasSize(2);
  }

  /** Anybody asks for anything at any moment, hears of anybody, and ends and starts again. */
  @Test
  void whateverIsAskedFor_oneHoldsAll_andAllEndAlike() {
    for (int seed = 0; seed < 10; seed++) {
      nodes.clear();
      begin();
      Random random = new Random(seed);
      for (int i = 0; i < 150; i++) {
        Node node = at(DCS.get(random.nextInt(DCS.size())));
        switch (random.nextInt(8)) {
          case 0 -> {
            List<String> wanted = new ArrayList<>(DCS);
            wanted.removeIf(dc -> random.nextInt(3) == 0);
            try {
              node.alter("pair", wanted.isEmpty() ? "eu" : String.join(",", wanted));
            } catch (OsierException e) {
              assertThat(e.code()).isIn(ErrorCode.INVALID_ARGUMENT, ErrorCode.UNAVAILABLE);
            }
          }
          case 1 -> {
            if (random.nextInt(4) == 0) {
              node.restart(PAIR);
            }
          }
          case 2 -> node.compare("pair", at(DCS.get(random.nextInt(DCS.size()))));
          case 3 -> node.quiet = random.nextBoolean();
          case 4, 5 -> node.copy.hear(at(DCS.get(random.nextInt(DCS.size()))).copy);
          default -> node.plane.look();
        }
        clock += random.nextInt(800);
        assertThat(nodes.values()).as("seed " + seed).anyMatch(n -> n.data.contains("pair"));
      }
      nodes.values().forEach(node -> node.quiet = true);
      settle(); // what they decide comes sooner than the data
      settle();
      settleWholly("pair");
      settleWholly("pair");
      List<String> holders = at("eu").holders("pair");
      assertThat(holders)
          .as("seed " + seed)
          .isNotEmpty()
          .allMatch(holder -> at(holder).data.contains("pair"));
      for (Node node : nodes.values()) {
        assertThat(node.holders("pair")).as("seed " + seed).isEqualTo(holders);
        boolean holds = holders.contains(node.dc);
        boolean byFile = PAIR.heldBy(node.dc);
        assertThat(node.serves("pair", byFile && holds)).as("seed " + seed).isEqualTo(holds);
        assertThat(node.holdings.containsKey("pair") && !holds)
            .as("seed " + seed + " " + node.dc)
            .isFalse();
      }
    }
  }
}
