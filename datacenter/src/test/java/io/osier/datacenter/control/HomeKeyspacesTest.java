package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
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
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Keyspaces with homes are created, altered and dropped at four datacenters. */
final class HomeKeyspacesTest extends HolderPlaneFixture {
  private static final List<String> ALL = List.of("carts", "carts@ap", "carts@eu");

  private void create(String dc, String homes) {
    at(dc).administer("create", "carts", Map.of("homes", homes, "replicas", "eu,us"));
  }

  private void refused(String dc, String action, String name, Map<String, String> of, String why) {
    assertThatThrownBy(() -> at(dc).administer(action, name, of))
        .is(Refused.with(ErrorCode.INVALID_ARGUMENT))
        .hasMessageContaining(why);
  }

  private List<String> listed(String dc) {
    return at(dc).placement.keyspaces().keySet().stream()
        .filter(name -> Homes.base(name).equals("carts"))
        .toList();
  }

  private Map<String, String> settings(String dc, String name) {
    return at(dc).plane.views(name).getFirst().settings();
  }

  private Reading.Fields osier(String dc) {
    return (Reading.Fields) at(dc).copy.state(ControlPlane.KEYSPACES).read(new Query.Whole());
  }

  @Test
  void homesAreOpenedWithTheirKeyspace_andDroppedWithIt() {
    create("eu", "eu,ap");
    settle();
    for (Node node : nodes.values()) {
      assertThat(listed(node.dc)).containsExactlyElementsOf(ALL);
      if (PAIR.heldBy(node.dc)) {
        assertThat(node.open).containsAll(ALL);
      } else {
        assertThat(node.open).doesNotContainAnyElementsOf(ALL);
      }
      for (String name : ALL) {
        assertThat(node.holders(name)).containsExactly("eu", "us");
        assertThat(node.plane.views(name).getFirst().awaited()).isEmpty();
      }
    }
    refused("us", "drop", "carts@eu", Map.of(), "goes with it (keyspace drop carts)");
    refused("us", "create", "carts@sa", Map.of(), "keyspace name must be");
    refused(
        "us", "create", "carts", Map.of("homes", "eu,ap", "replicas", "eu,us"), "very settings");
    at("us").administer("drop", "carts", Map.of());
    settle();
    for (Node node : nodes.values()) {
      assertThat(listed(node.dc)).isEmpty();
      assertThat(node.open).doesNotContainAnyElementsOf(ALL);
      assertThat(osier(node.dc).fields().keySet())
          .noneMatch(field -> Homes.base(field.name()).equals("carts"));
    }
    create("us", "us"); // another creation, with other homes
    settle();
    assertThat(listed("sa")).containsExactly("carts", "carts@us");
  }

  @Test
  void holdersOfAHome_areAlteredByThemselves_andAllElseForAllAtOnce() {
    create("eu", "eu,ap");
    settle();
    refused("sa", "alter", "carts@ap", Map.of("sla", "1s"), "with keyspace 'carts'");
    refused("sa", "alter", "carts", Map.of("homes", "eu"), "homes are only added");
    at("sa").administer("alter", "carts@ap", Map.of("replicas", "ap,eu,us"));
    at("us").administer("alter", "carts", Map.of("sla", "700ms", "holders-min", "1"));
    settleWholly("carts@ap");
    at("ap").administer("alter", "carts@ap", Map.of("replicas", "ap"));
    settleWholly("carts@ap");
    for (Node node : nodes.values()) {
      assertThat(node.holders("carts@ap")).containsExactly("ap");
      assertThat(node.holders("carts@eu")).containsExactly("eu", "us");
      assertThat(node.holders("carts")).containsExactly("eu", "us");
      for (String name : ALL) {
        assertThat(node.plane.views(name).getFirst().settings()).containsEntry("sla", "700ms");
      }
    }
    assertThat(at("ap").open).contains("carts@ap").doesNotContain("carts", "carts@eu");
    assertThat(at("us").open).contains("carts", "carts@eu").doesNotContain("carts@ap");
  }

  @Test
  void lawsOfAKeyspace_areThoseOfItsHomes_andEachHomeMayHaveItsOwn() {
    create("eu", "eu,ap");
    settle();
    refused("ap", "alter", "carts@eu", Map.of("replicas", "eu"), "at least 2 datacenters");
    at("us").administer("alter", "carts", Map.of("deny", "sa", "holders-min", "1"));
    at("us").administer("alter", "carts@ap", Map.of("holders-min", "2"));
    settle();
    for (String name : ALL) {
      refused("eu", "alter", name, Map.of("replicas", "eu,sa,us"), "deny = sa");
    }
    refused("ap", "alter", "carts@ap", Map.of("replicas", "eu"), "at least 2 datacenters");
    at("ap").administer("alter", "carts@eu", Map.of("replicas", "eu"));
    settleWholly("carts@eu");
    refused("ap", "alter", "carts", Map.of("holders-min", "2"), "keyspace 'carts@eu'");
    assertThat(at("sa").plane.views("carts").getFirst().settings())
        .as("what is refused for one home is done for none")
        .doesNotContainEntry("holders-min", "2");
  }

  /**
   * What is named as a home by no keyspace that this datacenter sees may be somebody's all same.
   */
  @Test
  void homesOfAKeyspaceThatTheFileNamesToo_stayWhereTheyAre() {
    create("eu", "eu,ap");
    ControlState state =
        ControlState.of(
            osier("eu"),
            Map.of("carts", KeyspacePolicy.session("carts", Duration.ofSeconds(1))),
            Set.of(),
            List.of());
    assertThat(state.clashing()).containsExactly("carts");
    assertThat(state.remains()).isEmpty();
    assertThat(state.unreadable()).containsOnlyKeys("carts@ap", "carts@eu");
  }

  /** They may be of a later version: nobody may go or come until they are understood. */
  @Test
  void lawsOfAHomeThatCannotBeRead_letNothingMove() {
    create("eu", "eu,ap");
    FieldId name = new FieldId("carts@eu", CrdtType.OR_MAP);
    TreeMap<FieldId, Reading> all = new TreeMap<>(osier("eu").fields());
    TreeMap<FieldId, Reading> home =
        new TreeMap<>(((Reading.Fields) requireNonNull(all.get(name))).fields());
    home.put(
        new FieldId("placement", CrdtType.LWW_REGISTER),
        new Reading.Single(Optional.of(Value.of("by the moon"))));
    all.put(name, new Reading.Fields(home));
    PlacementRules rules =
        requireNonNull(
                ControlState.of(new Reading.Fields(all), Map.of(), Set.copyOf(DCS), DCS)
                    .created()
                    .get("carts@eu"))
            .policy()
            .rules();
    assertThat(rules.tooFew(DCS)).isPresent();
    assertThat(rules.mayHold("eu")).isTrue();
    assertThat(rules.mayHold("sa")).isFalse();
    assertThat(rules.counts()).isFalse();
  }

  @Test
  void creationThatWins_hasItsOwnLaws() {
    Map<String, String> laws =
        Map.of("homes", "eu,ap", "replicas", "eu,us", "deny", "sa", "placement", "adaptive");
    int lawful = 0;
    for (String first : List.of("eu", "us")) {
      if (first.equals("us")) {
        create(first, "eu,ap");
      }
      at("eu").administer("create", "carts", laws);
      if (first.equals("eu")) {
        create("us", "eu,ap");
      }
      settle();
      boolean isLawful = settings("ap", "carts").containsKey("deny");
      lawful += isLawful ? 1 : 0;
      for (Node node : nodes.values()) {
        for (String name : ALL) {
          assertThat(settings(node.dc, name).containsKey("deny")).isEqualTo(isLawful);
          assertThat(settings(node.dc, name).containsKey("placement")).isEqualTo(isLawful);
        }
      }
      at("us").administer("drop", "carts", Map.of());
      settle();
    }
    assertThat(lawful).as("that of one datacenter wins").isOne();
  }

  @Test
  void homesThatNameNone_areRefused() {
    refused("eu", "create", "carts", Map.of("homes", "all"), "homes must be 1 to 64 names");
    refused("eu", "create", "carts", Map.of("homes", ""), "homes must be 1 to 64 names");
  }

  /** One of the two wins everywhere, with its homes and no others. */
  @Test
  void creationsAtTwoAtOnce_endAlike() {
    create("eu", "eu,ap");
    create("us", "eu,sa");
    assertThat(at("eu").open).contains("carts@ap");
    settle();
    List<String> won = listed("ap");
    assertThat(won)
        .isIn(List.of("carts", "carts@ap", "carts@eu"), List.of("carts", "carts@eu", "carts@sa"));
    for (Node node : nodes.values()) {
      assertThat(listed(node.dc)).isEqualTo(won);
      for (String name : won) {
        assertThat(node.plane.views(name).getFirst().awaited()).as(name).isEmpty();
      }
      if (PAIR.heldBy(node.dc)) {
        assertThat(node.open.stream().filter(n -> Homes.base(n).equals("carts")))
            .containsExactlyInAnyOrderElementsOf(won);
      }
      assertThat(osier(node.dc).fields().keySet().stream().map(FieldId::name))
          .as("what is left of the other one is removed")
          .filteredOn(name -> Homes.base(name).equals("carts"))
          .containsExactlyInAnyOrderElementsOf(won);
    }
  }

  @Test
  void homeThatIsAlteredWhileItsKeyspaceIsDropped_goes() {
    create("eu", "eu,ap");
    settle();
    at("eu").administer("drop", "carts", Map.of());
    at("us").administer("alter", "carts@eu", Map.of("replicas", "ap,eu,us"));
    settle();
    for (Node node : nodes.values()) {
      assertThat(listed(node.dc)).isEmpty();
      assertThat(osier(node.dc).fields().keySet())
          .noneMatch(field -> Homes.base(field.name()).equals("carts"));
    }
  }

  @Test
  void datacenterThatKnowsNoHomes_isNamed_andThosePartitionsCountAll() {
    at("sa").spoken = PeerVersions.HOMES - 1;
    assertThatThrownBy(() -> create("eu", "eu,ap"))
        .is(Refused.with(ErrorCode.UNAVAILABLE))
        .hasMessageContainingAll("with homes", "version 18", "[sa]");
    at("sa").spoken = PeerVersions.HOMES;
    Map<String, String> many = Map.of("homes", "eu,ap", "partitions", "171", "replicas", "eu,us");
    refused("eu", "create", "carts", many, "the 513 partitions of 'carts'");
    Map<String, String> causal = Map.of("homes", "eu", "consistency", "causal");
    refused("eu", "create", "carts", causal, "left out of a causal keyspace");
    refused("eu", "create", "carts", Map.of("homes", "e:u"), "names of homes");
    refused("eu", "create", "carts", Map.of("homes", "eu,us,eu"), "homes has 'eu' twice");
    refused("eu", "create", "carts", Map.of("replicas", "eu,eu"), "replicas has 'eu' twice");
    create("eu", "eu,ap");
    settle();
    refused("eu", "alter", "carts@eu", Map.of("replicas", "us,eu,us"), "replicas has 'us' twice");
    refused("eu", "alter", "carts", Map.of("deny", "us, us"), "deny has 'us' twice");
    at("sa").spoken = PeerVersions.HOMES - 1; // it was taken back
    assertThatThrownBy(
            () -> at("eu").administer("alter", "carts@eu", Map.of("replicas", "eu,sa,us")))
        .is(Refused.with(ErrorCode.UNAVAILABLE))
        .hasMessageContaining("version 18");
  }

  /** A version that knows no homes finds no number, and a creation that it cannot read. */
  @Test
  void whatIsNoted_isNothingThatFormerVersionsTakeForAnotherKeyspace() {
    create("eu", "eu,ap");
    Reading.Fields all = osier("eu");
    Reading base = requireNonNull(all.fields().get(new FieldId("carts", CrdtType.OR_MAP)));
    assertThat(ControlState.texts(base)).containsEntry("partitions", "2 homes ap,eu");
    Reading home = requireNonNull(all.fields().get(new FieldId("carts@eu", CrdtType.OR_MAP)));
    assertThat(ControlState.texts(home)).containsKey("_created").doesNotContainKey("_members");
    Reading.Fields later =
        new Reading.Fields(
            new TreeMap<>(
                Map.of(
                    new FieldId("carts", CrdtType.OR_MAP),
                    new Reading.Fields(new TreeMap<>(fieldsOf("_created"))),
                    new FieldId("carts@eu", CrdtType.OR_MAP),
                    home)));
    ControlState state = ControlState.of(later, Map.of(), Set.of(), List.of());
    assertThat(state.unreadable()).containsOnlyKeys("carts", "carts@eu");
    assertThat(state.remains()).isEmpty();
  }

  private static Map<FieldId, Reading> fieldsOf(String register) {
    return Map.of(
        new FieldId(register, CrdtType.LWW_REGISTER),
        new Reading.Single(Optional.of(Value.of("1-later"))));
  }
}
