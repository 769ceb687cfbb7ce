package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.control.view.KeyspaceView;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Keyspaces whose holders follow the load go where there is room for them. */
final class PlacementRoomTest extends PlacementPlaneFixture {
  /** The disk of one that would be added has too little room for it; of another one it has none. */
  @Test
  void datacenterWithoutRoom_isNeverAdded_evenIfFewHoldIt() {
    at("ap").load.room = OptionalLong.of(66 << 20);
    at("sa").load.room = OptionalLong.of(0);
    Map<String, Long> reads = Map.of("ap", 100L, "sa", 100L);
    seconds(60, reads, Map.of());
    assertThat(at("sa").holders(CARTS)).containsExactly("eu", "us");
    assertThat(view("eu").figures()).contains("room=1.000");
    assertThat(view("eu").next()).contains("ap has no room for it; sa has no room for it");
    at("ap").load.room = OptionalLong.of(1 << 30);
    seconds(60, reads, Map.of());
    assertThat(at("sa").holders(CARTS)).containsExactly("ap", "eu", "us");
    giveUp("us");
    giveUp("ap");
    for (int i = 0; i < 60; i++) {
      round(CARTS);
      clock += 2_000;
    }
    assertThat(at("eu").holders(CARTS)).as("only sa is left").containsExactly("eu");
    at("sa").load.room = OptionalLong.empty();
    for (int i = 0; i < 60; i++) {
      round(CARTS);
      clock += 2_000;
    }
    assertThat(at("eu").holders(CARTS)).containsExactly("eu", "sa");
  }

  /** Each has room at ap by itself; together they may not. */
  @Test
  void datacenter_getsOneKeyspaceAtATime() {
    at("us").administer("create", "wares", Map.of("replicas", "eu,us", "placement", "adaptive"));
    settle();
    at("eu").restart(PAIR); // so that both are decided in the same steps
    askedAtAp("nothing"); // nobody catches up
    assertThat(audited()).singleElement().asString().contains("carts replicas=ap,eu,us");
    assertThat(at("eu").plane.placements().get(1).next()).contains("; ap is being added to carts");
    askedAtAp(CARTS);
    assertThat(audited()).hasSize(2).last().asString().contains("wares replicas=ap,eu,us");
  }

  /** Two decide of two keyspaces before they hear of each other. */
  @Test
  void newcomerThatIsAddedToTwoAtOnce_opensWhatItHasRoomFor_andGivesTheOtherUp() {
    command("alter", Map.of("placement", "pinned", "replicas", "eu,us"));
    at("us").administer("create", "wares", Map.of("replicas", "sa,us", "placement", "pinned"));
    settle();
    at("ap").load.room = OptionalLong.of((64L << 20) + 5_000_000); // for one of a megabyte
    askedAtAp("nothing");
    command("alter", Map.of("placement", "adaptive"));
    at("us").alter("carts", "ap,eu,us");
    at("sa").administer("alter", "wares", Map.of("placement", "adaptive", "replicas", "ap,sa,us"));
    round("nothing");
    round("nothing");
    assertThat(at("ap").open).contains("carts").doesNotContain("wares");
    assertThat(at("ap").load.audited).isEmpty();
    askedAtAp("wares");
    assertThat(at("ap").load.audited)
        .singleElement()
        .asString()
        .contains("keyspace alter wares replicas=sa,us: it has no room for it");
    assertThat(at("eu").plane.views("wares").getFirst().holders())
        .extracting(KeyspaceView.Holder::dc)
        .as("it has gone, and nobody adds it while it gets another one")
        .containsExactly("sa", "us");
    assertThat(at("ap").data).doesNotContain("wares");
    at("ap").load.room = OptionalLong.of((64L << 20) + 2_000_000); // now that it has carts
    askedAtAp("carts");
    askedAtAp("wares");
    assertThat(at("us").holders("carts")).contains("ap");
    assertThat(at("us").holders("wares")).containsExactly("sa", "us");
    assertThat(at("ap").load.audited).hasSize(1);
    at("ap").load.room = OptionalLong.of(1L << 30);
    askedAtAp("wares");
    assertThat(at("us").holders("wares")).contains("ap");
  }
}
