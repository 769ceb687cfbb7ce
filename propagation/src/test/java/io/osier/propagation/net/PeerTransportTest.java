package io.osier.propagation.net;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.net.Framing;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Frames;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Two transports over real sockets on loopback. */
final class PeerTransportTest extends TransportFixture {
  private final int euPort = Ports.free();
  private final int usPort = Ports.free();
  private final HeardFrames atEu = new HeardFrames();
  private final HeardFrames atUs = new HeardFrames();

  private PeerTransport eu() {
    return transport(EU, euPort, "us", usPort, atEu);
  }

  private PeerTransport us() {
    return transport(US, usPort, "eu", euPort, atUs);
  }

  @Test
  void frames_comeInTheOrderSent_eachWayOnItsOwnConnection() throws Exception {
    PeerTransport eu = eu();
    eu.dial(); // before the other one listens: it must dial again
    PeerTransport us = us();
    assertThat(atEu.next()).isEqualTo("up " + US);
    assertThat(us.connected()).as("the other way is another connection").isZero();
    for (int i = 1; i <= 1_000; i++) {
      eu.send(US, "shop", i % 2, new Frame.Ack(1, i));
    }
    for (int i = 1; i <= 1_000; i++) {
      assertThat(atUs.next()).isEqualTo("shop/" + i % 2 + " " + i);
    }
    us.dial();
    assertThat(atUs.next()).isEqualTo("up " + EU);
    us.send(EU, "shop", 0, new Frame.Ack(1, 7));
    assertThat(atEu.next()).isEqualTo("shop/0 7");
    LinkTraffic sent = requireNonNull(eu.traffic().get("us"));
    assertThat(sent.writtenBytes()).isGreaterThan(1_000 * 10);
    assertThat(sent.sentBytes()).isLessThan(sent.writtenBytes());
    assertThat(sent.sentBytes() + sent.savedBytes()).isGreaterThanOrEqualTo(sent.writtenBytes());
    assertThat(requireNonNull(us.traffic().get("eu")).receivedBytes()).isPositive();
  }

  @Test
  void notes_comeAmongFrames_largeOnesAreRefusedHere() throws Exception {
    PeerTransport eu = eu();
    eu.note("us", new byte[7]); // that peer does not exist: dropped
    us().dial();
    eu.dial();
    assertThat(atUs.next()).startsWith("up");
    await().until(() -> eu.connected() == 1);
    eu.note("us", new byte[PeerTransport.NOTE_BYTES_MAX]);
    eu.send(US, "shop", 0, new Frame.Ack(1, 7));
    eu.note("nobody", new byte[1]);
    assertThat(atUs.next()).isEqualTo("note of " + EU + ": 65536 bytes");
    assertThat(atUs.next()).isEqualTo("shop/0 7");
    assertThatThrownBy(() -> eu.note("us", new byte[PeerTransport.NOTE_BYTES_MAX + 1]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Returns a request of {@code length} bytes for an answer of {@code answer} bytes. */
  private static byte[] asking(int answer, int length) {
    return ByteBuffer.allocate(length).putInt(answer).array();
  }

  @Test
  void requests_areAnsweredOverTheirConnection_largeOnesToo() throws Exception {
    PeerTransport eu = eu();
    assertThat(eu.ask("us", asking(7, 4))).as("nobody is there").isFalse();
    us(); // it does not dial
    eu.dial();
    assertThat(atEu.next()).startsWith("up");
    assertThat(eu.mayAsk("us")).isTrue();
    assertThat(eu.mayAsk("nobody")).isFalse();
    for (int answer : new int[] {7, Framing.CLIENT_FRAME_BYTES_MAX}) {
      assertThat(eu.ask("us", asking(answer, 2 << 20))).isTrue();
      assertThat(atUs.next()).isEqualTo("asked by " + EU + ": 2097152 bytes");
      assertThat(atUs.next()).isEqualTo("the answer has left");
      assertThat(atEu.next()).isEqualTo("answer of " + US + ": " + answer + " bytes");
    }
    eu.send(US, "shop", 0, new Frame.Ack(1, 7));
    assertThat(atUs.next()).as("the connection goes on").isEqualTo("shop/0 7");
  }

  @Test
  void peerOfAFormerVersion_isNotAsked() throws Exception {
    PeerTransport eu = eu();
    transport(
        new ProcessIdentity(US, "test", START, List.of(), PeerVersions.FORWARDS - 1),
        usPort,
        Map.of("eu", at(euPort)),
        POLICIES,
        atUs);
    eu.dial();
    assertThat(atEu.next()).startsWith("up");
    assertThat(eu.mayAsk("us")).isFalse();
    assertThat(eu.ask("us", asking(7, 4))).isFalse();
  }

  /** Beyond 65 MiB the encoder threw, in whatever thread; 80 MiB closed the connection. */
  @Test
  void stateOverTheObjectLimit_grownByJoining_arrives() throws Exception {
    PeerTransport eu = eu();
    us().dial();
    eu.dial();
    assertThat(atUs.next()).startsWith("up");
    await().until(() -> eu.connected() == 1);
    CrdtState state = CrdtState.bottom(CrdtType.AW_SET);
    for (int i = 0; i < 6; i++) {
      byte[] bytes = new byte[16 << 20];
      bytes[0] = (byte) i;
      state = state.join(state.prepare(new Operation.Add(Value.of(bytes)), EU, i + 1, i, 1_000, 0));
    }
    eu.send(US, "shop", 0, Frames.states(EU, state));
    String came = atUs.next();
    while (!came.startsWith("shop/")) {
      // Where so much stands still for five seconds a connection is lost: on a busy machine.
      if (came.startsWith("down")) {
        await().until(() -> eu.connected() == 1);
        eu.send(US, "shop", 0, Frames.states(EU, state));
      }
      came = atUs.next();
    }
    assertThat(came).isEqualTo("shop/0 states of " + state.sizeBytes() + " bytes");
    do { // again where the connection was lost once more
      await().until(() -> eu.connected() == 1);
      eu.send(US, "shop", 0, new Frame.Ack(1, 7));
    } while (!atUs.next().equals("shop/0 7"));
  }

  @Test
  void lostConnection_isReported_andDialledAgain() throws Exception {
    PeerTransport eu = eu();
    eu.dial();
    PeerTransport us = us();
    assertThat(atEu.next()).isEqualTo("up " + US);
    us.close();
    assertThat(atEu.next()).isEqualTo("down us");
    eu.send(US, "shop", 0, new Frame.Ack(1, 1)); // dropped
    HeardFrames atNewUs = new HeardFrames();
    ReplicaId newer = new ReplicaId("us", 201);
    transport(newer, usPort, "eu", euPort, atNewUs);
    assertThat(atEu.next()).isEqualTo("up " + newer);
    eu.send(newer, "shop", 0, new Frame.Ack(1, 2));
    assertThat(atNewUs.next()).isEqualTo("shop/0 2");
  }

  @Test
  void frameThatCannotBeEncoded_isDroppedAndCounted_andOthersGoOn() throws Exception {
    PeerTransport eu = eu();
    eu.dial();
    us();
    assertThat(atEu.next()).isEqualTo("up " + US);
    eu.send(US, "shop", 0, new Frame.Ack(-1, 1)); // no frame may have this number
    eu.send(US, "shop", 0, new Frame.Ack(1, 2));
    assertThat(atUs.next()).isEqualTo("shop/0 2");
    assertThat(eu.notEncoded()).isOne();
  }

  /**
   * The frame may have waited for the sender's disk, and the next incarnation counts its frames
   * alike.
   */
  @Test
  void frameForTheFormerIncarnation_isNotSentToTheNext() throws Exception {
    PeerTransport eu = eu();
    eu.dial();
    us();
    assertThat(atEu.next()).isEqualTo("up " + US);
    ReplicaId former = new ReplicaId("us", 199);
    eu.send(former, "shop", 0, new Frame.Ack(1, 1));
    eu.send(former, "shop", 0, FrameCodec.encode(EU, new Frame.Ack(1, 2)));
    eu.send(US, "shop", 0, new Frame.Ack(1, 3));
    assertThat(atUs.next()).isEqualTo("shop/0 3");
  }

  /** Their numbers differ, too: each end counts the keyspaces in the dialler's order. */
  @Test
  void keyspacesThatDiffer_areNotReplicated_andTheOthersAre() throws Exception {
    PeerTransport eu =
        transport(
            EU,
            euPort,
            "us",
            usPort,
            List.of("a{partitions=2}", "c{partitions=1}", "differs{x=[1, 2], partitions=2}"),
            atEu);
    PeerTransport us =
        transport(
            US,
            usPort,
            "eu",
            euPort,
            List.of("b{partitions=1}", "c{partitions=1}", "differs{x=[1, 3], partitions=4}"),
            atUs);
    eu.dial();
    us.dial();
    assertThat(atEu.next()).isEqualTo("up " + US + " [c]");
    assertThat(atUs.next()).isEqualTo("up " + EU + " [c]");
    assertThat(atEu.differing.get("us"))
        .isEqualTo(
            Map.of(
                "a", "not configured at us for eu",
                "b", "not configured at eu for us",
                "differs", "partitions is 2 at eu and 4 at us, x is [1, 2] at eu and [1, 3] at us"))
        .hasSameSizeAs(atUs.differing.get("eu"));
    eu.send(US, "differs", 3, new Frame.Ack(1, 1)); // ignored
    eu.send(US, "c", 0, new Frame.Ack(1, 2));
    us.send(EU, "c", 0, new Frame.Ack(1, 3));
    assertThat(atUs.next()).isEqualTo("c/0 2");
    assertThat(atEu.next()).isEqualTo("c/0 3");
  }
}
