package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
<<<<<<< HEAD
import io.osier.core.ReplicaId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.propagation.net.link.PeerVersions;
=======
import io.osier.propagation.net.PeerTransport;
>>>>>>> f1709e2d2b703991a74fa9bfc8c02d5227dab05b
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

<<<<<<< HEAD
/**
 * Holders are added to keyspaces of four datacenters, and removed; a test lets these hear of each
 * other.
 */
final class HolderPlaneTest {
  private static final List<String> DCS = List.of("ap", "eu", "sa", "us");

  private static final KeyspacePolicy PAIR =
      KeyspacePolicy.session("pair", Duration.ofSeconds(1)).withReplicas(List.of("eu", "us"));

  private long clock = 100_000;
  private final SortedMap<String, Node> nodes = new TreeMap<>();

  private final class Node extends StillHost {
    ControlPlane plane;
    final Map<String, ControlHost.Holding> holdings = new TreeMap<>();
    final Set<String> open = new HashSet<>();
    final Set<String> whole = new HashSet<>();
    final Set<String> opened = new HashSet<>();
    final Set<String> ceased = new HashSet<>();
    final List<String> given = new ArrayList<>();
    boolean quiet = true;
    Placement placement = Placement.NOTHING;
    boolean settled = true;

    /** The peer protocol that it speaks, as the others know. */
    int spoken = PeerVersions.NEWEST;

    Node(String dc) {
      super(dc, new OsierCopy(new ReplicaId(dc, 1), () -> ++clock));
      this.plane = plane(PAIR);
    }

    private ControlPlane plane(KeyspacePolicy pair) {
      SortedMap<String, Optional<String>> addresses = new TreeMap<>();
      DCS.forEach(
          name ->
              addresses.put(name, name.equals(dc) ? Optional.empty() : Optional.of(name + ":1")));
      return new ControlPlane(dc, addresses, Map.of("pair", pair), () -> clock, this);
    }

    /** Ends, and starts with what it had, and with a file that says this of the keyspace. */
    void restart(KeyspacePolicy pair) {
      holdings.clear();
      open.clear();
      whole.clear();
      ceased.clear();
      plane = plane(pair);
      plane.recoverDatacenters(
          (Reading.Fields) copy.state(ControlPlane.DATACENTERS).read(new Query.Whole()));
      plane.recover((Reading.Fields) copy.state(ControlPlane.KEYSPACES).read(new Query.Whole()));
    }

    ControlHost.Holding holding(String keyspace) {
      return requireNonNull(holdings.get(keyspace));
    }

    List<String> holders(String keyspace) {
      return placement.find(keyspace).orElseThrow().holders();
    }

    void alter(String keyspace, String replicas) {
      plane.administer(
          new Request.Administer(
              "keyspace", "alter", keyspace, new TreeMap<>(Map.of("replicas", replicas))),
          "op");
    }

    String state(String keyspace, String holder) {
      return plane.views(keyspace).getFirst().holders().stream()
          .filter(h -> h.dc().equals(holder))
          .findFirst()
          .map(KeyspaceView.Holder::state)
          .orElse("none");
    }

    @Override
    public void open(KeyspacePolicy policy, String created, boolean first, List<String> waits) {
      assertThat(open.add(policy.name())).isTrue();
      assertThat(first)
          .as("whether there is nothing to catch up with")
          .isEqualTo(policy.heldBy(dc) && !opened.contains(policy.name()) && !joins(policy.name()));
      opened.add(policy.name());
    }

    @Override
    public void openConfigured(KeyspacePolicy policy) {
      assertThat(holdings).as("else it would be shown at once").containsKey(policy.name());
      assertThat(open.add(policy.name())).isTrue();
    }

    @Override
    public void setHolders(String keyspace, ControlHost.Holding now) {
      holdings.put(keyspace, now);
    }

    @Override
    public boolean isWhole(String keyspace) {
      return whole.contains(keyspace);
    }

    @Override
    public void setPlacement(Placement now) {
      placement = now;
      for (Placement.Placed placed : now.keyspaces().values()) {
        for (String holder : placed.holders()) {
          ControlHost.Holding there = at(holder).holdings.get(placed.policy().name());
          assertThat(there == null || !there.joins()).as("who is asked serves").isTrue();
        }
      }
    }

    private boolean joins(String name) {
      return holdings.containsKey(name) && holding(name).joins();
    }

    @Override
    public void drop(String name, String created) {
      open.remove(name);
      holdings.remove(name);
      whole.remove(name);
      ceased.remove(name);
    }

    @Override
    public boolean cease(String keyspace) {
      ceased.add(keyspace);
      return quiet;
    }

    @Override
    public void resume(String keyspace) {
      ceased.remove(keyspace);
    }

    @Override
    public boolean giveAway(String keyspace, List<String> heirs) {
      given.add(keyspace + heirs);
      return true;
    }

    /** Whether it would take updates, as one that has what the others hold. */
    boolean serves(String keyspace, boolean byFile) {
      ControlHost.Holding of = holdings.get(keyspace);
      boolean isServed = of == null ? byFile : of.part() == ControlHost.Part.SERVES;
      return isServed && !ceased.contains(keyspace);
    }

    @Override
    public void setPeers(ControlHost.Peers changed) {}

    @Override
    public long incarnation(String name) {
      return 1;
    }

    @Override
    public int protocol(String name) {
      return name.equals(dc) ? spoken : at(name).spoken;
    }

    @Override
    public boolean isSettled() {
      return settled;
    }

    @Override
    public void configure(KeyspacePolicy policy) {}

    @Override
    public boolean isConnected(String name) {
      return nodes.containsKey(name);
    }

    @Override
    public boolean inherit(ControlHost.Estate estate) {
      return true;
    }
  }

  @BeforeEach
  void begin() {
    DCS.forEach(dc -> nodes.put(dc, new Node(dc)));
    settle();
  }

  private Node at(String dc) {
    return requireNonNull(nodes.get(dc));
  }

  /** All hear of all, until nothing is left to be told. */
  private void settle() {
    for (int i = 0; i < 3; i++) {
      for (Node node : nodes.values()) {
        node.plane.look();
        for (Node other : nodes.values()) {
          other.copy.hear(node.copy);
          if (other != node) {
            other.plane.look();
          }
        }
        nodes.values().forEach(other -> node.copy.hear(other.copy));
      }
      clock += 1_000;
    }
  }

  private void create(String name) {
    at("eu")
        .plane
        .administer(
            new Request.Administer(
                "keyspace", "create", name, new TreeMap<>(Map.of("replicas", "eu,us"))),
            "op");
    settle();
  }

=======
/** Holders are added to keyspaces of four datacenters. */
final class HolderPlaneTest extends HolderPlaneFixture {
>>>>>>> f1709e2d2b703991a74fa9bfc8c02d5227dab05b
  @Test
  void holderThatIsAdded_servesOnceItHasAll_ofAKeyspaceOfTheFile_andOfOneOfRunTime() {
    create("carts");
    for (String name : List.of("pair", "carts")) {
      at("us").alter(name, "ap,eu,us");
      settle();
      for (Node node : List.of(at("ap"), at("eu"), at("us"))) {
        ControlHost.Holding told = node.holding(name);
        assertThat(told.holders()).containsExactly("ap", "eu", "us");
        assertThat(told.first()).containsExactly("eu", "us");
        assertThat(told.joins()).isEqualTo(node == at("ap"));
      }
      for (Node node : nodes.values()) {
        assertThat(node.holders(name)).as("who is asked").containsExactly("eu", "us");
        assertThat(node.state(name, "ap")).isEqualTo("catching up");
      }
      at("ap").whole.add(name);
      settle();
      for (Node node : nodes.values()) {
        assertThat(node.holders(name)).containsExactly("ap", "eu", "us");
        assertThat(node.state(name, "ap")).isEqualTo("holds");
        assertThat(node.plane.views(name).getFirst().settings())
            .containsEntry("replicas", "ap,eu,us");
      }
      assertThat(at("ap").holding(name).joins()).isFalse();
      assertThat(at("sa").open).doesNotContain(name);
    }
  }

  /** What it had before says nothing, and what its file says counts as little as before. */
  @Test
  void holderThatEndsWhileItIsAdded_goesOn_andTheFileDoesNotCount() {
    at("eu").alter("pair", "ap,eu,us");
    settle();
    at("ap").restart(PAIR);
    assertThat(at("ap").holding("pair").joins()).isTrue();
    settle();
    assertThat(at("eu").holders("pair")).containsExactly("eu", "us");
    at("ap").whole.add("pair");
    settle();
    assertThat(at("eu").holders("pair")).containsExactly("ap", "eu", "us");
    at("sa").restart(PAIR.withReplicas(List.of("sa", "us")));
    settle();
    assertThat(at("sa").holders("pair")).containsExactly("ap", "eu", "us");
    assertThat(at("sa").holding("pair").holders()).doesNotContain("sa");
  }

  @Test
  void holdersAddedAtTwoAtOnce_areAddedBoth() {
    at("eu").alter("pair", "ap,eu,us");
    at("us").alter("pair", "eu,sa,us");
    settle();
    for (Node node : nodes.values()) {
      assertThat(node.state("pair", "ap")).isEqualTo("catching up");
      assertThat(node.state("pair", "sa")).isEqualTo("catching up");
    }
    at("sa").whole.add("pair");
    settle();
    assertThat(at("us").holders("pair")).containsExactly("eu", "sa", "us");
  }

  @Test
  void keyspaceThatIsDroppedMeanwhile_isGoneEverywhere() {
    create("carts");
    at("us").alter("carts", "ap,eu,us");
    at("eu")
        .plane
        .administer(new Request.Administer("keyspace", "drop", "carts", new TreeMap<>()), "op");
    at("ap").whole.add("carts");
    settle();
    for (Node node : nodes.values()) {
      assertThat(node.open).doesNotContain("carts");
      assertThat(node.plane.views("carts")).isEmpty();
    }
  }

  /** Of a keyspace that is created at run time, and of one that the files name. */
  @Test
  void keyspaceOneOfWhoseHoldersHasLeft_isGivenOthers_andAltered() {
    create("carts");
    Node lost = requireNonNull(nodes.remove("us"));
    at("eu")
        .plane
        .administerDatacenters(
            new Request.Administer("dc", "remove", lost.dc, new TreeMap<>(Map.of("dead", "true"))),
            "op");
    for (int i = 0; i < 5; i++) {
      settle();
    }
    for (String name : List.of("pair", "carts")) {
      assertThatThrownBy(() -> at("sa").alter(name, "us")).hasMessageContaining("would be lost");
      assertThatThrownBy(() -> at("sa").alter(name, "eu"))
          .hasMessageContaining("hold nothing: [us]");
      at("eu").alter(name, "ap,eu,us");
      at("ap").whole.add(name);
      settle();
      assertThat(at("sa").state(name, "ap")).isEqualTo("holds");
      at("eu")
          .plane
          .administer(
              new Request.Administer("keyspace", "alter", name, new TreeMap<>(Map.of("sla", "5s"))),
              "op");
      settle();
      assertThat(at("sa").plane.views(name).getFirst().settings()).containsEntry("sla", "5000ms");
    }
  }

  // ---------------------------------------------------------------- what is refused

  private void refused(ErrorCode code, String replicas, String... why) {
    assertThatThrownBy(() -> at("eu").alter("pair", replicas))
        .isInstanceOfSatisfying(OsierException.class, e -> assertThat(e.code()).isEqualTo(code))
        .hasMessageContainingAll(why);
    settle();
    assertThat(at("eu").holders("pair")).containsExactly("eu", "us");
  }

  @Test
  void whatCannotBe_isRefusedInClearWords() {
    refused(ErrorCode.INVALID_ARGUMENT, "ap,eu", "one after the other", "add [ap]", "[us] out");
    refused(ErrorCode.INVALID_ARGUMENT, "ap", "one after the other", "[eu, us]");
    refused(ErrorCode.INVALID_ARGUMENT, "eu,us,xx", "[ap, eu, sa, us]", "xx");
    refused(ErrorCode.INVALID_ARGUMENT, "all", "by names", "[eu, us]");
    at("eu").settled = false;
    refused(ErrorCode.UNAVAILABLE, "ap,eu,us", "may not know who holds what");
    at("eu").settled = true;
    at("sa").spoken = 13;
    refused(ErrorCode.UNAVAILABLE, "ap,eu,us", "version 15", "[sa]");
    at("sa").spoken = 15;
    refused(ErrorCode.UNAVAILABLE, "eu", "version 16", "[sa]");
    at("sa").spoken = PeerVersions.NEWEST;
    at("eu").alter("pair", "us,eu"); // as it is
    at("eu").alter("pair", "ap,eu,us");
    refused(ErrorCode.INVALID_ARGUMENT, "ap,eu,sa,us", "'ap' is being added");
    refused(ErrorCode.INVALID_ARGUMENT, "ap,eu", "'ap' is being added");
  }
}
