package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.PlacementRules;
import io.osier.datacenter.control.Placement;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    Reply.Elsewhere told = peers.holding(placed, Set.of("bank")).elsewhere();
    assertThat(told.keyspaces())
        .containsExactly(
            new Reply.HeldElsewhere(Reply.KeyspaceInfo.of(carts), List.of("au", "us")));
    assertThat(told.addresses()).containsOnly(Map.entry("us", "us.example:7400"));
  }

  /** They do not go to a holder by themselves, where nobody knew who asks. */
  @Test
  void whatHasHoldersThatFollowTheLoad_isToldAsIfItWereHere() {
    PeerDirectory peers = new PeerDirectory(Map.of(), () -> {});
    KeyspacePolicy carts =
        KeyspacePolicy.session("carts", Duration.ofMillis(500))
            .with(new PlacementRules(PlacementRules.Placement.PINNED, 0, List.of(), List.of()));
    List<Placement.Placed> placed = List.of(new Placement.Placed(carts, List.of("us"), ""));
    assertThat(peers.holding(placed, Set.of()))
        .isEqualTo(new Reply.Keyspaces(List.of(Reply.KeyspaceInfo.of(carts))));
    assertThat(peers.holding(placed, Set.of("carts"))).isEqualTo(new Reply.Keyspaces(List.of()));
  }
}
