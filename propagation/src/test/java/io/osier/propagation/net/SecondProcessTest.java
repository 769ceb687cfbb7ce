package io.osier.propagation.net;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.propagation.net.link.Heartbeat;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Copies of a datacenter's store that run beside it, in a network whose time is stepped. */
final class SecondProcessTest extends PeersFixture {
  private static final long AWHILE_MILLIS = 20_000;

  private PeerTransport starts(
      String host, ReplicaId self, long start, List<Long> former, String... peers) {
    ProcessIdentity process = new ProcessIdentity(self, "test", start, former);
    PeerTransport transport = transport(process, at(host), peers(peers), heardAt(host));
    transport.dial();
    return transport;
  }

  /** The one that meets both. */
  private PeerTransport startsUs() {
    return starts("us", US, 7, List.of(), "eu");
  }

  /** The original, which is connected after a while. */
  private PeerTransport startsEu() {
    PeerTransport eu = starts("eu", EU, 1, List.of(), "us");
    world.run(AWHILE_MILLIS);
    return eu;
  }

  /** A copy of the original's store. */
  private PeerTransport startsCopy(String host) {
    return starts(host, EU, 2, List.of(1L), "us");
  }

  private void startsRestored() {
    starts("restored", new ReplicaId("eu", 101), 2, List.of(), "us");
  }

  private List<String> heard(String host) {
    return heardAt(host).all();
  }

  private void assertSecond(String host, String... words) {
    List<String> told = heard(host);
    assertThat(told).isNotEmpty().noneMatch(event -> event.startsWith("up"));
    assertThat(told).anySatisfy(event -> assertThat(event).startsWith("second").contains(words));
  }

  /** Both were accepted, again and again, and closed each other's connections. */
  @Test
  void copyBesideTheOriginal_isRefused_andHarmsNoConnection() {
    PeerTransport us = startsUs();
    PeerTransport eu = startsEu();
    assertThat(heard("us")).containsExactly("up eu/100");
    assertThat(heard("eu")).containsExactly("up us/200");
    startsCopy("copy");
    int dials = world.dials(at("us"));
    world.run(AWHILE_MILLIS);
    assertSecond("copy", "start 2", "start 1", "was here first");
    assertThat(world.dials(at("us")) - dials).as("dials in 20 s").isLessThan(50);
    assertThat(heard("us")).isEmpty();
    assertThat(heard("eu")).isEmpty();
    eu.send(US, "shop", 0, new Frame.Ack(1, 1));
    us.send(EU, "shop", 0, new Frame.Ack(1, 2));
    world.run(100);
    assertThat(heard("us")).containsExactly("shop/0 1");
    assertThat(heard("eu")).containsExactly("shop/0 2");
  }

  /**
   * The process that a datacenter dials must be the one that dials it: otherwise one would ask, and
   * the other one get the answer.
   */
  @Test
  void copyAtTheOriginalsAddress_isNotTalkedTo_whileTheOriginalIsConnected() {
    PeerTransport us = startsUs();
    starts("elsewhere", EU, 1, List.of(), "us");
    world.run(AWHILE_MILLIS);
    startsCopy("eu");
    world.run(AWHILE_MILLIS);
    assertThat(us.connected()).isZero();
    assertSecond("eu", "was here first");
    assertThat(heard("elsewhere")).containsExactly("up us/200");
  }

  @Test
  void copyIsLetIn_whenTheOriginalHasEnded() {
    startsUs();
    PeerTransport eu = startsEu();
    startsCopy("copy");
    world.run(AWHILE_MILLIS);
    assertSecond("copy", "was here first");
    eu.close();
    world.run(2 * AWHILE_MILLIS);
    assertThat(heard("copy")).last().isEqualTo("up us/200");
  }

  @Test
  void processThatIsStartedAnew_isLetInAtOnce() {
    startsUs();
    PeerTransport eu = startsEu();
    eu.close();
    world.run(10);
    heard("eu");
    startsCopy("eu");
    world.run(2_000);
    assertThat(heard("eu")).contains("up us/200").noneMatch(event -> event.startsWith("second"));
  }

  /** The machine of the former process was lost, so its connection lingers, and answers nothing. */
  @Test
  void processThatIsStartedAnew_isLetIn_whenItsFormerConnectionCountsAsDead() {
    startsUs();
    startsEu();
    heard("eu");
    world.loses(at("eu"));
    PeerTransport eu = startsCopy("eu");
    assertThat(eu.isHeld()).isFalse();
    int held = 0;
    for (int i = 0; i < 20; i++) {
      world.run(100);
      held += eu.isHeld() ? 1 : 0;
    }
    assertThat(held).as("it knows from the beginning that us is in reach").isGreaterThan(15);
    world.run(Heartbeat.DEAD_MILLIS);
    assertThat(eu.isHeld()).isFalse();
    assertThat(heard("eu")).contains("up us/200").noneMatch(event -> event.startsWith("second"));
    assertThat(requireNonNull(heard.get("us")).all())
        .contains("down eu")
        .last()
        .isEqualTo("up eu/100");
  }

  /**
   * A backup that was restored beside the original took updates for ten seconds, and then stopped.
   */
  @Test
  void newerIncarnationBesideTheOriginal_isTakenForAnotherProcess_fromItsFirstRefusalOn() {
    startsUs();
    startsEu();
    heard("eu");
    startsRestored();
    world.run(AWHILE_MILLIS);
    List<String> told = heard("restored");
    assertThat(told).first().asString().startsWith("second to us").contains("already runs as 'eu'");
    assertThat(told).noneMatch(event -> event.startsWith("up"));
    assertThat(told).as("it is to stop").last().asString().startsWith("DUPLICATE_DC us:");
    assertThat(heard("eu")).isEmpty();
  }

  @Test
  void newerIncarnation_isLetIn_whenTheFormerOneHasEnded() {
    startsUs();
    PeerTransport eu = startsEu();
    heard("eu");
    startsRestored();
    world.run(1_000);
    eu.close();
    world.run(AWHILE_MILLIS);
    List<String> told = heard("restored");
    assertThat(told).first().asString().startsWith("second to us");
    assertThat(told).last().isEqualTo("up us/200");
  }

  /** The new life served without data: its peer sent to the former life, whose end did not show. */
  @Test
  void newerIncarnation_isDialledAtOnce_whereTheConnectionToTheFormerOneLingers() {
    PeerTransport us = startsUs();
    PeerTransport former = starts("eu", EU, 1, List.of());
    former.setPeers(Map.of("us", at("nowhere"))); // none of its own connections is in the way
    world.run(AWHILE_MILLIS);
    assertThat(heard("us")).containsExactly("up eu/100");
    world.loses(at("eu"));
    ReplicaId anew = new ReplicaId("eu", 101);
    starts("eu", anew, 2, List.of(), "us");
    world.run(20);
    assertThat(heard("us")).containsExactly("down eu", "up eu/101");
    us.send(anew, "shop", 0, new Frame.Ack(1, 1));
    world.run(10);
    assertThat(heard("eu")).containsExactly("up us/200", "shop/0 1");
    int dials = world.dials(at("eu"));
    world.run(AWHILE_MILLIS);
    assertThat(heard("us")).isEmpty();
    assertThat(world.dials(at("eu"))).isEqualTo(dials);
  }

  /**
   * The datacenter took no updates until the peer came back, since its own former life was in the
   * way there.
   */
  @Test
  void newerIncarnation_isHeldUpNoMore_whenWhoNamedTheFormerOneIsOutOfReach() {
    PeerTransport us = startsUs();
    startsEu();
    startsRestored();
    world.run(1_000);
    assertThat(heard("restored")).last().asString().startsWith("second to us");
    us.close();
    world.run(AWHILE_MILLIS);
    assertThat(heard("restored")).last().isEqualTo("second no more to us");
  }

  /**
   * A copy would give this process's numbers to other updates: a report of one counts for longer.
   */
  @Test
  void copy_isHeldUp_whenWhoNamedTheOriginalIsOutOfReach() {
    PeerTransport us = startsUs();
    startsEu();
    startsCopy("copy");
    world.run(1_000);
    us.close();
    world.run(AWHILE_MILLIS);
    assertThat(heard("copy")).isNotEmpty().allMatch(event -> event.startsWith("second to us"));
  }

  /** Its greeting waited for an answer on the connection that was closed with the removal. */
  @Test
  void processThatWaits_whileItIsRemovedAndAddedAgain_isLetIn() {
    world.closesSlowly();
    PeerTransport us = startsUs();
    startsEu();
    heard("eu");
    world.loses(at("eu"));
    startsCopy("eu");
    world.run(500);
    assertThat(heard("eu")).as("it waits").isEmpty();
    us.setPeers(peers());
    world.run(100);
    us.setPeers(peers("eu"));
    world.run(AWHILE_MILLIS);
    assertThat(heard("eu")).contains("up us/200");
  }

  /** The original was first for one peer, and the copy for the other: neither may acknowledge. */
  @Test
  void threeDatacenters_whoseOriginalAndCopyCameInAnotherOrder_refuseBoth() {
    startsUs();
    starts("ap", AP, 8, List.of(), "eu");
    PeerTransport eu = starts("eu", EU, 1, List.of(), "us");
    PeerTransport copy = starts("copy", EU, 2, List.of(1L), "ap");
    world.run(AWHILE_MILLIS);
    heard("eu");
    heard("copy");
    eu.setPeers(peers("us", "ap"));
    copy.setPeers(peers("us", "ap"));
    world.run(AWHILE_MILLIS);
    assertThat(heard("eu")).anyMatch(e -> e.startsWith("second to ap"));
    assertThat(heard("copy")).anyMatch(e -> e.startsWith("second to us"));
  }

  @Test
  void peerThatIsStartedAnew_meetsBoth_andRefusesBoth() {
    PeerTransport us = startsUs();
    PeerTransport eu = startsEu();
    startsCopy("copy");
    world.run(AWHILE_MILLIS);
    us.close();
    world.run(AWHILE_MILLIS);
    starts("us", US, 9, List.of(7L), "eu");
    world.run(AWHILE_MILLIS);
    assertThat(heard("eu")).last().asString().startsWith("second to us").contains("cannot be told");
    assertThat(heard("copy"))
        .last()
        .asString()
        .startsWith("second to us")
        .contains("cannot be told");
    eu.close();
    world.run(2 * AWHILE_MILLIS);
    assertThat(heard("copy")).last().isEqualTo("up us/200");
  }
}
