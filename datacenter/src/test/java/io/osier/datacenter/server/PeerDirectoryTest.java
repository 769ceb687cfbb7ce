package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.List;
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

  @Test
  void clientsAreToldWhoHoldsWhatIsNotHere_andWhereTheyAre() {
    PeerDirectory peers = new PeerDirectory(Map.of(), () -> {});
    peers.setClients(Map.of("us", "us.example:7400", "ap", "ap.example:7400"));
    KeyspacePolicy carts = KeyspacePolicy.session("carts", Duration.ofMillis(500));
    KeyspacePolicy bank = KeyspacePolicy.session("bank", Duration.ofMillis(100));
    List<Placement.Placed> placed =
        List.of(
            new Placement.Placed(carts, List.of("au", "us"), ""),
            new Placement.Placed(bank, List.of("ap"), ""));
    Reply.Elsewhere told = peers.holding(placed, Map.of("bank", "open"));
    assertThat(told.keyspaces())
        .containsExactly(new Reply.HeldElsewhere(RequestHandler.info(carts), List.of("au", "us")));
    assertThat(told.addresses()).containsOnly(Map.entry("us", "us.example:7400"));
  }
}
