package io.osier.bench.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.peers.PeerLoad.Kind;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every system under a small load: real nodes, real sockets. */
final class PeerTest {
  private static final long CONVERGE_MILLIS = 60_000;

  @ParameterizedTest
  @EnumSource(PeerSystem.class)
  void load_convergesToWhatWasAcknowledged(PeerSystem system) throws InterruptedException {
    try (Peer peer = system.start(Duration.ofMillis(100))) {
      for (Kind kind : Kind.values()) {
        if (kind == Kind.SETS && !system.hasSets()) {
          assertThatThrownBy(() -> peer.caller(0).add(0, 0))
              .isInstanceOf(UnsupportedOperationException.class);
          continue;
        }
        // Names of counters and of sets differ, so both can be in the same nodes.
        PeerLoad load = new PeerLoad(peer, new PeerLoad.Shape(kind, 20, 10, 8, 1, 1));
        long before = peer.bytes();
        PeerLoad.Outcome outcome = load.run(4_000);
        assertThat(load.awaitConverged(CONVERGE_MILLIS)).isEmpty();
        assertThat(outcome.updates()).isGreaterThanOrEqualTo(4_000);
        assertThat(peer.bytes()).as("all traffic passes the forwarders").isGreaterThan(before);
      }
    }
  }
}
