package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.AdminRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holders are removed from a keyspace and leave the cluster at once; one must keep the data. */
final class LeavingHolderTest {
  private static final List<String> DCS = List.of("ap", "eu", "us");

  private static final KeyspacePolicy PAIR =
      KeyspacePolicy.session("pair", Duration.ofSeconds(1)).withReplicas(List.of("eu", "us"));

  private long clock = 100_000;
  private final SortedMap<String, Node> nodes = new TreeMap<>();

  private final class Node extends StillHost {
    final ControlPlane plane;
    boolean has;

    /** Whether it has the data that the first holders had. */
    boolean whole;

    boolean ended;
    boolean ceased;
    List<String> hinders = List.of();

    Node(String dc) {
      super(dc, new OsierCopy(new ReplicaId(dc, 1), () -> ++clock));
      has = PAIR.heldBy(dc);
      whole = has;
      SortedMap<String, Optional<String>> addresses = new TreeMap<>();
      DCS.forEach(n -> addresses.put(n, n.equals(dc) ? Optional.empty() : Optional.of(n + ":1")));
      plane = new ControlPlane(dc, addresses, Map.of("pair", PAIR), () -> clock, this);
    }

    void alter(String replicas) {
      plane.administer(
          new AdminRequest.Administer(
              "keyspace", "alter", "pair", new TreeMap<>(Map.of("replicas", replicas))),
          "op");
    }

    void remove(String name, boolean dead) {
      plane.administerDatacenters(
          new AdminRequest.Administer(
              "dc", "remove", name, new TreeMap<>(Map.of("dead", String.valueOf(dead)))),
          "op");
    }

    void look() {
      if (!ended) {
        plane.look();
      }
    }

    /** Gets what another one has of the keyspace, if both hold it. */
    void fetch(Node from) {
      whole |= has && from.whole;
    }

    @Override
    public void open(KeyspacePolicy policy, String created, boolean first, List<String> waits) {
      throw new AssertionError("nobody creates keyspaces");
    }

    @Override
    public void openConfigured(KeyspacePolicy policy) {
      has = true;
    }

    @Override
    public void drop(String name, String created) {
      has = false;
      whole = false;
    }

    @Override
    public boolean isWhole(String keyspace) {
      return whole;
    }

    @Override
    public boolean cease(String keyspace) {
      ceased = true;
      return true;
    }

    @Override
    public void resume(String keyspace) {
      ceased = false;
    }

    @Override
    public boolean giveAway(String keyspace, List<String> heirs) {
      return true;
    }

    @Override
    public void setPeers(ControlHost.Peers changed) {}

    @Override
    public int protocol(String name) {
      return PeerVersions.NEWEST;
    }

    @Override
    public boolean isSettled() {
      return true;
    }

    @Override
    public boolean isQuiet() {
      return true;
    }

    @Override
    public boolean isConnected(String name) {
      return !name.equals("dead");
    }

    @Override
    public boolean leave(List<String> heirs) {
      return true;
    }

    @Override
    public void hinders(List<String> words) {
      hinders = words;
    }

    @Override
    public void end(String why) {
      ended = true;
      has = false;
      whole = false;
    }
  }

  @BeforeEach
  void begin() {
    nodes.clear();
    DCS.forEach(dc -> nodes.put(dc, new Node(dc)));
    nodes.values().forEach(Node::look);
    nodes.values().forEach(n -> nodes.values().forEach(o -> o.copy.hear(n.copy)));
  }

  private Node at(String dc) {
    return requireNonNull(nodes.get(dc));
  }

  private void settle() {
    for (int i = 0; i < 40; i++) {
      for (Node node : nodes.values()) {
        node.look();
        nodes.values().stream().filter(o -> !o.ended).forEach(o -> o.copy.hear(node.copy));
        if (i % 10 == 9) { // what they decide comes sooner than the data
          nodes.values().forEach(o -> o.fetch(node));
        }
      }
      clock += 500;
    }
  }

  private List<String> having() {
    return nodes.values().stream().filter(n -> n.whole).map(n -> n.dc).toList();
  }

  @Test
  void whatWouldLeaveOnlyHoldersThatLeave_isRefused() {
    at("eu").alter("us,eu");
    at("ap").remove("us", false);
    assertThatThrownBy(() -> at("ap").alter("us"))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("'us' holds 'pair' and is leaving the cluster");
    assertThatThrownBy(() -> at("ap").remove("eu", false))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("held by 'eu' alone");
    settle();
    assertThat(at("us").ended).isTrue();
    assertThat(having()).containsExactly("eu");
  }

  @Test
  void holderDoesNotLeaveTheCluster_whileAnotherOneIsRemoved() {
    at("ap").alter("ap,eu,us");
    settle();
    at("ap").alter("ap,eu");
    assertThatThrownBy(() -> at("ap").remove("eu", false))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("are being removed: [us]");
    settle();
    at("ap").remove("eu", false);
    settle();
    assertThat(having()).containsExactly("ap");
  }

  /** Told at two places that have not heard of each other, after so many steps of the first. */
  @Test
  void holderThatIsToStay_andLeavesTheCluster_keepsTheData_untilAnotherOneHasThem() {
    for (int steps = 0; steps < 12; steps += 2) {
      begin();
      at("us").alter("eu");
      for (int i = 0; i < steps; i++) {
        at("us").look();
        at("us").copy.hear(at("eu").copy);
        clock += 500;
      }
      at("eu").remove("eu", false);
      at("eu").look();
      settle();
      assertThat(having()).as("after %s steps", steps).isNotEmpty();
      assertThat(at("eu").ended).as("as us can stay").isTrue();
      assertThat(having()).containsExactly("us");
    }
  }

  /** The one that stays has heard of the removal, and who tells it to leave has not. */
  @Test
  void holderThatIsToStay_andLeavesTheCluster_isNotWaitedForByTheOneThatTakesItsPlace() {
    for (int steps = 0; steps < 12; steps++) {
      begin();
      at("us").alter("eu");
      for (int i = 0; i < steps; i++) {
        at("us").look();
        at("eu").copy.hear(at("us").copy);
        at("eu").look();
        at("us").copy.hear(at("eu").copy);
        clock += 500;
      }
      at("ap").remove("eu", false);
      settle();
      settle();
      if (at("us").has) {
        assertThat(at("eu").ended).as("after %s steps", steps).isTrue();
        assertThat(at("us").ceased).as("takes updates").isFalse();
      } else {
        assertThat(having()).as("us had gone").containsExactly("eu");
      }
    }
  }

  @Test
  void onlyHolderThatIsLeft_saysWhyItStays_andGoesWhenAnotherOneHolds() {
    at("us").alter("eu");
    settle();
    assertThat(having()).containsExactly("eu");
    // as one that has not heard who was removed
    Membership at = membership(at("eu"));
    new ControlObjects((request, wait) -> at("ap").ask(request, wait), () -> clock, new Random(1))
        .change(
            Membership.OBJECT,
            List.of(
                Membership.mark(
                    at.find("eu").orElseThrow(), Member.State.LEAVING, "op", clock, 1)));
    settle();
    assertThat(at("eu").ended).isFalse();
    assertThat(at("eu").hinders).anyMatch(w -> w.contains("'pair' would be lost"));
    at("ap").alter("ap,eu");
    settle();
    assertThat(at("eu").ended).isTrue();
    assertThat(having()).containsExactly("ap");
  }

  private static Membership membership(Node node) {
    return Membership.of(
        (Reading.Fields) node.copy.state(Membership.OBJECT).read(new Query.Whole()));
  }

  /** Both commands at any moments, at anybody who hears of anybody else at any time. */
  @Test
  void whateverIsToldWhere_somebodyHasTheData() {
    for (int seed = 0; seed < 12; seed++) {
      begin();
      Random random = new Random(seed);
      for (int i = 0; i < 120; i++) {
        Node node = at(DCS.get(random.nextInt(DCS.size())));
        if (node.ended) {
          continue;
        }
        switch (random.nextInt(12)) {
          case 0 -> {
            List<String> wanted = new ArrayList<>(new TreeSet<>(DCS));
            wanted.removeIf(dc -> random.nextInt(2) == 0);
            trying(() -> node.alter(wanted.isEmpty() ? "eu" : String.join(",", wanted)));
          }
          case 1 -> {
            if (random.nextInt(3) == 0) {
              trying(() -> node.remove(DCS.get(random.nextInt(DCS.size())), false));
            }
          }
          case 2, 3, 4 -> node.copy.hear(at(DCS.get(random.nextInt(DCS.size()))).copy);
          case 5 -> node.fetch(at(DCS.get(random.nextInt(DCS.size()))));
          default -> node.look();
        }
        clock += random.nextInt(800);
        assertThat(having()).as("seed %s, step %s", seed, i).isNotEmpty();
      }
      settle();
      assertThat(having()).as("seed %s", seed).isNotEmpty();
    }
  }

  private static void trying(Runnable command) {
    try {
      command.run();
    } catch (OsierException e) {
      assertThat(e.reason()).isNotEmpty();
    }
  }
}
