package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.control.view.KeyspaceView;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.AdminRequest;
import io.osier.testing.Refused;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Homes are added to a keyspace of four datacenters, which eu and us hold. */
final class AddedHomesTest extends HolderPlaneFixture {
  private static final String SA = "carts@sa";

  private void administer(String dc, String action, Map<String, String> settings) {
    at(dc)
        .plane
        .administer(
            new AdminRequest.Administer("keyspace", action, "carts", new TreeMap<>(settings)),
            "op");
  }

  private void create() {
    administer("eu", "create", Map.of("homes", "eu,ap", "replicas", "eu,us", "holders-min", "1"));
    settle();
  }

  private void add(String dc, String homes) {
    administer(dc, "alter", Map.of("homes", homes));
  }

  private void refused(ErrorCode code, String dc, String homes, String... why) {
    assertThatThrownBy(() -> add(dc, homes)).is(Refused.with(code)).hasMessageContainingAll(why);
  }

  private String adding(String dc) {
    return at(dc).plane.views("carts").getFirst().settings().getOrDefault(KeyspaceView.ADDING, "");
  }

  private Map<String, String> noted(String dc, String keyspace) {
    Reading.Fields all =
        (Reading.Fields) at(dc).copy.state(ControlPlane.KEYSPACES).read(new Query.Whole());
    return ControlState.texts(
        requireNonNull(all.fields().get(new FieldId(keyspace, CrdtType.OR_MAP))));
  }

  private boolean isOpenAt(String dc) {
    Reading.Fields all =
        (Reading.Fields) at(dc).copy.state(ControlPlane.KEYSPACES).read(new Query.Whole());
    return all.fields().containsKey(new FieldId(SA, CrdtType.OR_MAP))
        && noted(dc, SA).containsKey("_opened." + dc);
  }

  /** Whether all look for keys of the home in the home. */
  private boolean allLookThere() {
    return nodes.values().stream()
        .map(node -> node.placement.find("carts").orElseThrow().policy().partitioning().homes())
        .allMatch(homes -> homes.names().contains("sa"));
  }

  private boolean isOpenEverywhere(String keyspace) {
    return nodes.values().stream()
        .allMatch(node -> node.placement.keyspaces().containsKey(keyspace));
  }

  private boolean isKnownSomewhere(String keyspace) {
    return nodes.values().stream()
        .anyMatch(node -> node.placement.keyspaces().containsKey(keyspace));
  }

  @Test
  void home_isAdded_andTakesUpdatesOnceAllKnowIt() {
    create();
    administer("us", "alter", Map.of("deny", "ap"));
    settle();
    add("ap", "ap,eu,sa");
    assertThat(adding("ap")).isEqualTo("adding sa, waits for ap, eu, sa, us");
    assertThat(at("us").updates("carts", "sa:1")).as("it has not heard of it").isTrue();
    at("us").keys.clear();
    settle();
    assertThat(isOpenEverywhere(SA)).isTrue();
    for (Node node : nodes.values()) {
      assertThat(adding(node.dc)).isEmpty();
      assertThat(node.holders(SA)).containsExactly("eu", "us");
      assertThat(node.plane.views(SA).getFirst().awaited()).isEmpty();
      assertThat(node.plane.views(SA).getFirst().settings()).containsEntry("deny", "ap");
      assertThat(node.open.contains(SA)).isEqualTo(PAIR.heldBy(node.dc));
      assertThat(node.updates(SA, "sa:1")).isEqualTo(PAIR.heldBy(node.dc));
      assertThat(node.updates("carts", "sa:1")).isFalse();
    }
    assertThat(noted("sa", "carts")).containsEntry("partitions", "2 homes ap,eu,+sa=eu+us");
    assertThat(noted("sa", SA)).containsKeys("_created", "_opened.sa", "_opened.us");
    // It is like all others: it moves, and more are added.
    at("eu").alter(SA, "eu,sa,us");
    settleWholly(SA);
    add("us", "ap,eu,jp,sa");
    settle();
    assertThat(noted("eu", "carts"))
        .containsEntry("partitions", "2 homes ap,eu,+sa=eu+us,+jp=eu+us");
    assertThat(at("ap").holders(SA)).containsExactly("eu", "sa", "us");
    assertThat(at("ap").holders("carts@jp")).containsExactly("eu", "us");
    administer("us", "drop", Map.of());
    settle();
    assertThat(isKnownSomewhere("carts")).isFalse();
    assertThat(isKnownSomewhere(SA)).isFalse();
  }

  @Test
  void keyThatTheHomeWouldTake_isNamed_andStaysWhereItIs() {
    create();
    // By its tag it goes from one home to another.
    assertThat(at("us").updates("carts@eu", "eu:{sa}1")).isTrue();
    add("eu", "ap,eu,sa");
    settle();
    assertThat(isKnownSomewhere(SA)).isFalse();
    for (Node node : nodes.values()) {
      assertThat(adding(node.dc)).isEqualTo("sa not added: us has key 'eu:{sa}1' in 'carts@eu'");
    }
    assertThat(at("eu").updates("carts", "sa:1")).as("all is as before").isTrue();
    at("eu").keys.clear();
    at("us").keys.clear();
    add("ap", "ap,eu,sa");
    settle();
    assertThat(isOpenEverywhere(SA)).isTrue();
    assertThat(adding("eu")).isEmpty();
  }

  @Test
  void additionsAtTwoAtOnce_endAlike() {
    create();
    add("eu", "ap,eu,sa");
    add("us", "ap,eu,jp");
    settle();
    boolean isSa = isKnownSomewhere(SA);
    assertThat(isOpenEverywhere(isSa ? SA : "carts@jp")).isTrue();
    assertThat(isKnownSomewhere(isSa ? "carts@jp" : SA)).isFalse();
    for (Node node : nodes.values()) {
      assertThat(adding(node.dc)).isEmpty();
    }
  }

  @Test
  void datacenterThatIsAway_isWaitedFor_andTheAdditionCanBeTakenBack() {
    create();
    at("eu").cut = Set.of("sa");
    refused(ErrorCode.UNAVAILABLE, "eu", "ap,eu,sa", "sa is out of reach");
    at("eu").cut = Set.of();
    add("eu", "ap,eu,sa");
    Node away = requireNonNull(nodes.remove("sa"));
    settle();
    assertThat(adding("us")).isEqualTo("adding sa, waits for sa");
    assertThat(at("us").updates("carts", "sa:1")).isFalse();
    assertThat(at("us").updates("carts", "so:1")).isTrue();
    add("us", "ap,eu,sa"); // the same command again
    refused(
        ErrorCode.INVALID_ARGUMENT, "us", "ap,eu,jp", "already: [sa]", "take that back at 'eu'");
    refused(ErrorCode.INVALID_ARGUMENT, "us", "ap,eu", "take that back at 'eu'");
    add("eu", "ap,eu");
    settle();
    assertThat(adding("ap")).isEqualTo("sa not added: it was taken back");
    assertThat(at("us").updates("carts", "sa:1")).isTrue();
    nodes.put("sa", away);
    settle();
    assertThat(isKnownSomewhere(SA)).isFalse();
  }

  @Test
  void additionWhoseDeciderIsRemoved_isAskedForAnew() {
    create();
    add("sa", "ap,eu,sa");
    nodes.values().forEach(node -> node.copy.hear(at("sa").copy));
    nodes.remove("sa");
    settle();
    assertThat(adding("us")).isEqualTo("adding sa, waits for sa");
    refused(ErrorCode.INVALID_ARGUMENT, "us", "ap,eu", "at 'sa'");
    at("eu").remove("sa", Map.of("dead", "true"));
    settle();
    refused(ErrorCode.INVALID_ARGUMENT, "us", "ap,eu,jp", "[sa] were being added");
    add("us", "ap,eu,sa");
    settle();
    settle();
    assertThat(isOpenEverywhere(SA)).as(adding("us") + "/" + adding("eu")).isTrue();
    assertThat(at("us").updates(SA, "sa:1")).isTrue();
  }

  @Test
  void datacenterThatStartsMeanwhile_refusesFromItsFirstMoment() {
    create();
    add("eu", "ap,eu,sa");
    Node us = at("us");
    us.copy.hear(at("eu").copy);
    us.restart(PAIR);
    assertThat(us.open).contains("carts");
    assertThat(us.updates("carts", "sa:1")).isFalse();
    assertThat(us.updates("carts", "so:1")).isTrue();
    settle();
    assertThat(isOpenEverywhere(SA)).isTrue();
    at("eu").restart(PAIR);
    settle();
    assertThat(at("eu").updates(SA, "sa:1")).isTrue();
    assertThat(at("eu").updates("carts", "sa:1")).isFalse();
  }

  @Test
  void holdersThatChangeMeanwhile_endTheAddition() {
    create();
    add("eu", "ap,eu,sa");
    at("us").alter("carts", "ap,eu,us");
    settle();
    assertThat(isKnownSomewhere(SA)).isFalse();
    assertThat(adding("sa")).contains("sa not added: the datacenters or holders have changed");
    refused(ErrorCode.UNAVAILABLE, "eu", "ap,eu,sa", "the holders of 'carts' are changing");
    settleWholly("carts");
    add("eu", "ap,eu,sa");
    settle();
    assertThat(at("us").holders(SA)).containsExactly("ap", "eu", "us");
  }

  @Test
  void whatCannotBeAdded_isRefusedInWords() {
    create();
    refused(ErrorCode.INVALID_ARGUMENT, "eu", "ap,sa", "only added", "[eu]");
    refused(ErrorCode.INVALID_ARGUMENT, "eu", "ap,eu,s:a", "names of homes");
    at("sa").spoken = PeerVersions.ADDED_HOMES - 1;
    refused(ErrorCode.UNAVAILABLE, "eu", "ap,eu,sa", "sa speaks version 19");
    at("sa").spoken = PeerVersions.ADDED_HOMES;
    StringBuilder names = new StringBuilder("ap,eu");
    for (int i = 0; i < 63; i++) {
      names.append(",h").append(i);
    }
    refused(ErrorCode.INVALID_ARGUMENT, "eu", names.toString(), "homes must be 1 to 64 names");
    at("eu")
        .plane
        .administer(
            new AdminRequest.Administer(
                "keyspace", "create", "plain", new TreeMap<>(Map.of("replicas", "eu,us"))),
            "op");
    settle();
    for (String plain : List.of("plain", "pair")) {
      assertThatThrownBy(
              () ->
                  at("eu")
                      .plane
                      .administer(
                          new AdminRequest.Administer(
                              "keyspace", "alter", plain, new TreeMap<>(Map.of("homes", "sa"))),
                          "op"))
          .is(Refused.with(ErrorCode.INVALID_ARGUMENT))
          .hasMessageContaining("'" + plain + "' was created without homes");
    }
    add("eu", "eu,ap"); // those that there are
    assertThat(adding("eu")).isEmpty();
  }

  /** Former versions take what follows the homes for names that cannot be. */
  @Test
  void whatIsNoted_cannotBeReadByFormerVersions() {
    create();
    add("eu", "ap,eu,sa");
    assertThat(noted("eu", "carts").get("partitions"))
        .matches("2 homes ap,eu adds sa=eu\\+us [0-9]+-eu [0-9a-f-]{36}");
    assertThatThrownBy(() -> new Homes(List.of("eu adds sa"))).hasMessageContaining("a home is");
    assertThatThrownBy(() -> new Homes(List.of("+sa"))).hasMessageContaining("a home is");
  }

  /**
   * Updates, additions, changes of holders, restarts and what travels between datacenters, in any
   * order: no key is ever in two homes, and none is lost.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void updatesWhileHomesAreAdded_areEachInOneHome(long seed) {
    Random random = new Random(seed);
    create();
    Set<String> acknowledged = new TreeSet<>();
    int added = 0;
    for (int i = 0; i < 400; i++) {
      Node node = at(DCS.get(random.nextInt(DCS.size())));
      Node other = at(DCS.get(random.nextInt(DCS.size())));
      switch (random.nextInt(12)) {
        case 0 -> trying(() -> add(node.dc, "ap,eu,sa"));
        case 1 -> trying(() -> node.alter("carts", random.nextBoolean() ? "eu,us" : "ap,eu,us"));
        case 2 -> {
          if (random.nextInt(4) == 0) {
            if (!isOpenAt(node.dc)) {
              node.opened.remove(SA); // it begins anew
            }
            node.restart(PAIR);
          }
        }
        case 3 -> {
          // A key of the new home, now and then, by whichever way this datacenter knows.
          String keyspace = node.placement.keyspaces().containsKey(SA) ? SA : "carts";
          boolean tries = keyspace.equals(SA) || random.nextInt(6) == 0;
          if (tries && node.updates(keyspace, "sa:" + i)) {
            acknowledged.add("sa:" + i);
            assertThat(keyspace.equals("carts") || allLookThere()).as("seed %d", seed).isTrue();
          }
        }
        case 4, 5, 6, 7 -> replicate(node, other);
        case 8 -> nodes.values().forEach(n -> n.compare("carts", other));
        default -> {
          node.copy.hear(other.copy);
          node.plane.look();
        }
      }
      clock += 300;
      if (!isKnownSomewhere(SA) && random.nextInt(40) == 0) { // it is deleted everywhere
        nodes.values().forEach(n -> n.keys.removeIf(key -> key.startsWith("carts sa:")));
        acknowledged.clear();
      }
      added += isOpenEverywhere(SA) ? 1 : 0;
    }
    settleWholly("carts");
    settleWholly(SA);
    nodes.values().forEach(node -> nodes.values().forEach(other -> replicate(node, other)));
    Set<String> keyspaces = new TreeSet<>();
    Set<String> keys = new TreeSet<>();
    for (Node node : nodes.values()) {
      for (String key : node.keys) {
        keyspaces.add(key.split(" ", -1)[0]);
        keys.add(key.split(" ", -1)[1]);
      }
    }
    assertThat(keys).as("seed %d", seed).containsAll(acknowledged);
    assertThat(keyspaces).as("seed %d, open for %d steps", seed, added).hasSizeLessThan(2);
    if (isKnownSomewhere(SA)) {
      assertThat(keyspaces).as("seed %d", seed).doesNotContain("carts");
    }
  }

  /** One gets what the other has of the keyspaces that both hold. */
  private static void replicate(Node to, Node from) {
    from.keys.stream().filter(key -> to.open.contains(key.split(" ", -1)[0])).forEach(to.keys::add);
  }

  private static void trying(Runnable command) {
    try {
      command.run();
    } catch (OsierException e) {
      assertThat(e.code()).isIn(ErrorCode.INVALID_ARGUMENT, ErrorCode.UNAVAILABLE);
    }
  }
}
