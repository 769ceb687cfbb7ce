package io.osier.propagation.net;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.net.link.DialAttempts;
import io.osier.propagation.net.link.Heartbeat;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.net.link.PortLimits;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Datacenters that are added and removed while the others talk. */
final class PeerChangesTest {
  private static final ReplicaId EU = new ReplicaId("eu", 100);
  private static final ReplicaId US = new ReplicaId("us", 200);
  private static final ReplicaId AP = new ReplicaId("ap", 300);
  private static final long START = 77;
  private static final Map<String, InetSocketAddress> NOBODY = Map.of();
  private static final List<String> POLICIES = List.of("shop{partitions=2}");

  /** Within which what is tried again has been tried again, and whoever is silent is given up. */
  private static final long LONG_MILLIS =
      Heartbeat.DEAD_MILLIS + 2 * DialAttempts.PAUSE_MILLIS_MAX + StillWorld.SLOW_CLOSE_MILLIS;

  private final StillWorld world = new StillWorld();
  private final Map<String, HeardFrames> heard = new TreeMap<>();
  private final Map<String, List<String>> policies = new HashMap<>();
  private final List<PeerTransport> open = new ArrayList<>();

  @AfterEach
  void close() {
    open.forEach(PeerTransport::close);
  }

  private static InetSocketAddress at(String host) {
    return InetSocketAddress.createUnresolved(host, 1);
  }

  private static Map<String, InetSocketAddress> peers(String... dcs) {
    Map<String, InetSocketAddress> peers = new TreeMap<>();
    for (String dc : dcs) {
      peers.put(dc, at(dc));
    }
    return peers;
  }

  private HeardFrames heardAt(ReplicaId replica) {
    return heard.computeIfAbsent(replica.dc(), dc -> new HeardFrames());
  }

  private PeerTransport transport(ReplicaId self, Map<String, InetSocketAddress> peers) {
    return transport(self, at(self.dc()), peers);
  }

  private PeerTransport transport(
      ReplicaId self, InetSocketAddress listens, Map<String, InetSocketAddress> peers) {
    return transport(new PeerBearer(self, "test", START), listens, peers);
  }

  private PeerTransport transport(
      PeerBearer bearer, InetSocketAddress listens, Map<String, InetSocketAddress> peers) {
    ReplicaId self = bearer.replica();
    PeerTransport transport =
        new PeerTransport(
            bearer,
            listens,
            peers,
            dc -> policies.getOrDefault(self.dc(), POLICIES),
            PortLimits.DEFAULT,
            heardAt(self),
            Optional.empty(),
            world.network());
    open.add(transport);
    return transport;
  }

  /** One that speaks only the oldest version. */
  private PeerTransport former(ReplicaId self, String... peers) {
    int version = PeerVersions.OLDEST;
    PeerTransport former =
        transport(new PeerBearer(self, "test", START, version), at(self.dc()), peers(peers));
    former.dial();
    return former;
  }

  private PeerTransport dialling(ReplicaId self, String... peers) {
    PeerTransport transport = transport(self, peers(peers));
    transport.dial();
    return transport;
  }

  private static ReplicaId replica(String dc) {
    return List.of(EU, US, AP).stream().filter(r -> r.dc().equals(dc)).findAny().orElseThrow();
  }

  private static Frame ack(int sequence) {
    return new Frame.Ack(1, sequence);
  }

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

  /** What is on its way, or is being decoded, comes after the engine has forgotten the peer. */
  @Test
  void whatComesFromARemovedPeer_isNotHandedOn() {
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    heardAt(EU).all();
    CrdtState large =
        CrdtState.bottom(CrdtType.AW_SET)
            .prepare(new Operation.Add(Value.of(new byte[4 << 20])), US, 1, 0, 1_000, 0);
    us.send(EU, "shop", 0, states(large));
    us.send(EU, "shop", 0, ack(1));
    world.run(3); // now it is decoded apart
    eu.setPeers(NOBODY);
    world.run(1_000);
    assertThat(heardAt(EU).all()).containsExactly("down us");
    eu.setPeers(peers("us"));
    world.run(LONG_MILLIS);
    us.send(EU, "shop", 0, states(large));
    us.send(EU, "shop", 0, ack(1));
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).hasSize(3).last().isEqualTo("shop/0 1");
  }

  /** It was greeted as one of a former version, and was told of no keyspace that was created. */
  @Test
  void keyspaces_areToldToWhoWasBehindAForwarder_andAwayAtFirst() {
    for (long away = 0; away < 3_000; away += 20) {
      policies.clear();
      world.closesWhatComes(at("us"));
      PeerTransport eu = dialling(EU, "us");
      world.run(away);
      PeerTransport us = transport(US, peers("eu"));
      world.run(LONG_MILLIS);
      assertThat(heardAt(EU).all()).containsExactly("up us/200");
      policies.put("eu", List.of("shop{partitions=2}", "more{partitions=1}"));
      policies.put("us", List.of("shop{partitions=2}", "more{partitions=1}"));
      eu.keyspacesChanged();
      us.keyspacesChanged();
      world.run(LONG_MILLIS);
      assertThat(heardAt(EU).all()).as("away for %s ms", away).containsExactly("up us/200 [more]");
      eu.close();
      us.close();
      heardAt(EU).all();
      heardAt(US).all();
    }
  }

  /** Of two programs of different versions each tells the other of keyspaces, too. */
  @Test
  void formerVersion_isSpokenWithWhoRefusesTheNewest_andTheNewestOnceItIsUpgraded() {
    PeerTransport eu = dialling(EU, "us");
    PeerTransport former = former(US, "eu");
    world.run(4 * Dialler.DOUBT_MILLIS);
    assertThat(heardAt(EU).all()).as("it is up all the time").containsExactly("up us/200");
    assertThat(heardAt(US).all()).containsExactly("up eu/100");
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.OLDEST));
    assertThat(eu.version("us")).isEqualTo(PeerVersions.OLDEST);
    policies.put("eu", List.of("shop{partitions=2}", "more{partitions=1}"));
    policies.put("us", List.of("shop{partitions=2}", "more{partitions=1}"));
    eu.keyspacesChanged();
    former.keyspacesChanged();
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up us/200 [more]");
    assertThat(heardAt(US).all()).containsExactly("up eu/100 [more]");
    former.close();
    world.run(LONG_MILLIS);
    assertThat(eu.spoken()).isEmpty();
    heardAt(EU).all();
    dialling(US, "eu");
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up us/200 [shop, more]");
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
    assertThat(eu.version("us")).isEqualTo(PeerVersions.NEWEST);
  }

  @Test
  void whatIsSaid_isCompressed_whereBothAreNew_andUnlessNoneIsToBe() {
    PeerTransport eu = dialling(EU, "us", "ap");
    former(US, "eu");
    PeerTransport ap = dialling(AP, "eu");
    world.run(LONG_MILLIS);
    assertThat(savedBySaying(eu, US)).isZero();
    assertThat(savedBySaying(eu, AP)).isPositive();
    eu.compress(0);
    ap.close();
    world.run(LONG_MILLIS);
    dialling(AP, "eu");
    world.run(LONG_MILLIS);
    assertThat(savedBySaying(eu, AP)).isZero();
  }

  private long savedBySaying(PeerTransport from, ReplicaId to) {
    LinkTraffic traffic = requireNonNull(from.traffic().get(to.dc()));
    long before = traffic.savedBytes();
    heardAt(to).all();
    for (int i = 1; i <= 100; i++) {
      from.send(to, "shop", 0, new Frame.Ack(1L << 60, i)); // longer than what stays as it is
    }
    world.run(LONG_MILLIS);
    assertThat(heardAt(to).all())
        .isEqualTo(IntStream.rangeClosed(1, 100).mapToObj(i -> "shop/0 " + i).toList());
    return traffic.savedBytes() - before;
  }

  /** What clients publish is no part of what former programs know. */
  @Test
  void message_isSentOnceBothAreNew_andNotToAFormerProgram() {
    PeerTransport eu = dialling(EU, "us");
    assertThat(eu.message("us", new byte[8])).as("nobody is there").isFalse();
    PeerTransport former = former(US, "eu");
    world.run(LONG_MILLIS);
    heardAt(US).all();
    heardAt(EU).all();
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.OLDEST));
    assertThat(eu.message("us", new byte[8])).isFalse();
    assertThat(former.message("eu", new byte[8])).as("it would not know it either").isFalse();
    eu.note("us", new byte[7]);
    world.run(LONG_MILLIS);
    assertThat(heardAt(US).all()).containsExactly("note of eu/100: 7 bytes");
    assertThat(heardAt(EU).all()).isEmpty();
    former.close();
    world.run(LONG_MILLIS);
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    heardAt(US).all();
    heardAt(EU).all();
    assertThat(eu.message("us", new byte[8])).isTrue();
    assertThat(us.message("eu", new byte[9])).isTrue();
    assertThat(eu.message("nobody", new byte[9])).isFalse();
    world.run(LONG_MILLIS);
    assertThat(heardAt(US).all()).containsExactly("note of eu/100: 8 bytes");
    assertThat(heardAt(EU).all()).containsExactly("note of us/200: 9 bytes");
  }

  /**
   * A forwarder had the former program behind it at the first dial, and the new one at the next.
   */
  @Test
  void formerVersion_isLeftAgain_whereWhoHasRefusedTheNewestWasExchangedUnseen() {
    for (long away = 0; away < 200; away++) {
      PeerTransport former = former(US);
      PeerTransport eu = dialling(EU, "us");
      world.run(away);
      former.close();
      PeerTransport us = dialling(US, "eu");
      world.run(LONG_MILLIS + Dialler.DOUBT_MILLIS);
      assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
      assertThat(heardAt(EU).all()).as("away for %s ms", away).last().isEqualTo("up us/200");
      policies.put("eu", List.of("shop{partitions=2}", "more{partitions=1}"));
      policies.put("us", List.of("shop{partitions=2}", "more{partitions=1}"));
      eu.keyspacesChanged();
      us.keyspacesChanged();
      world.run(LONG_MILLIS);
      assertThat(heardAt(EU).all()).containsExactly("up us/200 [more]");
      eu.close();
      us.close();
      policies.clear();
      heardAt(US).all();
    }
  }

  /** It waits for the one that cannot read its name, and is told so in words by all. */
  @Test
  void longName_joinsOnceTheLastOneIsUpgraded() {
    ReplicaId named = new ReplicaId("northamerica-northeast1", 400);
    PeerTransport eu = dialling(EU, "us", named.dc());
    PeerTransport former = former(US, "eu", "northamerica");
    PeerTransport it = dialling(named, "eu", "us");
    world.run(LONG_MILLIS);
    assertThat(heardAt(named).all())
        .anySatisfy(e -> assertThat(e).contains("UNAVAILABLE eu", "'us' speaks version 9"))
        .anySatisfy(e -> assertThat(e).contains("VERSION_MISMATCH us", "upgrade us first"))
        .noneSatisfy(e -> assertThat(e).startsWith("up"));
    former.close();
    PeerTransport us = dialling(US, "eu", named.dc());
    world.run(2 * LONG_MILLIS);
    assertThat(it.spoken()).containsOnlyKeys("eu", "us");
    assertThat(us.spoken()).containsOnlyKeys("eu", named.dc());
    assertThat(eu.spoken()).containsOnlyKeys("us", named.dc());
  }

  /** It cut replication whenever a connection was lost, for as long as the newcomer was away. */
  @Test
  void besideALongName_newcomerThatIsAway_isNotInTheWay_andIsRefusedIfItIsTooOld() {
    ReplicaId named = new ReplicaId("northamerica-northeast1", 400);
    PeerTransport eu = dialling(EU, named.dc(), "ap");
    PeerTransport it = dialling(named, "eu", "ap");
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("up " + named);
    assertThat(heardAt(named).all()).containsExactly("up eu/100");
    it.close();
    world.run(LONG_MILLIS);
    it = dialling(named, "eu", "ap");
    PeerTransport former = former(AP, "eu");
    world.run(4 * LONG_MILLIS);
    assertThat(heardAt(EU).all())
        .contains("down " + named.dc(), "up " + named)
        .noneMatch(e -> e.startsWith("up ap"));
    assertThat(it.spoken()).containsOnlyKeys("eu");
    assertThat(eu.spoken()).containsOnlyKeys(named.dc());
    assertThat(heardAt(AP).all())
        .isNotEmpty()
        .allSatisfy(e -> assertThat(e).startsWith("VERSION_MISMATCH").contains(named.dc()));
    former.close();
    dialling(AP, "eu", named.dc());
    world.run(2 * LONG_MILLIS);
    assertThat(eu.spoken()).containsOnlyKeys("ap", named.dc());
    assertThat(it.spoken()).containsOnlyKeys("ap", "eu");
  }

  /** Who is down agrees to nothing: it must be down before it agrees on the new connection. */
  @Test
  void connectionThatTakesThePlaceOfAnother_isDownBeforeTheKeyspacesAreCompared() {
    HeardFrames inOrder =
        new HeardFrames() {
          @Override
          public void compared(String dc, Map<String, String> differences) {
            events.add("compared " + dc);
          }
        };
    heard.put("eu", inOrder);
    int version = PeerVersions.OLDEST;
    transport(new PeerBearer(US, "test", START, version), at("us"), peers("eu"));
    PeerTransport eu = dialling(EU, "us");
    world.run(LONG_MILLIS);
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.OLDEST));
    transport(US, peers("eu")); // behind the same address, while the first connection lasts
    world.run(2 * Dialler.DOUBT_MILLIS);
    assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
    assertThat(inOrder.all())
        .containsExactly("compared us", "up us/200", "down us", "compared us", "up us/200");
  }

  /** The listener may do what it hears: what comes next was read already. */
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

  private static Frame.States states(CrdtState state) {
    return new Frame.States(
        1,
        Optional.empty(),
        Optional.empty(),
        0,
        new Frame.Place(0, 0),
        VersionVector.EMPTY,
        List.of(
            new Shipment(
                new ObjectId(Key.of("k"), CrdtType.AW_SET),
                US,
                0,
                VersionVector.EMPTY,
                6,
                0,
                0,
                state)));
  }

  /** While it is connected, while its name is looked up, and between two attempts. */
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

  private static void assertUpAndDownInTurn(String dc, List<String> events) {
    boolean up = false;
    for (String event : events) {
      if (event.startsWith("up " + dc) || event.equals("down " + dc)) {
        assertThat(event.startsWith("up")).as(event + " of " + events).isNotEqualTo(up);
        up = !up;
      }
    }
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

  /** It would be up and down, and remain so, were it down when its connection is closed. */
  @Test
  void peerThatIsAddedAgainAtOnce_isDownBeforeItIsUp_howeverSlowlyConnectionsClose() {
    world.closesSlowly();
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US);
    world.run(LONG_MILLIS); // refused again and again: the dials have large numbers
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

  /** Its former life is over, whether its connection is closed already or not. */
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

  @Test
  void keyspacesThatChangeWhileAPeerIsRemoved_areNotHeardOf() {
    PeerTransport eu = dialling(EU, "us");
    dialling(US, "eu");
    world.run(LONG_MILLIS);
    heardAt(EU).all();
    heardAt(EU).differing.clear();
    policies.put("eu", List.of("shop{partitions=4}"));
    eu.keyspacesChanged(); // soon, in the loops of its connections
    eu.setPeers(NOBODY);
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("down us");
    assertThat(heardAt(EU).differing).isEmpty();
  }

  /** The numbers by which frames name their keyspaces are agreed on anew. */
  @Test
  void peerThatIsAddedAgain_isNotSentByFormerKeyspaces() {
    PeerTransport eu = dialling(EU, "us");
    dialling(US, "eu");
    world.run(LONG_MILLIS);
    eu.send(US, "shop", 0, ack(1));
    world.run(10);
    assertThat(heardAt(US).all()).endsWith("shop/0 1");
    eu.setPeers(NOBODY);
    world.run(LONG_MILLIS);
    policies.put("eu", List.of("more{partitions=2}", "shop{partitions=2}"));
    policies.put("us", List.of("more{partitions=2}", "shop{partitions=2}"));
    eu.setPeers(peers("us"));
    world.run(LONG_MILLIS);
    eu.send(US, "shop", 0, ack(2));
    world.run(10);
    assertThat(heardAt(US).all()).endsWith("shop/0 2");
  }

  /** A number is another keyspace's as soon as the next list is told. */
  @Test
  void keyspacesThatComeAndGo_areNotTakenForEachOther() {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    List<String> names = List.of("a", "b", "c", "d");
    PeerTransport eu = dialling(EU, "us");
    PeerTransport us = dialling(US, "eu");
    world.run(LONG_MILLIS);
    int arrived = 0;
    for (int i = 0; i < 2_000; i++) {
      for (String dc : List.of("eu", "us")) {
        if (random.nextInt(4) == 0) {
          List<String> some = new ArrayList<>();
          names.stream()
              .filter(n -> random.nextInt(3) > 0)
              .forEach(n -> some.add(random.nextInt(some.size() + 1), n + "{partitions=1}"));
          policies.put(dc, some);
          (dc.equals("eu") ? eu : us).keyspacesChanged();
        }
      }
      int which = random.nextInt(names.size());
      eu.send(US, names.get(which), 0, ack(10 * i + which));
      world.run(random.nextInt(3));
      for (String event : heardAt(US).all()) {
        int at = event.indexOf("/0 ");
        if (at >= 0) {
          int sent = Integer.parseInt(event.substring(at + 3)) % 10;
          assertThat(event).as("seed %d", seed).startsWith(names.get(sent) + "/0 ");
          arrived++;
        } else {
          assertThat(event).as("seed %d", seed).containsAnyOf("up ", "parted ");
        }
      }
    }
    assertThat(arrived).as("seed %d", seed).isGreaterThan(100);
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
    eu.setPeers(Map.of("ap", new InetSocketAddress("127.0.0.1", 1))); // the same, looked up
    world.run(LONG_MILLIS);
    eu.setPeers(both);
    world.run(LONG_MILLIS);
    assertThat(heardAt(EU).all()).containsExactly("down us", "up us/200");
    assertThat(heardAt(AP).all()).containsExactly("up eu/100");
    assertThat(world.dials(at("127.0.0.1"))).isOne();
    assertThat(eu.traffic().get("ap")).isSameAs(before);
  }

  // ---------------------------------------------------------------- by many threads

  @Test
  void changesAndSendsOfManyThreads_endWithTheLastChange() throws Exception {
    Logger log = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Map<String, PeerTransport> all = new ConcurrentHashMap<>();
    try {
      for (ReplicaId self : List.of(EU, US, AP)) {
        PeerTransport transport =
            new PeerTransport(
                new PeerBearer(self, "test", START),
                new InetSocketAddress("127.0.0.1", 0),
                NOBODY,
                dc -> POLICIES,
                new PortLimits(10_000, 20_000, 20_000), // each change may be a dial
                heardAt(self),
                Optional.empty());
        open.add(transport);
        all.put(self.dc(), transport);
      }
      Map<String, InetSocketAddress> full = new TreeMap<>();
      all.forEach((dc, t) -> full.put(dc, new InetSocketAddress("127.0.0.1", t.port())));
      all.values().forEach(PeerTransport::dial);
      List<Thread> threads = new ArrayList<>();
      all.forEach(
          (dc, transport) -> {
            for (int i = 0; i < 3; i++) {
              Random random = new Random(seed + threads.size());
              threads.add(
                  Thread.ofVirtual()
                      .start(
                          () -> {
                            try {
                              change(transport, others(dc, full), random);
                            } catch (Throwable e) {
                              failure.set(e);
                            }
                          }));
            }
          });
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failure.get()).isNull();
      all.forEach((dc, transport) -> transport.setPeers(others(dc, full)));
      await().until(() -> all.values().stream().allMatch(t -> t.connected() == 2));
      all.forEach(
          (dc, t) ->
              others(dc, full).keySet().forEach(to -> t.send(replica(to), "shop", 1, ack(7))));
      for (String dc : all.keySet()) {
        List<String> events = new ArrayList<>();
        HeardFrames there = Optional.ofNullable(heard.get(dc)).orElseThrow();
        while (events.stream().filter("shop/1 7"::equals).count() < 2) {
          events.add(there.next());
        }
        others(dc, full).keySet().forEach(other -> assertUpAndDownInTurn(other, events));
      }
      assertThat(lines.list)
          .as("nothing fails; to be refused is no failure")
          .noneMatch(
              e ->
                  e.getLevel().isGreaterOrEqual(Level.ERROR)
                      && !e.getFormattedMessage().contains("refuse"));
    } finally {
      log.detachAppender(lines);
    }
  }

  private static Map<String, InetSocketAddress> others(
      String dc, Map<String, InetSocketAddress> full) {
    Map<String, InetSocketAddress> others = new TreeMap<>(full);
    others.remove(dc);
    return others;
  }

  private static void change(
      PeerTransport transport, Map<String, InetSocketAddress> others, Random random) {
    for (int i = 0; i < 300; i++) {
      Map<String, InetSocketAddress> some = new TreeMap<>(others);
      some.keySet().removeIf(dc -> random.nextInt(4) == 0);
      transport.setPeers(some);
      for (String to : others.keySet()) {
        transport.send(replica(to), "shop", 0, ack(i));
        transport.note(to, new byte[3]);
      }
      transport.keyspacesChanged();
    }
  }
}
