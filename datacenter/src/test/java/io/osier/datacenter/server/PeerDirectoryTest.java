package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** What other datacenters say of themselves. */
final class PeerDirectoryTest {
  @Test
  void announcedTextThatIsNoAddress_isShownToNobody() {
    PeerDirectory peers = new PeerDirectory(Map.of(), () -> {});
    peers.setClients(
        Map.of(
            "us", "us.example:7400", "ap", "ap.example:7400; rm -rf ~", "au", "[2001:db8::1]:1"));
    assertThat(peers.clientAddresses())
        .containsOnly(Map.entry("us", "us.example:7400"), Map.entry("au", "[2001:db8::1]:1"));
  }
}
