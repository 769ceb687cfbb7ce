package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.server.LoggedLines;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.testing.Refused;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Keyspaces with homes that configuration files name, at four datacenters. */
final class HomesOfFilesPlaneTest extends HolderPlaneFixture {
  private static final List<String> ALL = List.of("carts", "carts@ap", "carts@eu");

  /** The keyspace and its homes; that of ap is held by ap and us. */
  private static List<KeyspacePolicy> carts(String... settings) {
    Map<String, String> all = new HashMap<>(Map.of("homes", "ap,eu", "replicas", "eu,us"));
    for (String setting : settings) {
      String[] words = setting.split(" ", 2);
      all.put(words[0], words[1]);
    }
    KeyspacePolicy policy = KeyspaceSettings.created("carts", all, Set.copyOf(DCS));
    List<KeyspacePolicy> policies = new ArrayList<>(List.of(policy));
    for (String home : policy.partitioning().homes().names()) {
      KeyspacePolicy of = policy.home(home);
      policies.add(home.equals("ap") ? of.withReplicas(List.of("ap", "us")) : of);
    }
    return policies;
  }

  private void starts(String dc, List<KeyspacePolicy> file) {
    at(dc).file = file;
    at(dc).restart(PAIR);
  }

  private Map<String, String> settings(String dc, String name) {
    return at(dc).plane.views(name).getFirst().settings();
  }

  private void isThere() {
    for (Node node : nodes.values()) {
      assertThat(node.placement.keyspaces()).containsKeys("carts", "carts@ap", "carts@eu");
      assertThat(node.holders("carts@ap")).containsExactly("ap", "us");
      assertThat(node.holders("carts@eu")).containsExactly("eu", "us");
      for (String name : ALL) {
        assertThat(node.plane.views(name).getFirst().awaited()).isEmpty();
      }
      assertThat(node.plane.awaitedKeyspaces()).isEmpty();
      assertThat(node.plane.refusedKeyspaces()).isEmpty();
    }
    assertThat(at("ap").open).contains("carts@ap").doesNotContain("carts", "carts@eu");
    assertThat(at("eu").open).contains("carts", "carts@eu").doesNotContain("carts@ap");
    assertThat(at("us").open).containsAll(ALL);
  }

  @Test
  void filesThatAgree_createItOnce_andAgainNever() {
    DCS.forEach(dc -> starts(dc, carts()));
    settle();
    isThere();
    String created = at("eu").placement.find("carts").orElseThrow().creation();
    assertThat(created).endsWith("-ap");
    assertThat(at("us").plane.views("carts@ap").getFirst().by()).isEqualTo("the file of ap");
    for (String dc : DCS) {
      starts(dc, carts());
      settle();
    }
    isThere();
    assertThat(at("sa").placement.find("carts@ap").orElseThrow().creation()).isEqualTo(created);
  }

  @Test
  void oneFileThatNamesIt_isEnough_andNobodyCreatesBeforeItHasHeardTheOthers() {
    at("us").settled = false;
    at("us").cut = Set.of("ap");
    starts("us", carts());
    settle();
    settle();
    assertThat(at("us").placement.find("carts")).isEmpty();
    assertThat(at("us").plane.awaitedKeyspaces())
        .singleElement()
        .asString()
        .contains(
            "keyspace 'carts' of the configuration file does not exist yet: us has not heard",
            "not connected: ap; start what does not run, or see 'osier cli why ap'");
    assertThatThrownBy(() -> at("us").administer("create", "more", Map.of()))
        .is(Refused.with(ErrorCode.UNAVAILABLE))
        .hasMessageContaining("not connected: ap");
    at("us").cut = Set.of();
    at("us").plane.look();
    assertThat(at("us").plane.awaitedKeyspaces()).asString().contains("us has not got yet from");
    at("us").settled = true;
    for (int i = 0; i < 3; i++) {
      settle();
    }
    isThere();
  }

  /** Homes are added to one by a command, whatever the files say before and after. */
  @Test
  void homeThatWasAdded_isLeftOutByFiles_orNamedByThem() {
    DCS.forEach(dc -> starts(dc, carts()));
    settle();
    at("sa").administer("alter", "carts", Map.of("homes", "ap,eu,sa"));
    settle();
    for (String dc : DCS) {
      starts(dc, carts(dc.equals("eu") ? "homes ap,eu,sa" : "homes ap,eu"));
      settle();
    }
    isThere();
    for (Node node : nodes.values()) {
      assertThat(node.holders("carts@sa")).containsExactly("eu", "us");
    }
    assertThatThrownBy(() -> starts("us", carts("homes eu,sa")))
        .is(Refused.with(ErrorCode.CONFIGURATION))
        .hasMessageContaining("osier.keyspaces.carts.homes");
    assertThatThrownBy(() -> starts("us", carts("homes ap,eu,jp")))
        .is(Refused.with(ErrorCode.CONFIGURATION))
        .hasMessageContaining("osier.keyspaces.carts.homes");
  }

  @Test
  void alterations_holdWhateverTheFileSays() {
    DCS.forEach(dc -> starts(dc, carts()));
    settle();
    at("sa").administer("alter", "carts", Map.of("sla", "700ms", "deny", "sa"));
    at("sa").administer("alter", "carts@ap", Map.of("holders-min", "1"));
    settle();
    at("eu").administer("alter", "carts@ap", Map.of("replicas", "us"));
    settleWholly("carts@ap");
    for (String dc : DCS) {
      starts(dc, carts("sla 3s"));
      settle();
    }
    settleWholly("carts@ap");
    for (String dc : DCS) {
      assertThat(settings(dc, "carts@eu"))
          .containsEntry("sla", "700ms")
          .containsEntry("deny", "sa");
      assertThat(settings(dc, "carts@ap")).containsEntry("holders-min", "1");
      assertThat(at(dc).holders("carts@ap")).containsExactly("us");
    }
    assertThatThrownBy(() -> at("eu").administer("drop", "carts", Map.of()))
        .hasMessageContaining("can be dropped when it is taken out of all of them");
    DCS.forEach(dc -> starts(dc, List.of()));
    at("eu").administer("drop", "carts", Map.of());
    settle();
    assertThat(at("us").placement.find("carts@eu")).isEmpty();
  }

  /** An alteration is no fault. What a file says in vain is said at the start. */
  @Test
  void fileThatSaysSomethingElse_isNamedAtTheStart_andNotAtEachAlteration() {
    DCS.forEach(dc -> starts(dc, carts()));
    settle();
    try (LoggedLines log = new LoggedLines(KeyspaceCreation.class.getName()).quietly()) {
      at("sa").administer("alter", "carts", Map.of("sla", "700ms"));
      settle();
      assertThat(log.all()).isEmpty();
      starts("eu", carts("sla 3s"));
      settle();
      at("sa").administer("alter", "carts", Map.of("sla", "800ms"));
      settle();
      assertThat(log.all())
          .singleElement()
          .asString()
          .contains("whatever the configuration file says", "sla of 'carts' is '700ms', not '3");
    }
  }

  @Test
  void homesThatAreAddedToTheFile_areRefusedAtTheStart_andWhereTheyCameLaterNotHeeded() {
    starts("eu", carts());
    settle();
    settle();
    assertThatThrownBy(() -> starts("us", carts("homes ap,eu,sa")))
        .is(Refused.with(ErrorCode.CONFIGURATION))
        .hasMessageContainingAll(
            "osier.keyspaces.carts.homes", "created with ap,eu", "says ap,eu,sa", "are fixed");
    assertThatThrownBy(() -> starts("us", carts("partitions 5")))
        .is(Refused.with(ErrorCode.CONFIGURATION))
        .hasMessageContaining("osier.keyspaces.carts.partitions");
    at("us").file = carts("homes ap,eu,sa");
    at("us").restartWithoutOsier(PAIR);
    settle();
    assertThat(settings("us", "carts")).containsEntry("homes", "ap,eu");
    assertThat(at("us").placement.find("carts@sa")).isEmpty();
    isThere();
  }

  @Test
  void filesThatDisagree_endAlike() {
    starts("us", carts("homes ap,eu,sa", "sla 5s"));
    starts("eu", carts());
    settle();
    settle();
    isThere();
    assertThat(settings("us", "carts")).isEqualTo(settings("eu", "carts"));
  }

  /** Each creates it before it hears of the other: one wins, with the holders of all its homes. */
  @Test
  void twoThatCreateItAtOnce_endInOneOutcome() {
    List<KeyspacePolicy> other = new ArrayList<>(carts("sla 5s"));
    other.set(1, other.get(1).withReplicas(List.of("ap", "eu")));
    starts("us", carts());
    starts("eu", other);
    for (String dc : List.of("eu", "us")) {
      at(dc).plane.look();
    }
    clock += 10_000;
    for (String dc : List.of("eu", "us")) {
      at(dc).plane.look();
      assertThat(at(dc).open).contains("carts");
    }
    settle();
    settle();
    boolean isOfEu = "5000ms".equals(settings("sa", "carts").get("sla"));
    for (Node node : nodes.values()) {
      assertThat(settings(node.dc, "carts")).isEqualTo(settings("sa", "carts"));
      assertThat(node.holders("carts@ap")).containsExactly("ap", isOfEu ? "eu" : "us");
      assertThat(node.open.contains("carts@ap"))
          .isEqualTo(node.holders("carts@ap").contains(node.dc));
      for (String name : ALL) {
        assertThat(node.plane.views(name).getFirst().awaited()).isEmpty();
      }
    }
  }

  @Test
  void homeThatThereIsNot_isRefusedByName_withThoseThatThereAre() {
    starts("eu", carts());
    settle();
    settle();
    for (String action : List.of("alter", "drop")) {
      Map<String, String> settings = action.equals("alter") ? Map.of("sla", "1s") : Map.of();
      assertThatThrownBy(() -> at("eu").administer(action, "carts@zz", settings))
          .is(Refused.with(ErrorCode.UNKNOWN_KEYSPACE))
          .hasMessageContaining("keyspace 'carts' has no home 'zz'; its homes are ap, eu");
      assertThatThrownBy(() -> at("eu").administer(action, "pair@zz", settings))
          .hasMessageContaining("keyspace 'pair' has no home 'zz'; it was created without homes");
      assertThatThrownBy(() -> at("eu").administer(action, "lost@zz", settings))
          .hasMessageContaining("there is no keyspace 'lost@zz'; there are [carts, carts@ap");
    }
    assertThatThrownBy(() -> at("eu").administer("alter", "lost", Map.of("partitions", "1")))
        .is(Refused.with(ErrorCode.UNKNOWN_KEYSPACE));
  }

  @Test
  void keyspaceThatWasNamedWithoutHomes_getsNone() {
    at("eu").stored = true;
    assertThatThrownBy(() -> starts("eu", carts()))
        .is(Refused.with(ErrorCode.CONFIGURATION))
        .hasMessageContainingAll("osier.keyspaces.carts.homes", "named without homes");
    at("eu").stored = false;
    starts("eu", carts());
    settle();
    settle();
    at("eu").stored = true; // of another one, from before
    starts("eu", carts());
    isThere();
  }

  @Test
  void whatCannotBeCreated_waits() {
    at("sa").spoken = PeerVersions.HOMES - 1;
    starts("eu", carts());
    settle();
    settle();
    assertThat(at("eu").placement.find("carts")).isEmpty();
    assertThat(at("eu").open).doesNotContainAnyElementsOf(ALL);
    assertThat(at("eu").plane.awaitedKeyspaces()).as("it serves all else").isEmpty();
    assertThat(at("eu").plane.refusedKeyspaces())
        .singleElement()
        .asString()
        .contains(
            "'carts' of the configuration file does not exist yet",
            "at eu to speak",
            "too old, so upgrade first: [sa]");
    at("eu").unheard = Set.of("sa");
    settle();
    assertThat(at("eu").plane.refusedKeyspaces()).asString().contains("so start first: [sa]");
    at("eu").unheard = Set.of();
    at("sa").spoken = PeerVersions.HOMES;
    settle();
    isThere();
  }

  private static Reading map(Reading.Fields all, String keyspace) {
    return requireNonNull(all.fields().get(new FieldId(keyspace, CrdtType.OR_MAP)));
  }

  /** A version that knows no replicas of homes finds names of homes that there cannot be. */
  @Test
  void replicasOfHomes_areNothingThatFormerVersionsRead() {
    starts("eu", carts());
    settle();
    settle();
    Reading.Fields all =
        (Reading.Fields) at("sa").copy.state(ControlPlane.KEYSPACES).read(new Query.Whole());
    Map<String, String> texts = ControlState.texts(map(all, "carts"));
    assertThat(texts).containsEntry("partitions", "2 homes ap=ap+us,eu");
    assertThatThrownBy(
            () -> KeyspaceSettings.read("carts", Map.of("homes", "ap=ap+us,eu"), Set.copyOf(DCS)))
        .isInstanceOf(OsierException.class);
    assertThat(ControlState.texts(map(all, "carts@ap")))
        .as("who holds it is noted with the homes alone")
        .doesNotContainKeys("replicas", "_members");
    assertThat(at("sa").plane.views("carts@ap").getFirst().settings())
        .containsEntry("holders-min", String.valueOf(PlacementRules.NONE.pairs().least()));
  }
}
