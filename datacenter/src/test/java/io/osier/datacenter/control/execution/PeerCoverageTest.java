package io.osier.datacenter.control.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PeerCoverageTest {
  private static final Now NOW = new Now(1_000_000_000, 1_000);

  private final Partition partition =
      Partitions.started(
          new ReplicaId("eu", 1),
          List.of("ap", "us"),
          KeyspacePolicy.session("k", Duration.ofSeconds(1)),
          new MemoryStore(),
          NOW);

  private PartitionReport tells(ReplicaId peer, VersionVector has) {
    VersionVector none = VersionVector.EMPTY;
    partition.step(new Input.PeerUp(peer), NOW);
    partition.step(
        new Input.FromPeer(
            peer, new Frame.Status(false, 0, 0, has, 1, none, has.get(peer), false, 1_000)),
        NOW);
    return report();
  }

  private PartitionReport report() {
    return partition.step(new Input.Inspect(0, 1), NOW).atOnce().getFirst().report();
  }

  /** Else what it wrote before would be dropped by the last one that has it. */
  @Test
  void peerThatLostItsMemory_hasNotEverything_untilItSaysSo() {
    ReplicaId former = new ReplicaId("us", 1);
    ReplicaId us = new ReplicaId("us", 2);
    VersionVector all = VersionVector.of(former, 5);
    assertThat(PeerCoverage.isEverywhere(tells(new ReplicaId("ap", 1), all), all)).isFalse();
    assertThat(PeerCoverage.isEverywhere(tells(us, VersionVector.EMPTY), all)).isFalse();
    assertThat(PeerCoverage.isEverywhere(tells(us, VersionVector.of(us, 9)), all)).isFalse();
    assertThat(PeerCoverage.isEverywhere(tells(us, all.with(us, 9)), all)).isTrue();
    partition.step(new Input.PeerDown("us"), NOW);
    assertThat(PeerCoverage.isEverywhere(report(), all)).as("it may lose it again").isFalse();
  }
}
