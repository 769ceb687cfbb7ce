package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Datacenters that are added and removed while the others talk. */
final class PeerChangesTest extends PeersFixture {
  // ---------------------------------------------------------------- added

  @Test
  void peerThatIsAdded_isDialled_andLetIn() {
    PeerTransport eu = dialling(EU);
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    assertThat(heardAt(US).all()).first().asString().contains("osier cli dc add us ADDRESS");
    assertThat(eu.traffic()).isEmpty();
    eu.setPeers(peers("us"));
    assertThat(eu.traffic()).containsOnlyKeys("us");
    assertThat(eu.buffered()).containsOnlyKeys("us");
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up us/200");
    assertThat(heardAt(US).all()).last().isEqualTo("up eu/100");
    eu.send(US, "shop", 0, ack(1));
    us.send(EU, "shop", 1, ack(2));
    eu.note("us", new byte[7]);
    world.run(10);
    assertThat(heardAt(US).all()).containsExactly("shop/0 1", "note of eu/100: 7 bytes");
    assertThat(heardAt(EU).all()).containsExactly("shop/1 2");
    assertThat(eu.connected()).isOne();
  }

  @Test
  void peerThatIsAddedBeforeTheFirstDial_isDialledThen() {
    PeerTransport eu = transport(EU, NOBODY);
    dialling(US, "eu");
    eu.setPeers(peers("us"));
    world.run(LONG_MILLIS);
    assertThat(world.dials(at("us"))).isZero();
    assertThat(heardAt(US).all()).as("it is let in all the same").contains("up eu/100");
    eu.dial();
    eu.dial();
    world.run(LONG_MILLIS);
    assertThat(world.dials(at("us"))).isOne();
    assertThat(heardAt(EU).all()).containsExactly("up us/200");
  }

  @Test
  void itself_isNoPeer_andNothingChanges() {
    PeerTransport eu = dialling(EU, "us");
    assertThatThrownBy(() -> eu.setPeers(peers("ap", "eu")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("eu");
    assertThat(eu.traffic()).containsOnlyKeys("us");
    assertThatThrownBy(() -> transport(EU, peers("eu")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  // ---------------------------------------------------------------- removed

  @Test
  void peerThatIsRemoved_isDisconnectedBothWays_andRefused() {
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up us/200");
    assertThat(heardAt(US).all()).containsExactly("up eu/100");
    int dials = world.dials(at("us"));
    eu.setPeers(NOBODY);
    assertThat(eu.traffic()).isEmpty();
    assertThat(eu.buffered()).isEmpty();
    assertThat(eu.isConnected("us")).isFalse();
    eu.send(US, "shop", 0, ack(1)); // dropped
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).as("once").containsExactly("down us");
    assertThat(world.dials(at("us"))).isEqualTo(dials);
    assertThat(us.connected()).isZero();
    assertThat(heardAt(US).all())
        .startsWith("down eu")
        .element(1)
        .asString()
        .contains("CONFIGURATION", "'us' is not among the peers [] of eu", "osier cli dc add us");
    us.send(EU, "shop", 0, ack(1));
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).isEmpty();
    assertThat(world.open()).isZero();
  }

  /**
   * Frames that are in flight, or are being decoded, arrive after the engine has forgotten the
   * peer.
   */
  @Test
  void whatComesFromARemovedPeer_isNotHandedOn() {
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    heardAt(EU).all();
    CrdtState large =
        CrdtState.bottom(CrdtType.AW_SET)
            .prepare(new Operation.Add(Value.of(new byte[4 << 20])), US, 1, 0, 1_000, 0);
    us.send(EU, "shop", 0, Frames.states(US, large));
    us.send(EU, "shop", 0, ack(1));
    world.run(3); // now it is being decoded in another thread
    eu.setPeers(NOBODY);
    world.run(1_000);
    assertThat(heardAt(EU).all()).containsExactly("down us");
    eu.setPeers(peers("us"));
    world.run(LONG_MILLIS);
    us.send(EU, "shop", 0, Frames.states(US, large));
    us.send(EU, "shop", 0, ack(1));
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).hasSize(3).last().isEqualTo("shop/0 1");
  }

  /** The listener may remove the peer when it gets a frame: the next frames were read already. */
  @Test
  void peerThatIsRemovedByWhatItSends_sendsNothingMore() {
    List<PeerTransport> eu = new ArrayList<>();
    heard.put(
        "eu",
        new HeardFrames() {
          @Override
          public void received(ReplicaId peer, String keyspace, int partition, Frame frame) {
            super.received(peer, keyspace, partition, frame);
            eu.getFirst().setPeers(NOBODY);
            eu.getFirst().setPeers(peers("us"));
          }
        });
    eu.add(dialling(EU, "us"));
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    us.send(EU, "shop", 0, ack(1));
    us.send(EU, "shop", 0, ack(2));
    us.note("eu", new byte[1]);
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up us/200", "shop/0 1", "down us", "up us/200");
  }

  /**
   * The peer is removed while it is connected, while its name is looked up, and between two
   * attempts.
   */
  @Test
  void peerThatIsRemovedBeforeItIsUp_isNotHeardOf_norDialledAgain() {
    dialling(US, "eu");
    for (long after = 0; after < 10; after++) {
      PeerTransport eu = transport(EU, at("eu"), peers("us", "ap"));
      eu.dial();
      world.run(after);
      eu.setPeers(NOBODY);
      int dials = world.dials(at("us")) + world.dials(at("ap"));
      world.run(LONG_MILLIS);
      assertThat(world.dials(at("us")) + world.dials(at("ap"))).isLessThanOrEqualTo(dials + 2);
      dials = world.dials(at("us")) + world.dials(at("ap"));
      world.run(LONG_MILLIS);
      assertThat(world.dials(at("us")) + world.dials(at("ap"))).as("at rest").isEqualTo(dials);
      assertThat(String.join(", ", heardAt(EU).all())).isIn("", "up us/200, down us");
      assertThat(world.open()).isZero();
      eu.close();
    }
  }

  @Test
  void peerThatIsRemovedWhileItIsDialled_leavesNothingPlanned() {
    PeerTransport eu = transport(EU, peers("us"));
    eu.dial();
    world.run(0);
    assertThat(world.planned()).as("the dial").isOne();
    eu.setPeers(NOBODY);
    world.run(1);
    assertThat(world.planned()).isZero();
    assertThat(world.dials(at("us"))).isOne();
  }

  @Test
  void addedAndRemovedAThousandTimes_leavesNothing() {
    PeerTransport eu = dialling(EU, "ap");
    dialling(AP, "eu");
    dialling(US, "eu");
    world.run(LONG_MILLIS);
    long openBefore = world.open();
    Random random = new Random(16);
    int plannedMax = 0;
    for (int i = 0; i < 1_000; i++) {
      eu.setPeers(peers("ap", i % 3 == 0 ? "nobody" + i : "us"));
      world.run(random.nextInt(40));
      eu.setPeers(peers("ap"));
      world.run(random.nextInt(40));
      plannedMax = Math.max(plannedMax, world.planned());
    }
    assertThat(plannedMax).as("what was planned at once").isLessThan(100);
    world.run(LONG_MILLIS);
    assertThat(world.open()).isEqualTo(openBefore);
    assertThat(world.planned()).isLessThan(10);
    assertThat(eu.traffic()).containsOnlyKeys("ap");
    List<String> events = heardAt(EU).all();
    assertThat(events).startsWith("up ap/300").hasSizeGreaterThan(100);
    assertUpAndDownInTurn("us", events);
    assertThat(events).last().isEqualTo("down us");
    assertThat(world.dials(at("ap"))).as("undisturbed").isOne();
  }

  // ---------------------------------------------------------------- added again

  @Test
  void peerThatIsAddedAgain_works() {
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    eu.setPeers(NOBODY);
    world.run(LONG_MILLIS);
    heardAt(EU).all();
    heardAt(US).all();
    eu.setPeers(peers("us"));
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up us/200");
    assertThat(heardAt(US).all()).last().isEqualTo("up eu/100");
    eu.send(US, "shop", 0, ack(1));
    us.send(EU, "shop", 0, ack(2));
    world.run(10);
    assertThat(heardAt(US).all()).containsExactly("shop/0 1");
    assertThat(heardAt(EU).all()).containsExactly("shop/0 2");
  }

  /**
   * If it were down only when its connection is closed, it would be up, then down, and stay down.
   */
  @Test
  void peerThatIsAddedAgainAtOnce_isDownBeforeItIsUp_howeverSlowlyConnectionsClose() {
    world.closesSlowly();
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US);
    world.run(LONG_MILLIS); // refused again and again, so that the dials get large numbers
    us.setPeers(peers("eu"));
    world.run(LONG_MILLIS);
    heardAt(EU).all();
    heardAt(US).all();
    eu.setPeers(NOBODY);
    eu.setPeers(peers("us"));
    world.run(100);
    assertThat(heardAt(EU).all())
        .as("there, the former connection is open, and has a smaller number")
        .containsExactly("down us", "up us/200");
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).isEmpty();
    assertThat(heardAt(US).all()).containsExactly("down eu", "up eu/100");
    eu.send(US, "shop", 0, ack(1));
    us.send(EU, "shop", 0, ack(2));
    world.run(10);
    assertThat(heardAt(US).all()).containsExactly("shop/0 1");
    assertThat(heardAt(EU).all()).containsExactly("shop/0 2");
    assertThat(world.open()).isEqualTo(4);
  }

  /** The peer's former life is over, whether its connection is closed already or not. */
  @Test
  void nameThatIsAddedAgain_mayBeOfAnyProcess_newerOrOlder() {
    world.closesSlowly();
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    for (long incarnation : new long[] {201, 150}) {
      eu.setPeers(NOBODY);
      world.run(1);
      ReplicaId another = new ReplicaId("us", incarnation);
      us.close();
      us = dialling(another, "eu");
      eu.setPeers(peers("us"));
      heardAt(EU).all();
      heardAt(US).all();
      world.run(20);
      assertThat(heardAt(EU).all()).containsExactly("up " + another);
      assertThat(heardAt(US).all()).containsExactly("up eu/100");
      us.send(EU, "shop", 0, ack(1));
      world.run(LONG_MILLIS);
      assertThat(heardAt(EU).all()).containsExactly("shop/0 1");
    }
  }

  // ---------------------------------------------------------------- elsewhere, or as it was

  @Test
  void peerThatIsElsewhere_isDialledThere_andItsConnectionToHereStays() {
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = transport(US, at("us-2"), peers("eu"));
    us.dial();
    world.run(LONG_MILLIS);
    assertThat(heardAt(US).all()).containsExactly("up eu/100");
    assertThat(heardAt(EU).all()).isEmpty();
    us.send(EU, "shop", 0, ack(1));
    world.run(10);
    long received = received(eu);
    assertThat(received).isPositive();
    eu.setPeers(Map.of("us", at("us-2")));
    int dials = world.dials(at("us"));
    world.run(LONG_MILLIS);
    assertThat(world.dials(at("us"))).isEqualTo(dials);
    assertThat(heardAt(EU).all()).containsExactly("shop/0 1", "up us/200");
    assertThat(heardAt(US).all()).isEmpty();
    assertThat(received(eu)).as("goes on").isGreaterThanOrEqualTo(received);
    eu.send(US, "shop", 0, ack(2));
    world.run(10);
    assertThat(heardAt(US).all()).containsExactly("shop/0 2");
    assertThat(world.dials(at("eu"))).isOne();
    eu.setPeers(Map.of("us", at("us-3")));
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("down us");
    assertThat(world.dials(at("us-2"))).isOne();
    assertThat(world.dials(at("us-3"))).isGreaterThan(1);
    us.send(EU, "shop", 0, ack(3));
    world.run(10);
    assertThat(heardAt(EU).all()).containsExactly("shop/0 3");
  }

  private static long received(PeerTransport from) {
    return Optional.ofNullable(from.traffic().get("us")).orElseThrow().receivedBytes();
  }

  @Test
  void connectionsOfOthers_stayAsTheyAre() {
    Map<String, InetSocketAddress> both = Map.of("us", at("us"), "ap", at("127.0.0.1"));
    PeerTransport eu = transport(EU, both);
    eu.dial();
    dialling(US, "eu");
    transport(AP, at("127.0.0.1"), peers("eu")).dial();
    world.run(LONG_MILLIS);
    heardAt(EU).all();
    LinkTraffic before = Optional.ofNullable(eu.traffic().get("ap")).orElseThrow();
    eu.setPeers(Map.of("ap", at("127.0.0.1")));
    world.run(LONG_MILLIS);
    eu.setPeers(Map.of("ap", new InetSocketAddress("127.0.0.1", 1))); // the same address, looked up
    world.run(LONG_MILLIS);
    eu.setPeers(both);
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("down us", "up us/200");
    assertThat(heardAt(AP).all()).containsExactly("up eu/100");
    assertThat(world.dials(at("127.0.0.1"))).isOne();
    assertThat(eu.traffic().get("ap")).isSameAs(before);
  }
}
