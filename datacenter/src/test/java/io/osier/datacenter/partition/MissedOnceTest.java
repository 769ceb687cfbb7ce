package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Consistency;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What was missed during a cut, or because a datacenter was killed, comes once, and takes what it
 * takes: joined per object.
 */
final class MissedOnceTest {
  private static final int OBJECTS = 40;
  private static final double MOST = 1.2;

  @SuppressWarnings("NullAway.Init") // each test starts it first
  private Cluster cluster;

  /** Bytes of the frames that carry or ask for objects, by link. */
  private final Map<String, Long> bytes = new TreeMap<>();

  private int serial;

  private static KeyspacePolicy policy(Consistency consistency) {
    Duration sla = Duration.ofSeconds(2);
    return consistency == Consistency.CAUSAL
        ? KeyspacePolicy.causal("k", sla)
        : KeyspacePolicy.session("k", sla);
  }

  private void start(Consistency consistency, Propagation propagation) {
    cluster = new Cluster(policy(consistency).with(propagation), "ap", "eu", "us");
    cluster.loss =
        (link, frame) -> {
          if (!(frame instanceof Frame.Status) && !(frame instanceof Frame.Ack)) {
            ReplicaId sender = cluster.dc(link.substring(0, 2)).self;
            bytes.merge(link, (long) FrameCodec.encode(sender, frame).length, Long::sum);
          }
          return false;
        };
    // Large enough that a state instead of what is missing is seen in the sum.
    for (int object = 0; object < OBJECTS; object++) {
      for (int i = 0; i < 50; i++) {
        add(i % 2 == 0 ? "eu" : "us", object);
      }
    }
    cluster.run(5_000);
    cluster.dcs.values().forEach(dc -> dc.journal.clear());
    bytes.clear();
  }

  private void add(String dc, int object) {
    Operation operation = new Operation.Add(List.of(Value.of("element " + ++serial)));
    cluster.dc(dc).write("set " + object, CrdtType.AW_SET, operation);
  }

  /** What a datacenter's own updates since the beginning take, joined per object. */
  private long joinedBytes(String dc) {
    return joinedBytes(dc, cluster.dc(dc).self);
  }

  /** What an origin's updates that are in a datacenter's journal take, joined per object. */
  private long joinedBytes(String dc, ReplicaId origin) {
    Map<ObjectId, Shipment> joined = new TreeMap<>();
    for (Shipment s : cluster.dc(dc).journal) {
      if (s.origin().equals(origin)) {
        joined.merge(s.object(), s, MissedOnceTest::join);
      }
    }
    return joined.values().stream().mapToLong(s -> FrameCodec.sizeOf(origin, s)).sum();
  }

  private static Shipment join(Shipment a, Shipment b) {
    CrdtState content = a.content().join(b.content());
    return new Shipment(
        a.object(),
        a.origin(),
        a.predecessor(),
        a.needs().join(b.needs()),
        b.last(),
        a.updates() + b.updates(),
        a.ageMillis(),
        content);
  }

  private long bytes(String... links) {
    long sum = 0;
    for (String link : links) {
      sum += bytes.getOrDefault(link, 0L);
    }
    return sum;
  }

  @ParameterizedTest
  @CsvSource({
    "SESSION, 3000, 0", // for so long that each also asks the others for what it misses
    "SESSION, 200,  0",
    "SESSION, 3000, 400",
    "SESSION, 200,  400", // one link comes back after the other
    "CAUSAL,  3000, 0",
    "CAUSAL,  200,  0",
    "CAUSAL,  3000, 400",
    "CAUSAL,  200,  400",
  })
  void updatesThatBuildOnEachOther_comeOnceAfterACut(
      Consistency consistency, int cutMillis, int laterMillis) {
    start(consistency, Propagation.OP);
    cluster.cut("ap", "eu");
    cluster.cut("ap", "us");
    for (int i = 0; i < 10; i++) {
      for (int object = 0; object < OBJECTS; object++) {
        add(i % 2 == 0 ? "eu" : "us", object);
      }
      cluster.run(100); // so that each has seen what the other did
    }
    cluster.run(cutMillis);
    bytes.clear();
    cluster.heal("ap", "eu");
    cluster.run(laterMillis);
    cluster.heal("ap", "us");
    cluster.converges(5_000);
    assertThat(cluster.dc("ap").report().arrived().gapsSeen()).as("gaps").isZero();
    assertThat(bytes("eu>ap", "us>ap", "ap>eu", "ap>us"))
        .as("bytes on the links that were cut")
        .isLessThan((long) (MOST * (joinedBytes("eu") + joinedBytes("us"))));
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void updatesOfAnOriginThatIsCutOff_comeOnceThroughAThird(Consistency consistency) {
    start(consistency, Propagation.OP);
    cluster.cut("eu", "us");
    for (int i = 0; i < 10; i++) {
      for (int object = 0; object < OBJECTS; object++) {
        add("eu", object);
      }
      cluster.run(100);
    }
    cluster.run(5_000);
    assertThat(cluster.isConverged()).as("through ap").isTrue();
    cluster.heal("eu", "us");
    cluster.converges(5_000);
    assertThat(bytes("ap>us", "us>ap", "eu>us", "us>eu"))
        .as("bytes to us")
        .isLessThan((long) (MOST * joinedBytes("eu")));
    assertThat(cluster.dc("us").report().arrived().healed())
        .as("objects healed")
        .isEqualTo(OBJECTS);
  }

  /**
   *
   *
   * <pre>
   *   eu --- all ---> ap
   *      \-- half --> us      then eu is killed: ap and us have each other
   * </pre>
   */
  @ParameterizedTest
  @EnumSource(Consistency.class)
  void whatOneSurvivorOfAKillMisses_comesFromTheOtherOnce(Consistency consistency) {
    boolean session = consistency == Consistency.SESSION;
    start(consistency, session ? Propagation.ADAPTIVE : Propagation.OP);
    cluster.run(60_000); // so that no object is taken for a hot one
    for (int i = 0; i < 1_000; i++) {
      add("eu", 0);
      cluster.run(10);
    }
    // While an object is held, what comes besides it lies behind what is known to be complete.
    for (int object = 1; object < OBJECTS / 2; object++) {
      add("eu", object);
      cluster.run(session ? 10 : 100);
      add("eu", 0);
    }
    cluster.run(60);
    cluster.cut("eu", "us");
    cluster.dc("ap").journal.clear();
    for (int object = OBJECTS / 2 - 5; object < OBJECTS; object++) {
      add("eu", object);
    }
    cluster.run(60);
    ReplicaId killed = cluster.dc("eu").self;
    if (session) {
      assertThat(cluster.dc("eu").report().shipped().dirtyObjects()).as("held").isPositive();
    }
    cluster.crash("eu");
    bytes.clear();
    cluster.run(20_000);
    assertThat(Objects.equals(cluster.contents().get("ap"), cluster.contents().get("us")))
        .as("ap and us are equal")
        .isTrue();
    assertThat(bytes("ap>us", "us>ap"))
        .as("bytes between the survivors")
        .isGreaterThan(1_000)
        .isLessThan((long) (MOST * joinedBytes("ap", killed)));
  }

  /**
   * Who lost its memory asks every peer for what its former incarnation wrote, one after the other.
   * Simulator, 5 datacenters, seed 165: with 27 incarnations of which each peer gave everything it
   * was not complete after minutes.
   */
  @ParameterizedTest
  @EnumSource(Consistency.class)
  void whatAFormerIncarnationWrote_comesFromOneOfThePeers(Consistency consistency) {
    cluster = new Cluster(policy(consistency), "ap", "eu", "sa", "us");
    for (int object = 0; object < OBJECTS; object++) {
      add("ap", object);
    }
    cluster.run(5_000);
    ReplicaId former = cluster.dc("ap").self;
    cluster.crash("ap");
    Map<ObjectId, Integer> came = new TreeMap<>();
    cluster.loss =
        (link, frame) -> {
          if (link.endsWith(">ap")
              && frame instanceof Frame.States states
              && states.origin().equals(Optional.of(former))) {
            states.shipments().forEach(s -> came.merge(s.object(), 1, Integer::sum));
          }
          return false;
        };
    cluster.reconnect("ap");
    cluster.converges(20_000);
    assertThat(came).as("how often each object came").hasSize(OBJECTS);
    assertThat(came.values()).containsOnly(1);
  }
}
