package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.propagation.Frame;
import io.osier.propagation.FrameCodec;
import io.osier.propagation.Shipment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What was missed during a cut comes once, and takes what it takes: joined per object. */
final class MissedOnceTest {
  private static final int OBJECTS = 40;
  private static final double MOST = 1.2;

  private final Cluster cluster =
      new Cluster(
          KeyspacePolicy.session("k", Duration.ofSeconds(2)).with(Propagation.OP),
          "ap",
          "eu",
          "us");

  /** Bytes of the frames that carry or ask for objects, by link. */
  private final Map<String, Long> bytes = new TreeMap<>();

  private int serial;

  MissedOnceTest() {
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
    cluster.run(2_000);
    cluster.dcs.values().forEach(dc -> dc.journal.clear());
    bytes.clear();
  }

  private void add(String dc, int object) {
    Operation operation = new Operation.Add(List.of(Value.of("element " + ++serial)));
    cluster.dc(dc).write("set " + object, CrdtType.AW_SET, operation);
  }

  /** What a datacenter's own updates since the beginning take, joined per object. */
  private long joinedBytes(String dc) {
    ReplicaId self = cluster.dc(dc).self;
    Map<ObjectId, Shipment> joined = new TreeMap<>();
    for (Shipment s : cluster.dc(dc).journal) {
      if (s.origin().equals(self)) {
        joined.merge(s.object(), s, MissedOnceTest::join);
      }
    }
    return joined.values().stream().mapToLong(s -> FrameCodec.sizeOf(self, s)).sum();
  }

  private static Shipment join(Shipment a, Shipment b) {
    Causal content = a.content().join(b.content());
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
    "3000, 0", // for so long that each also asks the others for what it misses
    "200,  0",
    "3000, 400",
    "200,  400", // one link comes back after the other
  })
  void updatesThatBuildOnEachOther_comeOnceAfterACut(int cutMillis, int laterMillis) {
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
    cluster.run(5_000);
    assertThat(cluster.isConverged()).isTrue();
    assertThat(cluster.dc("ap").report().gapsSeen()).as("gaps").isZero();
    assertThat(bytes("eu>ap", "us>ap", "ap>eu", "ap>us"))
        .as("bytes on the links that were cut")
        .isLessThan((long) (MOST * (joinedBytes("eu") + joinedBytes("us"))));
  }

  @Test
  void updatesOfAnOriginThatIsCutOff_comeOnceThroughAThird() {
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
    cluster.run(5_000);
    assertThat(cluster.isConverged()).isTrue();
    assertThat(bytes("ap>us", "us>ap", "eu>us", "us>eu"))
        .as("bytes to us")
        .isLessThan((long) (MOST * joinedBytes("eu")));
    assertThat(cluster.dc("us").report().healed()).as("objects healed").isEqualTo(OBJECTS);
  }
}
