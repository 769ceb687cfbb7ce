package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.AdminRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Operators at several datacenters change which there are, at once and against each other. */
final class MemberPlaneProperties {
  /** Enough for all steps of all that go, one after the other. */
  private static final int ROUNDS = 40;

  private static final List<String> DCS = List.of("ap", "eu", "us");

  enum What {
    ADD,
    REMOVE,
    GIVE_UP,
    LOOK,
    HEAR,
    START
  }

  /**
   * One step.
   *
   * @param at whose
   * @param other whom it is about, or heard from
   */
  record Step(What what, String at, String other) {}

  /** A datacenter whose {@code _osier} is a map of states. */
  private final class Node extends StillHost {
    final ControlPlane plane;
    Set<String> peers;
    private final Map<String, Long> incarnationsMin = new TreeMap<>();
    boolean held = true;

    /** Whom one that has just started has not heard. */
    private final Set<String> unheard = new TreeSet<>();

    boolean ended;
    boolean gave;

    Node(String dc, long incarnation, Set<String> file) {
      super(dc, new OsierCopy(new ReplicaId(dc, incarnation), () -> ++clock));
      this.peers = new TreeSet<>(file);
      peers.remove(dc);
      Map<String, Optional<String>> addresses = new TreeMap<>();
      file.forEach(name -> addresses.put(name, Optional.of(name + ":1")));
      addresses.put(dc, Optional.empty());
      this.plane =
          new ControlPlane(
              dc,
              new TreeMap<>(addresses),
              Map.of("shop", KeyspacePolicy.session("shop", Duration.ofSeconds(1))),
              () -> clock,
              this);
    }

    /** Gets all that another one has, if both take each other for peers. */
    void hear(Node other) {
      if (!ended && !other.ended && welcomes(other) && other.welcomes(this)) {
        copy.hear(other.copy);
        unheard.remove(other.dc);
      }
    }

    private boolean welcomes(Node other) {
      return peers.contains(other.dc)
          && other.copy.replica().incarnation() >= incarnationsMin.getOrDefault(other.dc, 0L);
    }

    void look() {
      if (!ended) {
        plane.look();
      }
    }

    @Override
    public void setPeers(ControlHost.Peers changed) {
      peers = new TreeSet<>(changed.others().keySet());
      changed.others().forEach((name, peer) -> incarnationsMin.put(name, peer.incarnationMin()));
    }

    @Override
    public boolean isComplete() {
      return peers.stream().allMatch(p -> nodes.containsKey(p) && copy.hasAllOf(nodes.get(p).copy));
    }

    @Override
    public boolean isShipped() {
      return peers.stream()
          .map(nodes::get)
          .allMatch(other -> other == null || other.ended || other.copy.hasAllOf(copy));
    }

    @Override
    public boolean isQuiet() {
      assertThat(held).as("nothing is taken any more").isTrue();
      return isShipped();
    }

    @Override
    public boolean inherit(ControlHost.Estate estate) {
      if (estate.heirs().stream().findFirst().filter(dc::equals).isPresent()) {
        String whose = estate.from() + " " + estate.membership();
        Node before = heirs.put(whose, this);
        assertThat(before == null || before == this || before.gave)
            .as("%s takes over the rights of %s, which another one has", dc, whose)
            .isTrue();
        for (Node other : nodes.values()) {
          boolean isPeer = !other.ended && welcomes(other) && other.welcomes(this);
          assertThat(isPeer && other.peers.contains(estate.from()))
              .as("%s hears %s, when %s has taken over its rights", other.dc, whose, dc)
              .isFalse();
        }
      }
      return true;
    }

    @Override
    public long incarnation(String name) {
      Node known = nodes.get(name);
      return known == null ? 0 : known.copy.replica().incarnation();
    }

    @Override
    public boolean isConnected(String name) {
      Node other = nodes.get(name);
      return other != null && !other.ended && peers.contains(name) && other.peers.contains(dc);
    }

    @Override
    public void hinders(List<String> words) {
      held = !words.isEmpty();
    }

    @Override
    public boolean leave(List<String> heirs) {
      String heir = heirs.getFirst();
      Node to = nodes.get(heir);
      assertThat(heir).isNotEqualTo(dc);
      assertThat(to == null || !to.gave).as("%s gives to %s, which has gone", dc, heir).isTrue();
      assertThat(held).as("nothing is taken any more").isTrue();
      gave = true;
      return true;
    }

    @Override
    public void end(String why) {
      ended = true;
    }

    @Override
    public boolean isSettled() {
      return unheard.isEmpty();
    }

    @Override
    public void open(KeyspacePolicy policy, String created, boolean first, List<String> waits) {
      throw new AssertionError("nobody changes keyspaces");
    }

    @Override
    public void drop(String name, String created) {
      throw new AssertionError("nobody changes keyspaces");
    }

    void administer(String action, String name, Map<String, String> settings) {
      if (ended) {
        return;
      }
      try {
        plane.administerDatacenters(
            new AdminRequest.Administer("dc", action, name, new TreeMap<>(settings)), "op");
      } catch (OsierException e) {
        assertThat(e.code()).isIn(ErrorCode.INVALID_ARGUMENT, ErrorCode.UNAVAILABLE);
      }
    }
  }

  private long clock;
  private final Map<String, Node> nodes = new TreeMap<>();
  private final Set<String> givenUp = new HashSet<>();

  /** By membership of one that was given up, who has taken over its rights. */
  private final Map<String, Node> heirs = new TreeMap<>();

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<String> names = Arbitraries.of("ap", "eu", "us", "za");
    return Combinators.combine(
            Arbitraries.of(
                What.ADD,
                What.REMOVE,
                What.GIVE_UP,
                What.START,
                What.LOOK,
                What.LOOK,
                What.HEAR,
                What.HEAR,
                What.HEAR),
            names,
            names)
        .as(Step::new)
        .list()
        .ofMaxSize(60);
  }

  @Property
  void somebodyStays_andAllWhoDoAgree(@ForAll("steps") List<Step> steps) {
    clock = 1_000;
    nodes.clear();
    givenUp.clear();
    heirs.clear();
    DCS.forEach(dc -> nodes.put(dc, new Node(dc, 1, Set.copyOf(DCS))));
    for (Step step : steps) {
      take(step);
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (Node one : List.copyOf(nodes.values())) {
        nodes.values().forEach(one::hear);
        one.look();
      }
      clock += MemberPlane.FAREWELL_MILLIS;
    }
    List<Node> staying = nodes.values().stream().filter(n -> !n.ended).toList();
    assertThat(staying).as("somebody stays").isNotEmpty();
    if (givenUp.isEmpty()) { // else it may be one that is dead that must stay
      assertThat(staying).as("somebody takes updates").anyMatch(n -> !n.held);
    }
    for (Node node : staying) {
      if (node.unheard.isEmpty() && node.copy.objects.containsKey(ControlPlane.DATACENTERS)) {
        assertThat(node.peers)
            .as("nobody of %s who has gone", views(node))
            .allMatch(
                p ->
                    views(node).stream().anyMatch(v -> v.matches(p + " (joining|active|leaving)")));
      }
      for (Node other : staying) {
        if (knows(node, other) && knows(other, node)) {
          // Who leaves, and cannot, has nothing to do with who joins.
          if (!node.held && !other.held) {
            assertThat(node.peers.contains(other.dc)).isEqualTo(other.peers.contains(node.dc));
          }
          if (node.peers.contains(other.dc) && other.peers.contains(node.dc)) {
            assertThat(views(node)).isEqualTo(views(other));
          }
        }
      }
      // Where two clusters have become one, nobody may be left who was active in both.
      if (isWhole(node) && steps.stream().noneMatch(s -> s.what() == What.START)) {
        for (String dead : givenUp) {
          boolean waits = views(node).contains(dead + " removed");
          assertThat(waits && heirs.keySet().stream().noneMatch(h -> h.startsWith(dead + " ")))
              .as("nobody has taken over the rights of %s: %s", dead, views(node))
              .isFalse();
        }
      }
      if (givenUp.isEmpty()) { // else it may wait for one that is dead, and that nobody gives up
        assertThat(node.held && node.gave).as("who has given all away goes").isFalse();
      }
    }
  }

  /** Incarnations are told by its own clock, which may be ahead, and do not go back. */
  @Example
  void whoeverIsAddedAgain_isNoIncarnationThatWasGivenUp() {
    clock = 1_000;
    long ahead = 5_000;
    DCS.forEach(dc -> nodes.put(dc, new Node(dc, ahead, Set.copyOf(DCS))));
    Node at = requireNonNull(nodes.get("eu"));
    Node dead = requireNonNull(nodes.get("us"));
    dead.ended = true;
    at.administer("remove", "us", Map.of("dead", "true"));
    at.administer("add", "us", Map.of("address", "us:1"));
    at.look();
    assertThat(at.peers).contains("us");
    assertThat(at.welcomes(dead)).isFalse();
  }

  /** Whether all that a datacenter takes for others are there, and take it for one. */
  private boolean isWhole(Node node) {
    return !node.held
        && node.unheard.isEmpty()
        && node.peers.stream()
            .map(nodes::get)
            .allMatch(
                n ->
                    n != null
                        && !n.ended
                        && n.unheard.isEmpty()
                        && n.peers.contains(node.dc)
                        && views(n).equals(views(node)));
  }

  /** Whether a datacenter's {@code _osier} says that another one is there. */
  private static boolean knows(Node node, Node other) {
    return node != other
        && node.unheard.isEmpty()
        && node.copy.objects.containsKey(ControlPlane.DATACENTERS) // else its file counts
        && views(node).stream().anyMatch(v -> v.matches(other.dc + " (joining|active|leaving)"));
  }

  private static List<String> views(Node node) {
    List<String> views = new ArrayList<>();
    node.plane
        .administerDatacenters(new AdminRequest.Administer("dc", "list", "", new TreeMap<>()), "op")
        .forEach(v -> views.add(v.name() + " " + v.state()));
    return views;
  }

  private void take(Step step) {
    Node at = nodes.get(step.at());
    switch (step.what()) {
      case START -> {
        // One that was added, with nothing; its file knows one other.
        if ((at == null || at.ended) && !step.at().equals(step.other())) {
          clock += 10;
          Node fresh = new Node(step.at(), clock, Set.of(step.other()));
          fresh.unheard.addAll(fresh.peers);
          nodes.put(step.at(), fresh);
        }
      }
      case ADD -> {
        if (at != null) {
          at.administer("add", step.other(), Map.of("address", step.other() + ":1"));
        }
      }
      case REMOVE -> {
        if (at != null) {
          at.administer("remove", step.other(), Map.of());
        }
      }
      case GIVE_UP -> {
        // Two who give each other up are two clusters from then on, each with its operator.
        Node dead = nodes.get(step.other());
        if (at != null && !at.ended && at != dead && dead != null && givenUp.isEmpty()) {
          dead.ended = true; // it is dead indeed
          givenUp.add(step.other());
          at.administer("remove", step.other(), Map.of("dead", "true"));
        }
      }
      case LOOK -> {
        if (at != null) {
          at.look();
        }
      }
      case HEAR -> {
        Node other = nodes.get(step.other());
        if (at != null && other != null) {
          at.hear(other);
        }
      }
    }
  }
}
