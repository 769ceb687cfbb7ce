package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.osier.core.ReplicaId;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The diallers that a change of the peers leaves for the loop. */
final class PeersTest {
  private static final ReplicaId EU = new ReplicaId("eu", 100);

  private final Peers peers = new Peers();
  private final PeeringContext peering =
      new PeeringContext(
          EU,
          dc -> List.of(),
          new Greeting(new ProcessIdentity(EU, "test", 1, List.of())),
          new LogThrottle(),
          peers,
          new HeardFrames(),
          Optional.empty(),
          new StillWorld().network());

  private static InetSocketAddress at(String host) {
    return InetSocketAddress.createUnresolved(host, 1);
  }

  @Test
  void waysThatHaveEnded_areTakenOnce() {
    peers.set(Map.of("us", at("us"), "ap", at("ap"), "af", at("af")), peering);
    assertThat(peers.takeEnded()).isEmpty();
    Map<String, Peer> before = peers.all();
    peers.set(Map.of("us", at("us"), "ap", at("elsewhere")), peering);
    assertThat(before).as("a view that does not change").containsOnlyKeys("af", "ap", "us");
    assertThat(peers.all()).containsOnlyKeys("ap", "us");
    assertThat(peers.takeEnded())
        .extracting(Dialler::dc, Dialler::host)
        .containsExactlyInAnyOrder(tuple("ap", "ap"), tuple("af", "af"));
    assertThat(peers.takeEnded()).as("nothing is kept of who is gone").isEmpty();
  }
}
