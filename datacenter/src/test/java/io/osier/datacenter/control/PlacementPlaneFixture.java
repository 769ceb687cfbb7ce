package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.placement.PlacementView;
import io.osier.protocol.AdminRequest;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;

/**
 * Four datacenters with a keyspace whose holders follow what is asked of it, in a stepped world.
 */
abstract class PlacementPlaneFixture extends HolderPlaneFixture {
  static final String CARTS = "carts";

  @BeforeEach
  void createAdaptive() {
    command("create", Map.of("replicas", "eu,us", "placement", "adaptive"));
    settle();
  }

  void command(String action, Map<String, String> settings) {
    at("us")
        .plane
        .administer(
            new AdminRequest.Administer("keyspace", action, CARTS, new TreeMap<>(settings)), "op");
    settle();
  }

  /** So many seconds, in each of which so much is asked. */
  void seconds(int seconds, Map<String, Long> reads, Map<String, Long> updates) {
    for (int i = 0; i < 0.4 * seconds; i++) {
      nodes.forEach(
          (dc, node) ->
              node.load.asked(
                  5 * reads.getOrDefault(dc, 0L) / 2, 5 * updates.getOrDefault(dc, 0L) / 2));
      round(CARTS); // which takes half a second
      clock += 2_000;
      nodes.values().forEach(this::assertLaws);
    }
  }

  private void assertLaws(Node any) {
    assertThat(DCS.stream().filter(dc -> nodes.containsKey(dc) && at(dc).data.contains(CARTS)))
        .as("those that have all, as %s steps", any.dc)
        .hasSizeGreaterThanOrEqualTo(2);
  }

  PlacementView view(String dc) {
    return at(dc).plane.placements().getFirst();
  }

  List<String> audited() {
    return nodes.values().stream().flatMap(node -> node.load.audited.stream()).toList();
  }

  void askedAtAp(String caughtUp) {
    for (int i = 0; i < 40; i++) {
      at("ap").load.asked(250, 0);
      round(caughtUp);
      clock += 2_000;
    }
  }

  void giveUp(String dc) {
    Node lost = requireNonNull(nodes.remove(dc));
    at("eu")
        .plane
        .administerDatacenters(
            new AdminRequest.Administer(
                "dc", "remove", lost.dc, new TreeMap<>(Map.of("dead", "true"))),
            "op");
    for (int i = 0; i < 5; i++) {
      settle();
    }
  }
}
