package io.osier.datacenter.shard;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.control.ControlHost.Holding;
import io.osier.datacenter.control.ControlHost.Part;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.metrics.report.Readiness;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.server.Forwarding;
import io.osier.datacenter.server.PeerInputs;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class KeyspacesTest {
  static final DatacenterConfig CONFIG =
      ConfigReader.read(
          "test",
          "osier { dc = eu, store.dir = \"\", peers { us = \"127.0.0.1:1\" },"
              + " keyspaces { shop { replicas = [eu, us] }, own { replicas = [eu] } } }",
          Map.of());

  static Keyspaces keyspaces() {
    return keyspaces(Optional.empty());
  }

  static Keyspaces keyspaces(Optional<StoreService> store) {
    return TestShards.keyspaces(CONFIG, new ReplicaId("eu", 1), store);
  }

  private static Holding holding(List<String> holders, List<String> first, Part part) {
    return new Holding(holders, first, part, Set.of(), Set.of(), new TreeMap<>());
  }

  /** An empty answer would be taken for what is there. */
  @Test
  void keyspaceThatIsCaughtUpWith_isNotShown_andIsTheSameToThoseItBeganWith() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    KeyspacePolicy others =
        KeyspacePolicy.session("far", Duration.ofMillis(500)).withReplicas(List.of("us"));
    List<String> all = List.of("eu", "us");
    for (Optional<String> created : List.of(Optional.of("c1"), Optional.<String>empty())) {
      keyspaces.open(others, created, false, List.of());
      keyspaces.start("far");
      assertThat(keyspaces.shown()).doesNotContainKey("far");
      keyspaces.setHolders("far", holding(all, List.of("us"), Part.JOINS));
      assertThat(keyspaces.shown()).doesNotContainKey("far");
      keyspaces.configure(others);
      assertThat(requireNonNull(keyspaces.find("far")).policy().replicas()).isEqualTo(all);
      assertThat(keyspaces.fingerprints("us"))
          .anyMatch(f -> f.startsWith("far{created=" + created.orElse("file") + ", "))
          .anyMatch(f -> f.contains("replicas=[us]"));
      keyspaces.setHolders("far", holding(all, List.of("us"), Part.SERVES));
      assertThat(keyspaces.shown()).containsKey("far");
      keyspaces.drop("far", created.orElse("file"), () -> {});
    }
    String before = keyspaces.fingerprints("us").getFirst();
    keyspaces.setHolders("shop", holding(List.of("ap", "eu", "us"), all, Part.SERVES));
    assertThat(keyspaces.fingerprints("us").getFirst())
        .as("not all hear of it at one moment, and go on to replicate")
        .isEqualTo(before);
    assertThat(keyspaces.fingerprints("ap")).hasSize(1).first().asString().contains("created=file");
    keyspaces.setHolders("shop", holding(List.of("ap", "us"), List.of("ap", "us"), Part.SERVES));
    assertThat(keyspaces.shown()).as("this one's file alone says so").doesNotContainKey("shop");
  }

  /** No number is given twice, and no frame is taken for one of another term. */
  @Test
  void holderThatWasAddedAgain_isAnotherReplica_ofThatKeyspaceAlone() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    List<String> all = List.of("eu", "us");
    String before = keyspaces.fingerprints("us").getFirst();
    TreeMap<String, Integer> terms = new TreeMap<>(Map.of("us", 1));
    Holding again = new Holding(all, all, Part.SERVES, Set.of(), Set.of(), terms);
    keyspaces.setHolders("shop", again);
    assertThat(keyspaces.fingerprints("us").getFirst())
        .isNotEqualTo(before)
        .startsWith("shop{created=file+us.1,");
    ReplicaId life = new ReplicaId("us", 5);
    ReplicaId holder = keyspaces.holders().holder("shop", life);
    assertThat(holder).isGreaterThan(new ReplicaId("us", 1L << 47));
    assertThat(HolderTerms.life(holder)).isEqualTo(life);
    assertThat(HolderTerms.isOf(holder, terms)).isTrue();
    assertThat(HolderTerms.isOf(holder, Map.of())).as("others have it in the store").isFalse();
    assertThat(keyspaces.holders().holder("shop", new ReplicaId("eu", 5)))
        .isEqualTo(new ReplicaId("eu", 5));
    assertThat(keyspaces.holders().holder("own", life)).isEqualTo(life);
    keyspaces.endWatching();
  }

  /** What is asked of it is forwarded, with what was shown here; and again when it stays. */
  @Test
  void keyspaceThatIsGivenUp_isShownNoMore_onceItIsKnownWhatWasShown() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    List<PartitionRunner> shop = requireNonNull(keyspaces.find("shop")).partitions();
    assertThat(keyspaces.cease("shop")).isFalse();
    assertThat(keyspaces.shown()).as("its partitions have not told").containsKey("shop");
    shop.forEach(PartitionRunner::start);
    try {
      await().until(() -> keyspaces.cease("shop"));
      assertThat(keyspaces.shown()).doesNotContainKey("shop");
      assertThat(shop).allMatch(p -> p.shown().isPresent());
      keyspaces.resume("shop");
      assertThat(keyspaces.shown()).containsKey("shop");
      await().until(() -> shop.stream().allMatch(p -> p.shown().isEmpty()));
    } finally {
      PartitionRunner.stopAll(shop);
      keyspaces.endWatching();
    }
  }

  /** They are in every greeting. */
  @Test
  void whatWasDropped_isNamedToNobody_andNotKept() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    keyspaces.partitions().forEach(PartitionRunner::start);
    try {
      List<String> before = keyspaces.fingerprints("us");
      assertThat(before).hasSize(1).first().asString().startsWith("shop{");
      for (int i = 0; i < 100; i++) {
        KeyspacePolicy policy = KeyspacePolicy.session("x" + i % 3, Duration.ofMillis(500));
        keyspaces.open(policy, Optional.of("creation" + i), true, List.of());
        keyspaces.start(policy.name());
        assertThat(keyspaces.fingerprints("us"))
            .hasSize(2)
            .last()
            .asString()
            .startsWith(policy.name() + "{created=creation" + i + ",");
        keyspaces.drop(policy.name(), "creation" + i, () -> {});
        assertThat(keyspaces.fingerprints("us")).isEqualTo(before);
      }
    } finally {
      PartitionRunner.stopAll(keyspaces.partitions().toList());
      keyspaces.endWatching();
    }
  }

  @Test
  void keyspaceThatWasNeverHere_isReadyWithoutItsPeers_andOneThatWasIsNot() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    keyspaces.open(
        KeyspacePolicy.session("new", Duration.ofSeconds(1)), Optional.of("c1"), true, List.of());
    keyspaces.open(
        KeyspacePolicy.session("former", Duration.ofSeconds(1)),
        Optional.of("c2"),
        false,
        List.of());
    assertThat(requireNonNull(keyspaces.find("new")).partitions())
        .hasSize(2)
        .allMatch(PartitionRunner::isReady);
    assertThat(requireNonNull(keyspaces.find("former")).partitions())
        .noneMatch(PartitionRunner::isReady);
    assertThat(requireNonNull(keyspaces.find("own")).partitions())
        .as("no other datacenter has it")
        .allMatch(PartitionRunner::isReady);
    keyspaces.endWatching();
  }

  /** All partitions together take no more than the configuration lets them. */
  @Test
  void whatTheHeapHas_isDividedAmongThePartitions() {
    DatacenterConfig config =
        ConfigReader.read(
            "test",
            "osier { dc = eu, memory { commands = 8MiB, changes = 16MiB, history = 6MiB,"
                + " transactions = 4MiB, ended = 2MiB } }",
            Map.of());
    Duration sla = Duration.ofSeconds(1);
    List<KeyspacePolicy> policies =
        List.of(
            KeyspacePolicy.session("two-partitions", sla),
            KeyspacePolicy.causal("a", sla),
            KeyspacePolicy.causal("b", sla));
    KeyspaceFactory.Parts parts = KeyspaceFactory.Parts.of(config, policies);
    assertThat(parts.partitions()).isEqualTo(4);
    assertThat(parts.commands()).isEqualTo(2 << 20);
    assertThat(parts.changes()).isEqualTo(4 << 20);
    assertThat(parts.causalMemory())
        .as("of the causal ones")
        .isEqualTo(new PartitionConfig.Memory(3 << 20, 2 << 20, 1 << 20));
    KeyspaceFactory.Parts none = KeyspaceFactory.Parts.of(config, List.of());
    assertThat(none.commands()).isEqualTo(8 << 20);
    assertThat(none.causalMemory().history()).isEqualTo(6 << 20);
  }

  private static Keyspaces.Members members(String... others) {
    return new Keyspaces.Members(Set.of(others), Set.of(others), false, 0);
  }

  @Test
  void aPeersLanes_areKeptWhileItIsOne_andNoLonger() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    KeyspaceShard shop = requireNonNull(keyspaces.find("shop"));
    OrderedQueue before = shop.lane("us", 0);
    assertThat(before).isNotNull();
    keyspaces.setMembers(members("us", "ap"));
    assertThat(shop.lane("us", 0)).as("turns wait in it, maybe").isSameAs(before);
    assertThat(shop.lane("ap", 0)).as("does not hold the keyspace").isNull();
    keyspaces.setMembers(members());
    assertThat(shop.lane("us", 0)).as("none that a late frame could bring back").isNull();
    keyspaces.setMembers(members("us"));
    assertThat(shop.lane("us", 0)).isNotNull().isNotSameAs(before);
    keyspaces.endWatching();
  }

  @Test
  void whatAFrameHoldsBack_isReleased_alsoIfItsSenderIsRemovedMeanwhile() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    KeyspaceShard shop = requireNonNull(keyspaces.find("shop"));
    PeerInputs inputs = inputs(keyspaces);
    ReplicaId us = new ReplicaId("us", 1);
    Frame frame = new Frame.Fetch(1, List.of());
    OrderedQueue lane = requireNonNull(shop.lane("us", 0));
    inputs.received(us, "shop", 0, frame);
    assertThat(lane.hold()).as("it was not held").isFalse();
    keyspaces.setMembers(members());
    inputs.received(us, "shop", 0, frame); // is dropped
    inputs.receivedAll(us);
    assertThat(lane.hold()).as("it was not held").isTrue();
    keyspaces.endWatching();
  }

  private static PeerInputs inputs(Keyspaces keyspaces) {
    return new PeerInputs(
        keyspaces,
        new Readiness(keyspaces.shown(), Optional.empty()),
        () -> false,
        (from, note) -> {},
        failure -> {},
        GroupCommitHelp.NONE,
        new Forwarding(
            "eu",
            () -> null,
            () -> Placement.NOTHING,
            Map.of(),
            keyspaces::shownBefore,
            0,
            new CopySettings(0, 0, 0),
            () -> 0));
  }

  /** As one hears it that has its old store when it is added again: it is dialled, and refused. */
  @Test
  void oneThatEverybodyHasRemoved_servesNothing_whileTheyDialIt() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    UpdateGate gate = requireNonNull(keyspaces.find("shop")).gate();
    PeerInputs inputs = inputs(keyspaces);
    inputs.rejected("us", new OsierException(ErrorCode.NOT_A_MEMBER, "it was removed"));
    inputs.compared("us", Map.of()); // it has let us in
    assertThat(gate.isStranger()).isTrue();
    inputs.rejected("us", new OsierException(ErrorCode.NOT_A_MEMBER, "run 'osier rebuild'"));
    assertThat(gate.isStranger()).isTrue();
    inputs.compared("us", Map.of("shop", "it differs")); // us has let it in
    inputs.up(new ReplicaId("us", 1), List.of());
    assertThat(gate.isStranger()).isFalse();
    assertThat(gate.refusals()).containsExactly(Map.entry("us", "it differs"));
    keyspaces.endWatching();
  }
}
