package io.osier.propagation.send;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.TestSurroundings;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The measured times of a peer after it was started again. */
final class RestartedPeerTest {
  private static final long MILLI = 1_000_000;
  private static final ReplicaId BEFORE = new ReplicaId("us", 1);

  private final ReplicationContext around =
      TestSurroundings.of(
          KeyspacePolicy.session("k", Duration.ofSeconds(2)),
          TestSurroundings.recovered(1, false, 0),
          new TestSurroundings.Objects());
  private final Outbound outbound = new Outbound(around, () -> VersionVector.EMPTY, 0);
  private final PeerStream us = requireNonNull(outbound.stream("us"));

  private void learns() {
    us.up(BEFORE, 0);
    for (int round = 0; round < 100; round++) {
      us.window().rounds().sample(10 * MILLI, round);
    }
    assertThat(outbound.rounds().coordinationNanos()).isBetween(10 * MILLI, 11 * MILLI);
  }

  @Test
  void peerThatWasStartedAgain_isGivenHalfOfTheBoundAgain() {
    learns();
    us.down(1_000);
    us.up(new ReplicaId("us", 2), 2_000);
    assertThat(outbound.rounds().coordinationNanos()).isEqualTo(1_000 * MILLI);
  }

  @Test
  void peerThatWasCutOff_takesAsLongAsBefore() {
    learns();
    us.down(1_000);
    us.up(BEFORE, 2_000);
    assertThat(outbound.rounds().coordinationNanos()).isBetween(10 * MILLI, 11 * MILLI);
  }
}
