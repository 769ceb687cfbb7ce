package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.AdminRequest;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Operators at three datacenters create, alter and drop the same few names, while the datacenters
 * hear of each other in any order.
 */
final class ControlPlaneProperties {
  private static final List<String> DCS = List.of("ap", "eu", "us");

  enum What {
    CREATE,
    DROP,
    ALTER,
    LOOK,
    HEAR,
    KEEP,
    LOSE
  }

  /**
   * One step.
   *
   * @param at whose
   * @param from of whom it hears, or how many partitions it creates, and how many homes in b
   * @param name of the keyspace
   */
  record Step(What what, int at, int from, String name) {}

  /** A datacenter whose {@code _osier} is a map of states. */
  private final class Node extends StillHost {
    ControlPlane plane;

    /** What is on the disk for sure; the rest may be lost. */
    private Map<ObjectId, CrdtState> durable = Map.of();

    /** By keyspace, the creations of which the store has something. */
    final Set<String> stored = new HashSet<>();

    /** Whom this one has not heard since it lost something. */
    private final Set<String> unheard = new HashSet<>();

    /** What is open, and for whom it waits. */
    final Map<String, String> open = new TreeMap<>();

    final Map<String, KeyspacePolicy> policies = new TreeMap<>();
    final Map<String, List<String>> awaited = new TreeMap<>();

    Node(String dc) {
      super(dc, new OsierCopy(new ReplicaId(dc, 1), () -> ++clock));
      this.plane = plane();
    }

    private ControlPlane plane() {
      return new ControlPlane(
          dc,
          new TreeMap<>(
              Map.of(
                  "ap", Optional.of("ap:1"), "eu", Optional.of("eu:1"), "us", Optional.of("us:1"))),
          Map.of("shop", KeyspacePolicy.session("shop", Duration.ofSeconds(1))),
          () -> clock,
          this);
    }

    /** Ends at once, and starts with what was durable; what is in the keyspaces is all there. */
    void lose() {
      copy.lose(durable);
      open.clear();
      policies.clear();
      awaited.clear();
      unheard.addAll(DCS);
      unheard.remove(dc);
      plane = plane();
      plane.recover((Reading.Fields) copy.state(ControlPlane.KEYSPACES).read(new Query.Whole()));
    }

    /** Gets all that another one has. */
    void hear(Node other) {
      copy.hear(other.copy);
      unheard.remove(other.dc);
    }

    @Override
    public void open(KeyspacePolicy policy, String created, boolean first, List<String> waits) {
      assertThat(open).as(dc).doesNotContainKey(policy.name());
      open.put(policy.name(), created);
      stored.add(policy.name() + " " + created);
      policies.put(policy.name(), policy);
      await(policy.name(), waits);
    }

    @Override
    public void drop(String name, String created) {
      assertThat(open.remove(name)).isEqualTo(created);
      delete(name + " " + created);
    }

    private void delete(String what) {
      stored.remove(what);
      String created = what.substring(what.indexOf(' ') + 1);
      if (served.contains(created)) {
        assertThat(dropped).as("what was acknowledged in it is lost").contains(created);
      }
    }

    @Override
    public boolean isSettled() {
      return unheard.isEmpty();
    }

    @Override
    public void dropOthers(Map<String, String> creations) {
      for (String what : List.copyOf(stored)) {
        if (!of(creations).contains(what) && !of(open).contains(what)) {
          delete(what);
        }
      }
    }

    @Override
    public void configure(KeyspacePolicy policy) {
      policies.put(policy.name(), policy);
    }

    @Override
    public void await(String name, List<String> datacenters) {
      awaited.put(name, List.copyOf(datacenters));
      if (datacenters.isEmpty()) {
        served.add(open.get(name));
      }
    }

    /** What is open here and takes updates. */
    Map<String, String> serving() {
      Map<String, String> serving = new TreeMap<>(open);
      serving.keySet().removeIf(name -> !awaited.getOrDefault(name, List.of()).isEmpty());
      return serving;
    }

    void administer(String action, String name, Map<String, String> settings) {
      try {
        plane.administer(
            new AdminRequest.Administer("keyspace", action, name, new TreeMap<>(settings)), "op");
      } catch (OsierException e) {
        assertThat(e.code())
            .isIn(ErrorCode.INVALID_ARGUMENT, ErrorCode.UNKNOWN_KEYSPACE, ErrorCode.UNAVAILABLE);
      }
    }
  }

  private static List<String> of(Map<String, String> creations) {
    return creations.entrySet().stream().map(e -> e.getKey() + " " + e.getValue()).toList();
  }

  private long clock = 1_000;

  /** Creations that have taken updates somewhere, and those that an operator has dropped. */
  private final Set<String> served = new HashSet<>();

  private final Set<String> dropped = new HashSet<>();

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<What> whats =
        Arbitraries.of(
            What.CREATE,
            What.DROP,
            What.ALTER,
            What.LOOK,
            What.LOOK,
            What.HEAR,
            What.HEAR,
            What.HEAR,
            What.KEEP,
            What.LOSE);
    return Combinators.combine(
            whats,
            Arbitraries.integers().between(0, 2),
            Arbitraries.integers().between(0, 2),
            Arbitraries.of("a", "b"))
        .as(Step::new)
        .list()
        .ofMaxSize(60);
  }

  /**
   * The property, seed 3854945093759932935: us's creation has lost against eu's at us, eu forgets
   * its own, and us drops it; ap hears of that last. With eu's help the first one served at ap.
   */
  @Example
  void whoHasForgottenTheWinner_helpsNoOtherToServe() {
    nothingIsTakenIntoACreationThatLoses_andAllEndAlike(
        List.of(
            new Step(What.CREATE, 2, 0, "b"),
            new Step(What.HEAR, 0, 2, "b"),
            new Step(What.CREATE, 1, 0, "b"),
            new Step(What.HEAR, 2, 1, "b"),
            new Step(What.LOOK, 2, 0, "b"),
            new Step(What.LOSE, 1, 0, "b"),
            new Step(What.LOOK, 0, 0, "b"),
            new Step(What.HEAR, 1, 0, "b"),
            new Step(What.DROP, 2, 0, "b"),
            new Step(What.LOOK, 1, 0, "b"),
            new Step(What.HEAR, 0, 1, "b"),
            new Step(What.LOOK, 0, 0, "b")));
  }

  @Property
  void nothingIsTakenIntoACreationThatLoses_andAllEndAlike(@ForAll("steps") List<Step> steps) {
    List<Node> nodes = DCS.stream().map(Node::new).toList();
    for (Step step : steps) {
      Node at = nodes.get(step.at());
      switch (step.what()) {
        case CREATE -> {
          Map<String, String> settings = new TreeMap<>();
          settings.put("partitions", String.valueOf(step.from() + 1));
          if (step.name().equals("b") && step.from() > 0) {
            settings.put("homes", String.join(",", DCS.subList(step.at() % 2, step.from())));
          }
          at.administer("create", step.name(), settings);
        }
        case DROP -> {
          at.plane.look();
          Optional.ofNullable(at.open.get(step.name())).ifPresent(dropped::add);
          at.administer("drop", step.name(), Map.of());
        }
        case ALTER -> at.administer("alter", step.name(), Map.of("sla", step.from() + 1 + "s"));
        case LOOK -> at.plane.look();
        case HEAR -> at.hear(nodes.get(step.from()));
        case KEEP -> at.durable = Map.copyOf(at.copy.objects);
        case LOSE -> {
          // What all have lost is lost; and so may be what two of three have.
          if (nodes.stream().allMatch(Node::isSettled)) {
            at.lose();
          }
        }
      }
      serveAlike(nodes);
    }
    for (int round = 0; round < 8; round++) {
      for (Node one : nodes) {
        for (Node other : nodes) {
          one.hear(other);
        }
        one.plane.look();
      }
      serveAlike(nodes);
    }
    for (Node node : nodes) {
      assertThat(node.open).isEqualTo(nodes.getFirst().open).isEqualTo(node.serving());
      assertThat(node.policies)
          .containsAllEntriesOf(policiesOf(nodes.getFirst(), node.open.keySet()));
      assertThat(node.stored)
          .as("of others nothing stays")
          .containsExactlyInAnyOrderElementsOf(of(node.open));
      node.open.forEach(
          (name, created) -> {
            KeyspacePolicy policy = requireNonNull(node.policies.get(name));
            policy
                .partitioning()
                .homes()
                .keyspaces(Homes.base(name))
                .forEach(home -> assertThat(node.open).containsEntry(home, created));
          });
    }
  }

  private static Map<String, KeyspacePolicy> policiesOf(Node node, Set<String> names) {
    Map<String, KeyspacePolicy> policies = new TreeMap<>(node.policies);
    policies.keySet().retainAll(names);
    return policies;
  }

  /** Two datacenters never take updates in two creations of one name. */
  private static void serveAlike(List<Node> nodes) {
    Map<String, String> serving = new TreeMap<>();
    for (Node node : nodes) {
      node.serving()
          .forEach(
              (name, created) -> {
                String other = serving.putIfAbsent(name, created);
                assertThat(other == null || other.equals(created))
                    .as("%s: %s and %s", name, other, created)
                    .isTrue();
              });
    }
  }

  @Example
  void moreThreadsThanAProcessShouldHave_areRefused() {
    Node eu = new Node("eu");
    eu.administer("create", "large", Map.of("partitions", "256"));
    assertThatThrownBy(
            () ->
                eu.plane.administer(
                    new AdminRequest.Administer(
                        "keyspace", "create", "larger", new TreeMap<>(Map.of("partitions", "256"))),
                    "op"))
        .hasMessageContaining("there would be 514 of all keyspaces; at most 512");
    assertThat(eu.open.keySet()).containsExactly("large");
  }
}
