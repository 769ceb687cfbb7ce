package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.PlacementRules;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.testing.Refused;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Nobody may break the laws of a keyspace: whoever alters its holders, wherever, and whenever. */
final class HolderLawsTest extends HolderPlaneFixture {
  private void keyspace(String at, String action, String name, Map<String, String> settings) {
    at(at).administer(action, name, settings);
    settle();
  }

  private void alter(String at, String setting, String value) {
    keyspace(at, "alter", "pair", Map.of(setting, value));
  }

  private void refused(String action, Map<String, String> settings, String... why) {
    String name = action.equals("create") ? "carts" : "pair";
    assertThatThrownBy(() -> keyspace("us", action, name, settings))
        .is(Refused.with(ErrorCode.INVALID_ARGUMENT))
        .hasMessageContainingAll(why);
    settle();
    assertThat(at("eu").holders("pair")).containsExactly("eu", "us");
    assertThat(at("eu").plane.views("carts")).isEmpty();
  }

  @Test
  void lawThatTheHoldersBreak_andOneOfNobody_areRefused_withTheRemedy() {
    refused("alter", Map.of("holders-min", "3"), "at least 3", "[eu, us]", "add holders");
    refused("alter", Map.of("deny", "us"), "deny = us", "[us]", "remove them");
    refused("alter", Map.of("allow", "ap,eu"), "allow = ap,eu", "[us]", "remove them");
    refused("alter", Map.of("deny", "xx"), "no [xx]", "[ap, eu, sa, us]");
    refused("alter", Map.of("holders-min", "0"), "holders-min");
    refused("alter", Map.of("placement", "moving"), "fixed", "adaptive", "pinned");
    refused("create", Map.of("replicas", "eu,us", "deny", "us"), "[us]");
    refused("create", Map.of("replicas", "eu", "holders-min", "2"), "at least 2", "[eu]");
    refused("create", Map.of("replicas", "eu", "placement", "adaptive"), "at least 2", "adaptive");
    refused("create", Map.of("allow", "eu,us"), "all datacenters hold it", "names its replicas");
    keyspace("eu", "create", "all", Map.of());
    assertThatThrownBy(() -> keyspace("eu", "alter", "all", Map.of("holders-min", "1")))
        .hasMessageContaining("all datacenters hold it");
  }

  @Test
  void lawsAreNoted_kept_andLifted_andHoldAfterARestart() {
    alter("us", "holders-min", "2");
    alter("ap", "deny", "sa");
    refused("alter", Map.of("replicas", "eu"), "at least 2", "only these would: [eu]");
    refused("alter", Map.of("replicas", "eu,sa,us"), "deny = sa", "[sa]");
    for (Node node : nodes.values()) {
      node.restart(PAIR);
    }
    settle();
    refused("alter", Map.of("replicas", "eu"), "at least 2");
    refused("alter", Map.of("replicas", "eu,sa,us"), "deny = sa");
    assertThat(at("sa").plane.views("pair").getFirst().settings())
        .containsEntry("holders-min", "2")
        .containsEntry("deny", "sa")
        .doesNotContainKeys("allow", "placement");
    alter("sa", "deny", "");
    keyspace("eu", "alter", "pair", Map.of("replicas", "eu,sa,us"));
    assertThat(at("us").state("pair", "sa")).isEqualTo("catching up");
  }

  /** Whoever catches up may fail to, or be slow: until it has all it is none of the least. */
  @Test
  void holderThatCatchesUp_doesNotCount() {
    alter("eu", "holders-min", "2");
    keyspace("eu", "alter", "pair", Map.of("replicas", "ap,eu,us"));
    assertThatThrownBy(() -> keyspace("eu", "alter", "pair", Map.of("replicas", "ap,eu")))
        .hasMessageContaining("is being added");
    assertThatThrownBy(() -> keyspace("eu", "alter", "pair", Map.of("holders-min", "3")))
        .hasMessageContaining("only these would: [eu, us]");
    at("ap").whole.add("pair");
    settle();
    keyspace("eu", "alter", "pair", Map.of("replicas", "ap,eu"));
    settleWholly("pair");
    assertThat(at("sa").holders("pair")).containsExactly("ap", "eu");
  }

  @Test
  void lawsAreRefused_whileOneDoesNotKnowThem() {
    at("sa").spoken = PeerVersions.PLACEMENT - 1;
    assertThatThrownBy(() -> alter("eu", "holders-min", "2"))
        .is(Refused.with(ErrorCode.UNAVAILABLE))
        .hasMessageContainingAll("version 18", "upgrade first: [sa]");
    assertThatThrownBy(
            () -> keyspace("eu", "create", "carts", Map.of("replicas", "eu,us", "deny", "sa")))
        .is(Refused.with(ErrorCode.UNAVAILABLE))
        .hasMessageContainingAll("version 18", "[sa]");
    keyspace("eu", "create", "carts", Map.of("replicas", "eu,us")); // without laws as ever
  }

  /** Nothing is asked again that held before: a datacenter may have gone, or a holder died. */
  @Test
  void lawsThatTheHoldersBreakAlready_areNoReasonToRefuseAnotherOne() {
    PlacementRules former =
        new PlacementRules(PlacementRules.Placement.ADAPTIVE, 2, List.of(), List.of("xx"));
    PlacementRules pinned =
        new PlacementRules(PlacementRules.Placement.PINNED, 2, List.of(), List.of("xx"));
    List<String> eu = List.of("eu");
    assertThat(pinned.objection(former, eu, eu, Set.of("eu", "us"))).isEmpty();
    assertThat(pinned.objection(PlacementRules.NONE, eu, eu, Set.of("eu", "us"))).isPresent();
  }

  /** Their registers say only what was so in any case. */
  @Test
  void lawsThatSayNothing_ofAKeyspaceThatAllHold_harmNobody() {
    keyspace("eu", "create", "all", Map.of());
    keyspace("eu", "alter", "all", Map.of("placement", "fixed"));
    KeyspacePolicy shop = KeyspacePolicy.session("shop", Duration.ofSeconds(1));
    ControlState state =
        ControlState.of(
            new Reading.Fields(
                new TreeMap<>(
                    Map.of(
                        new FieldId("shop", CrdtType.OR_MAP),
                        new Reading.Fields(
                            new TreeMap<>(
                                Map.of(
                                    new FieldId("placement", CrdtType.LWW_REGISTER),
                                    new Reading.Single(Optional.of(Value.of("fixed"))))))))),
            Map.of("shop", shop),
            Set.of("eu", "us"),
            List.of("eu", "us"));
    KeyspaceDefinition known = state.find("shop").orElseThrow();
    assertThat(known.holders().first()).as("all").isEmpty();
    assertThat(known.policy()).isEqualTo(shop);
  }

  /** A datacenter whose file leaves out what it does not hold sees nothing else of a keyspace. */
  @Test
  void loadOfAKeyspaceOfOthersFiles_isNotLeftOver() {
    Reading.Fields told =
        new Reading.Fields(
            new TreeMap<>(
                Map.of(
                    new FieldId("_load.eu", CrdtType.LWW_REGISTER),
                    new Reading.Single(Optional.of(Value.of("file reads=3.000"))))));
    ControlState state =
        ControlState.of(
            new Reading.Fields(new TreeMap<>(Map.of(new FieldId("shop", CrdtType.OR_MAP), told))),
            Map.of(),
            Set.of("eu", "us"),
            List.of("eu", "us"));
    assertThat(state.remains()).isEmpty();
  }

  /** Holders that follow the load come and go for years. */
  @Test
  void whatWasToldOfEarlierTerms_goesWithTheNextOne() {
    int fields = 0;
    for (int i = 0; i < 5; i++) {
      keyspace("eu", "alter", "pair", Map.of("replicas", "ap,eu,us"));
      settleWholly("pair");
      assertThat(at("sa").holders("pair")).containsExactly("ap", "eu", "us");
      int now = pair("sa").fields().size();
      if (i > 1) {
        assertThat(now - fields).as("one flag says that it was added again").isOne();
      }
      fields = now;
      keyspace("us", "alter", "pair", Map.of("replicas", "eu,us"));
      settleWholly("pair");
      assertThat(at("sa").holders("pair")).containsExactly("eu", "us");
    }
  }

  private Reading.Fields pair(String dc) {
    Reading.Fields all =
        (Reading.Fields) at(dc).copy.state(ControlPlane.KEYSPACES).read(new Query.Whole());
    return (Reading.Fields) requireNonNull(all.fields().get(new FieldId("pair", CrdtType.OR_MAP)));
  }

  /**
   * Two who remove other holders at once may leave fewer than the law asks for: some stay. Checked
   * at each step, in whatever order they hear of each other.
   */
  @Test
  void holdersRemovedAtSeveralAtOnce_areNeverFewerThanTheLeast() {
    for (int seed = 0; seed < 12; seed++) {
      nodes.clear();
      begin();
      Random random = new Random(seed);
      keyspace("eu", "create", "carts", Map.of("replicas", "ap,eu,sa,us", "holders-min", "2"));
      for (String by : DCS) {
        if (random.nextInt(3) > 0) {
          String gone = DCS.get(random.nextInt(4));
          at(by)
              .alter("carts", String.join(",", DCS.stream().filter(n -> !n.equals(gone)).toList()));
        }
      }
      for (int i = 0; i < 30; i++) {
        Node from = at(DCS.get(random.nextInt(4)));
        Node to = at(DCS.get(random.nextInt(4)));
        from.plane.look();
        to.copy.hear(from.copy);
        DCS.forEach(dc -> at(dc).compare("carts", from));
        clock += 400;
        assertHeld(seed);
      }
      for (int i = 0; i < 20; i++) {
        round("carts");
        assertHeld(seed);
      }
      List<String> left = at("eu").holders("carts");
      assertThat(left).as("seed %d", seed).hasSizeGreaterThanOrEqualTo(2);
      DCS.forEach(dc -> assertThat(at(dc).holders("carts")).isEqualTo(left));
    }
  }

  private void assertHeld(int seed) {
    assertThat(DCS.stream().filter(dc -> at(dc).data.contains("carts") && at(dc).given.isEmpty()))
        .as("those that have all, and have not given it up; seed %d", seed)
        .hasSizeGreaterThanOrEqualTo(2);
  }

  @Test
  void laws_areWhatTheySay() {
    PlacementRules rules =
        new PlacementRules(
            PlacementRules.Placement.ADAPTIVE, 0, List.of("us", "eu", "us"), List.of("us"));
    assertThat(rules.allow()).containsExactly("eu", "us");
    assertThat(rules.mayHold("eu")).isTrue();
    assertThat(rules.mayHold("us")).as("deny counts more").isFalse();
    assertThat(rules.mayHold("ap")).isFalse();
    assertThat(rules.least()).isEqualTo(2);
    assertThat(PlacementRules.NONE.least()).isEqualTo(1);
    assertThat(PlacementRules.NONE.mayHold("ap")).isTrue();
  }
}
