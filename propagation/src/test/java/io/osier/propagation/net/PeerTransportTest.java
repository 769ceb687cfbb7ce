package io.osier.propagation.net;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.ByteBufUtil;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.core.net.Framing;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.net.link.Heartbeat;
import io.osier.propagation.net.link.LinkBuffer;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.net.link.PortLimits;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** Real sockets on loopback; where a test plays a datacenter itself, it speaks the bytes. */
final class PeerTransportTest {
  private static final ReplicaId EU = new ReplicaId("eu", 100);
  private static final ReplicaId US = new ReplicaId("us", 200);
  private static final long START = 77;
  private static final List<String> POLICIES = List.of("shop{partitions=2}");

  @AutoClose private final Opened open = new Opened();

  private static InetSocketAddress at(int port) {
    return new InetSocketAddress("127.0.0.1", port);
  }

  private PeerTransport transport(
      ReplicaId self, int port, String peer, int peerPort, HeardFrames heard) {
    return transport(self, port, peer, peerPort, POLICIES, heard);
  }

  private PeerTransport transport(
      ReplicaId self,
      int port,
      String peer,
      int peerPort,
      List<String> policies,
      HeardFrames heard) {
    return open.add(
        new PeerTransport(
            new PeerBearer(self, "test", START),
            at(port),
            Map.of(peer, at(peerPort)),
            dc -> policies,
            PortLimits.DEFAULT,
            heard,
            Optional.empty()));
  }

  // ---------------------------------------------------------------- two transports

  @Test
  void frames_comeInTheOrderSent_eachWayOnItsOwnConnection() throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atEu = new HeardFrames();
    HeardFrames atUs = new HeardFrames();
    PeerTransport eu = transport(EU, euPort, "us", usPort, atEu);
    eu.dial(); // before the other one listens: it must try again
    PeerTransport us = transport(US, usPort, "eu", euPort, atUs);
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
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atUs = new HeardFrames();
    PeerTransport eu = transport(EU, euPort, "us", usPort, new HeardFrames());
    eu.note("us", new byte[7]); // nobody is there: dropped
    transport(US, usPort, "eu", euPort, atUs).dial();
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

  /** Asks for so many bytes, in so many. */
  private static byte[] asking(int answer, int length) {
    return ByteBuffer.allocate(length).putInt(answer).array();
  }

  @Test
  void requests_areAnsweredOverTheirConnection_largeOnesToo() throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atEu = new HeardFrames();
    HeardFrames atUs = new HeardFrames();
    PeerTransport eu = transport(EU, euPort, "us", usPort, atEu);
    assertThat(eu.ask("us", asking(7, 4))).as("nobody is there").isFalse();
    transport(US, usPort, "eu", euPort, atUs); // it does not dial
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
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atEu = new HeardFrames();
    PeerTransport eu = transport(EU, euPort, "us", usPort, atEu);
    open.add(
        new PeerTransport(
            new PeerBearer(US, "test", START, PeerVersions.FORWARDS - 1),
            at(usPort),
            Map.of("eu", at(euPort)),
            dc -> POLICIES,
            PortLimits.DEFAULT,
            new HeardFrames(),
            Optional.empty()));
    eu.dial();
    assertThat(atEu.next()).startsWith("up");
    assertThat(eu.mayAsk("us")).isFalse();
    assertThat(eu.ask("us", asking(7, 4))).isFalse();
  }

  /** Beyond 65 MiB the encoder threw, in whose thread ever; 80 MiB closed the connection. */
  @Test
  void stateOverTheObjectLimit_grownByJoining_arrives() throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atUs = new HeardFrames();
    PeerTransport eu = transport(EU, euPort, "us", usPort, new HeardFrames());
    transport(US, usPort, "eu", euPort, atUs).dial();
    eu.dial();
    assertThat(atUs.next()).startsWith("up");
    await().until(() -> eu.connected() == 1);
    CrdtState state = CrdtState.bottom(CrdtType.AW_SET);
    for (int i = 0; i < 6; i++) {
      byte[] bytes = new byte[16 << 20];
      bytes[0] = (byte) i;
      state = state.join(state.prepare(new Operation.Add(Value.of(bytes)), EU, i + 1, i, 1_000, 0));
    }
    eu.send(US, "shop", 0, states(1, state));
    eu.send(US, "shop", 0, new Frame.Ack(1, 7));
    assertThat(atUs.next()).isEqualTo("shop/0 states of " + state.sizeBytes() + " bytes");
    assertThat(atUs.next()).isEqualTo("shop/0 7");
  }

  @Test
  void frameThatCannotBeEncoded_isDropped_andHarmsNoOther() throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atUs = new HeardFrames();
    PeerTransport eu = transport(EU, euPort, "us", usPort, new HeardFrames());
    transport(US, usPort, "eu", euPort, atUs).dial();
    eu.dial();
    assertThat(atUs.next()).startsWith("up");
    await().until(() -> eu.connected() == 1);
    eu.send(US, "shop", 0, states(-1, CrdtState.bottom(CrdtType.AW_SET))); // no such number
    eu.send(US, "shop", 0, new Frame.Ack(1, 7));
    assertThat(atUs.next()).isEqualTo("shop/0 7");
  }

  private static Frame.States states(long request, CrdtState state) {
    return new Frame.States(
        request,
        Optional.empty(),
        Optional.empty(),
        0,
        new Frame.Place(0, 0),
        VersionVector.EMPTY,
        List.of(
            new Shipment(
                new ObjectId(Key.of("k"), CrdtType.AW_SET),
                EU,
                0,
                VersionVector.EMPTY,
                6,
                0,
                0,
                state)));
  }

  /** Decoded by the thread that serves all connections, it stopped the other peer's frames. */
  @Test
  void largeFrameOfOnePeer_thatTakesLong_doesNotDelayAnother() throws Exception {
    CountDownLatch taken = new CountDownLatch(1);
    HeardFrames atEu =
        new HeardFrames() {
          @Override
          public void received(ReplicaId peer, String keyspace, int partition, Frame frame) {
            if (frame instanceof Frame.States) {
              await().until(() -> taken.getCount() == 0);
            }
            super.received(peer, keyspace, partition, frame);
          }
        };
    PeerTransport eu =
        open.add(
            new PeerTransport(
                new PeerBearer(EU, "test", START),
                at(0),
                Map.of("us", at(Ports.free()), "ap", at(Ports.free())),
                dc -> POLICIES,
                PortLimits.DEFAULT,
                atEu,
                Optional.empty()));
    Raw us = new Raw(eu.port());
    Raw ap = new Raw(eu.port());
    ReplicaId apId = new ReplicaId("ap", 300);
    us.say(hello(US)).hear();
    ap.say(hello(apId)).hear();
    CrdtState large =
        CrdtState.bottom(CrdtType.AW_SET)
            .prepare(new Operation.Add(Value.of(new byte[4 << 20])), US, 1, 0, 1_000, 0);
    us.say(new PeerMessage.Data(0, 0, FrameCodec.encode(US, states(1, large))));
    us.say(new PeerMessage.Data(0, 0, FrameCodec.encode(US, new Frame.Ack(1, 8))));
    ap.say(new PeerMessage.Data(0, 0, FrameCodec.encode(apId, new Frame.Ack(1, 7))));
    assertThat(atEu.next()).isEqualTo("shop/0 7");
    taken.countDown();
    assertThat(atEu.next()).startsWith("shop/0 states of ");
    assertThat(atEu.next()).as("what came behind it").isEqualTo("shop/0 8");
  }

  @Test
  void lostConnection_isReported_andDialledAgain() throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atEu = new HeardFrames();
    PeerTransport eu = transport(EU, euPort, "us", usPort, atEu);
    eu.dial();
    PeerTransport us = transport(US, usPort, "eu", euPort, new HeardFrames());
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
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atEu = new HeardFrames();
    HeardFrames atUs = new HeardFrames();
    PeerTransport eu = transport(EU, euPort, "us", usPort, atEu);
    eu.dial();
    transport(US, usPort, "eu", euPort, atUs);
    assertThat(atEu.next()).isEqualTo("up " + US);
    eu.send(US, "shop", 0, new Frame.Ack(-1, 1)); // there is no such number
    eu.send(US, "shop", 0, new Frame.Ack(1, 2));
    assertThat(atUs.next()).isEqualTo("shop/0 2");
    assertThat(eu.notEncoded()).isOne();
  }

  /** It may have waited for the sender's disk, and what it counts the next one counts, too. */
  @Test
  void frameForTheFormerIncarnation_isNotSentToTheNext() throws Exception {
    int usPort = Ports.free();
    HeardFrames atEu = new HeardFrames();
    HeardFrames atUs = new HeardFrames();
    PeerTransport eu = transport(EU, 0, "us", usPort, atEu);
    eu.dial();
    transport(US, usPort, "eu", eu.port(), atUs);
    assertThat(atEu.next()).isEqualTo("up " + US);
    ReplicaId former = new ReplicaId("us", 199);
    eu.send(former, "shop", 0, new Frame.Ack(1, 1));
    eu.send(former, "shop", 0, FrameCodec.encode(EU, new Frame.Ack(1, 2)));
    eu.send(US, "shop", 0, new Frame.Ack(1, 3));
    assertThat(atUs.next()).isEqualTo("shop/0 3");
  }

  /** Their numbers differ, too: each counts the keyspaces as the dialler lists them. */
  @Test
  void keyspacesThatDiffer_areNotReplicated_andTheOthersAre() throws Exception {
    int euPort = Ports.free();
    int usPort = Ports.free();
    HeardFrames atEu = new HeardFrames();
    HeardFrames atUs = new HeardFrames();
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
    eu.send(US, "differs", 3, new Frame.Ack(1, 1)); // taken for nothing
    eu.send(US, "c", 0, new Frame.Ack(1, 2));
    us.send(EU, "c", 0, new Frame.Ack(1, 3));
    assertThat(atUs.next()).isEqualTo("c/0 2");
    assertThat(atEu.next()).isEqualTo("c/0 3");
  }

  // ---------------------------------------------------------------- one plays itself

  /** A datacenter that a test plays byte by byte. */
  private final class Raw implements AutoCloseable {
    private final Socket socket;
    private final DataOutputStream out;
    private final DataInputStream in;

    Raw(int port) throws IOException {
      socket = new Socket("127.0.0.1", port);
      socket.setSoTimeout(Patience.MILLIS);
      out = new DataOutputStream(socket.getOutputStream());
      in = new DataInputStream(socket.getInputStream());
      open.add(this);
    }

    Raw say(PeerMessage message) throws IOException {
      out.write(ByteBufUtil.getBytes(PeerMessage.frame(message)));
      return this;
    }

    Raw sayBytes(byte[] bytes) throws IOException {
      out.writeInt(bytes.length);
      out.write(bytes);
      return this;
    }

    PeerMessage hear() throws IOException {
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      return PeerMessage.decode(new WireInput(bytes));
    }

    /** Whether the other end closed the connection. */
    boolean isClosed() throws IOException {
      try {
        return in.read() < 0;
      } catch (EOFException | java.net.SocketException e) {
        return true;
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private static PeerMessage.Hello hello(ReplicaId from) {
    return hello(from, 0);
  }

  private static PeerMessage.Hello hello(ReplicaId from, long dial) {
    int version = PeerVersions.NEWEST;
    return new PeerMessage.Hello(version, "test", from, "eu", POLICIES, dial, 5);
  }

  private int eu(HeardFrames heard) throws IOException {
    return transport(EU, 0, "us", Ports.free(), heard).port();
  }

  @ParameterizedTest
  @CsvSource({
    "17, test, us, eu, shop{partitions=2}, VERSION_MISMATCH, 17 is not one of 9 to 16",
    "8, test, us, eu, shop{partitions=2}, VERSION_MISMATCH, 8 is not one of 9 to 16",
    "9, other, us, eu, shop{partitions=2}, CONFIGURATION,    'other' is not 'test'",
    "9, test,  us, ap, shop{partitions=2}, CONFIGURATION,    'this is eu, not ap'",
    "9, test,  mm, eu, shop{partitions=2}, CONFIGURATION,    'mm' is not among the peers [us]",
    "9, test,  eu, eu, shop{partitions=2}, DUPLICATE_DC,     already runs as 'eu'",
  })
  void greetingThatDoesNotFit_isRefusedWithTheReason_andClosed(
      int version,
      String cluster,
      String from,
      String to,
      String policy,
      ErrorCode code,
      String why)
      throws IOException {
    Raw raw = new Raw(eu(new HeardFrames()));
    raw.say(
        new PeerMessage.Hello(version, cluster, new ReplicaId(from, 5), to, List.of(policy), 1, 5));
    PeerMessage.Refused refused = (PeerMessage.Refused) raw.hear();
    assertThat(refused.code()).isEqualTo(code);
    assertThat(refused.message()).contains(why);
    assertThat(raw.isClosed()).isTrue();
  }

  @Test
  void secondProcessOfOneName_isRefusedWhileTheFirstIsThere() throws IOException {
    int port = eu(new HeardFrames());
    Raw first = new Raw(port);
    assertThat(first.say(hello(US)).hear())
        .isEqualTo(new PeerMessage.Welcome(EU, Optional.empty(), START));
    Raw second = new Raw(port);
    PeerMessage.Refused refused =
        (PeerMessage.Refused) second.say(hello(new ReplicaId("us", 900))).hear();
    assertThat(refused.code()).isEqualTo(ErrorCode.DUPLICATE_DC);
    assertThat(refused.newest()).isEqualTo(200);
    assertThat(first.say(new PeerMessage.Ping()).hear()).isEqualTo(new PeerMessage.Pong());
  }

  @Test
  void olderIncarnation_isRefusedForEver_andToldTheNewest() throws IOException {
    int port = eu(new HeardFrames());
    try (Raw first = new Raw(port)) {
      first.say(hello(US)).hear();
    }
    PeerMessage.Refused refused =
        (PeerMessage.Refused) new Raw(port).say(hello(new ReplicaId("us", 199))).hear();
    assertThat(refused.code()).isEqualTo(ErrorCode.DUPLICATE_DC);
    assertThat(refused.newest()).isEqualTo(200);
    assertThat(refused.message()).contains("osier.incarnation-min");
  }

  /** It was given up long ago, and hung in a cut: it took the newer one's place. */
  @Test
  void dialThatComesAfterALaterOne_isClosed_andTheLaterOneGoesOn() throws Exception {
    HeardFrames heard = new HeardFrames();
    int port = eu(heard);
    Raw later = new Raw(port);
    later.say(hello(US, 7)).hear();
    Raw hung = new Raw(port);
    assertThat(hung.say(hello(US, 6)).isClosed()).isTrue();
    later.say(new PeerMessage.Data(0, 1, FrameCodec.encode(US, new Frame.Ack(1, 4))));
    assertThat(heard.next()).isEqualTo("shop/1 4");
    Raw newest = new Raw(port);
    assertThat(newest.say(hello(US, 8)).hear())
        .isEqualTo(new PeerMessage.Welcome(EU, Optional.empty(), START));
    assertThat(later.isClosed()).isTrue();
  }

  /** A proxy takes connections and closes them, and some come through: a link, and no version. */
  @Test
  void connectionsThatAreClosedWithoutAWord_lowerNoVersion() throws Exception {
    try (ServerSocket us = new ServerSocket(0)) {
      HeardFrames heard = new HeardFrames();
      PeerTransport eu = transport(EU, 0, "us", us.getLocalPort(), heard);
      eu.dial();
      for (int i = 0; i < 3; i++) {
        us.accept().close();
        try (Socket half = us.accept()) {
          assertThat(greeted(half).protocolVersion()).isEqualTo(PeerVersions.NEWEST);
        }
        us.accept().close();
        try (Socket socket = us.accept()) {
          assertThat(greeted(socket).protocolVersion()).isEqualTo(PeerVersions.NEWEST);
          answer(socket, new PeerMessage.Welcome(US, Optional.empty(), 5));
          assertThat(heard.next()).isEqualTo("up " + US);
          assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
        }
        assertThat(heard.next()).isEqualTo("down us");
      }
    }
  }

  private static PeerMessage.Hello greeted(Socket socket) throws IOException {
    return (PeerMessage.Hello) next(socket);
  }

  /** What comes that is no ping. */
  private static PeerMessage next(Socket socket) throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    while (true) {
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      PeerMessage message = PeerMessage.decode(new WireInput(bytes));
      if (!(message instanceof PeerMessage.Ping)) {
        return message;
      }
      answer(socket, new PeerMessage.Pong());
    }
  }

  private static void answer(Socket socket, PeerMessage message) throws IOException {
    socket.getOutputStream().write(ByteBufUtil.getBytes(PeerMessage.frame(message)));
  }

  /** Updates would wait behind them. */
  @Test
  void messages_toAPeerThatTakesNothing_haveABound_andAreTakenAgainWhenItReads() throws Exception {
    try (ServerSocket us = new ServerSocket(0)) {
      HeardFrames heard = new HeardFrames();
      PeerTransport eu = transport(EU, 0, "us", us.getLocalPort(), heard);
      eu.dial();
      PeerMessage welcome = new PeerMessage.Welcome(US, Optional.empty(), 5);
      try (Socket deaf = us.accept()) {
        deaf.getOutputStream().write(ByteBufUtil.getBytes(PeerMessage.frame(welcome)));
        assertThat(heard.next()).isEqualTo("up " + US);
        await().until(() -> eu.connected() == 1);
        byte[] message = new byte[50_000];
        int sent = 0;
        while (sent < 10_000 && eu.message("us", message)) { // the system takes some
          sent++;
          assertThat(eu.buffered().get("us"))
              .isLessThanOrEqualTo(Dialler.MESSAGES_BYTES_MAX + message.length + 300);
        }
        assertThat(sent).isBetween(20, 9_999);
        Thread.ofVirtual().start(() -> readAll(deaf));
        await().until(() -> eu.message("us", message));
      }
    }
  }

  private static void readAll(Socket from) {
    try {
      from.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // it is closed
    }
  }

  /** What is given to a connection over which nothing leaves has a bound; then it is closed. */
  @Test
  void peerThatTakesNothing_losesItsConnection_andIsDialledAgain() throws Exception {
    try (ServerSocket us = new ServerSocket(0)) {
      HeardFrames heard = new HeardFrames();
      PeerTransport eu = transport(EU, 0, "us", us.getLocalPort(), heard);
      eu.dial();
      PeerMessage welcome = new PeerMessage.Welcome(US, Optional.empty(), 5);
      byte[] welcomed = ByteBufUtil.getBytes(PeerMessage.frame(welcome));
      try (Socket deaf = us.accept()) {
        deaf.getOutputStream().write(welcomed);
        assertThat(heard.next()).isEqualTo("up " + US);
        byte[] frame = new byte[15 << 20];
        for (int i = 0; i < 40 && heard.events.isEmpty(); i++) {
          eu.send(US, "shop", 0, frame);
          assertThat(eu.buffered().get("us"))
              .isLessThanOrEqualTo(LinkBuffer.BYTES_MAX + (15 << 20));
        }
        assertThat(heard.next()).isEqualTo("down us");
        await().until(() -> eu.buffered().getOrDefault("us", -1L) == 0);
        try (Socket again = us.accept()) {
          again.getOutputStream().write(welcomed);
          assertThat(heard.next()).isEqualTo("up " + US);
        }
      }
    }
  }

  @Test
  void sameProcessAgain_replacesItsOldConnection() throws Exception {
    HeardFrames heard = new HeardFrames();
    int port = eu(heard);
    Raw old = new Raw(port);
    old.say(hello(US)).hear();
    Raw renewed = new Raw(port);
    assertThat(renewed.say(hello(US)).hear())
        .isEqualTo(new PeerMessage.Welcome(EU, Optional.empty(), START));
    assertThat(old.isClosed()).isTrue();
    renewed.say(new PeerMessage.Data(0, 1, FrameCodec.encode(US, new Frame.Ack(1, 4))));
    assertThat(heard.next()).isEqualTo("shop/1 4");
  }

  @ParameterizedTest
  @CsvSource({
    "'', 0106",
    "'', 99",
    "'', 01ff",
    "hello, 010600",
    "hello, 0106070001020203",
    "hello, 0102000275",
    "hello, 010400"
  })
  void bytesThatAreNoMessage_closeTheConnection(String before, String hex) throws IOException {
    Raw raw = new Raw(eu(new HeardFrames()));
    if (before.equals("hello")) {
      raw.say(hello(US)).hear();
    }
    raw.sayBytes(java.util.HexFormat.of().parseHex(hex));
    assertThat(raw.isClosed()).isTrue();
  }

  /** What comes with the end of a large frame is taken when that is decoded, by another task. */
  @Test
  void bytesThatAreNoMessage_behindALargeFrame_closeTheConnection() throws Exception {
    HeardFrames heard = new HeardFrames();
    Raw raw = new Raw(eu(heard));
    raw.say(hello(US)).hear();
    CrdtState large =
        CrdtState.bottom(CrdtType.AW_SET)
            .prepare(new Operation.Add(Value.of(new byte[2 << 20])), US, 1, 0, 1_000, 0);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(
        ByteBufUtil.getBytes(
            PeerMessage.frame(
                new PeerMessage.Data(0, 0, FrameCodec.encode(US, states(1, large))))));
    bytes.writeBytes(new byte[16]);
    raw.out.write(bytes.toByteArray());
    assertThat(heard.next()).startsWith("shop/0 states of ");
    assertThat(raw.isClosed()).isTrue();
  }

  @Test
  void lengthOverTheLimit_closesTheConnection_beforeAnythingIsRead() throws IOException {
    Raw raw = new Raw(eu(new HeardFrames()));
    raw.out.writeInt(PeerTransport.FRAME_BYTES_MAX + 1);
    assertThat(raw.isClosed()).isTrue();
  }

  @Test
  void peerThatGivesNoPong_isDisconnected() throws Exception {
    try (ServerSocket silent = new ServerSocket(0)) {
      HeardFrames heard = new HeardFrames();
      transport(EU, 0, "us", silent.getLocalPort(), heard).dial();
      try (Socket socket = silent.accept()) {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        in.readFully(new byte[in.readInt()]);
        out.write(
            ByteBufUtil.getBytes(
                PeerMessage.frame(new PeerMessage.Welcome(US, Optional.empty(), 5))));
        assertThat(heard.next()).isEqualTo("up " + US);
        assertThat(heard.next()).isEqualTo("down us");
        long pings = LongStream.iterate(0, i -> i + 1).takeWhile(i -> hasPing(in)).count();
        assertThat(pings).isPositive();
      }
    }
  }

  @Test
  void frameThatComesSlowly_isASignOfLife_andIsAnsweredWithPongs() throws Exception {
    HeardFrames heard = new HeardFrames();
    Raw raw = new Raw(eu(heard));
    raw.say(hello(US)).hear();
    byte[] frame =
        ByteBufUtil.getBytes(
            PeerMessage.frame(
                new PeerMessage.Data(0, 1, FrameCodec.encode(US, new Frame.Ack(1, 1L << 60)))));
    long pongs = Heartbeat.DEAD_MILLIS / Heartbeat.SIGN_MILLIS + 2;
    assertThat(frame).hasSizeGreaterThan((int) pongs);
    int sent = 0;
    while (sent < pongs) { // one byte a pong: longer than a silent connection lives
      raw.out.write(frame[sent++]);
      assertThat(raw.hear()).isEqualTo(new PeerMessage.Pong());
    }
    raw.out.write(frame, sent, frame.length - sent);
    assertThat(heard.next()).isEqualTo("shop/1 " + (1L << 60));
  }

  @Test
  void zeros_areOneError_andNothingIsDecodedAfterIt() throws Exception {
    Logger log = (Logger) LoggerFactory.getLogger("io.osier.propagation.net");
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      Raw raw = new Raw(eu(new HeardFrames()));
      raw.out.write(new byte[4 << 10]);
      assertThat(raw.isClosed()).isTrue();
      Raw greeted = new Raw(eu(new HeardFrames()));
      greeted.say(hello(US)).hear();
      greeted.out.write(new byte[4 << 10]);
      assertThat(greeted.isClosed()).isTrue();
      assertThat(lines.list).hasSize(2).allMatch(e -> e.getFormattedMessage().contains("closed"));
    } finally {
      log.detachAppender(lines);
    }
  }

  @Test
  void wayThatResetsEachAttempt_isSaidOnce() throws Exception {
    Logger log = (Logger) LoggerFactory.getLogger(DialledConnection.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try (ServerSocket proxy = new ServerSocket(0)) {
      transport(EU, 0, "us", proxy.getLocalPort(), new HeardFrames()).dial();
      for (int i = 0; i < 5; i++) {
        try (Socket attempt = proxy.accept()) {
          greeted(attempt);
          attempt.setSoLinger(true, 0); // its end is a reset
        }
      }
      assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage).hasSize(1);
      assertThat(lines.list.getFirst().getFormattedMessage()).startsWith("connection to us closed");
    } finally {
      log.detachAppender(lines);
    }
  }

  @Test
  void closingWhileDialling_isNoError() throws Exception {
    Logger log = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();
    Thread.setDefaultUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
    int nobody = Ports.free();
    try {
      for (int i = 0; i < 300; i++) {
        PeerTransport eu = transport(EU, 0, "us", nobody, new HeardFrames());
        eu.dial();
        eu.close();
      }
      log.detachAppender(lines); // a loop may still say that nobody was reached
      lines.stop();
      assertThat(uncaught).isEmpty();
      assertThat(lines.list).noneMatch(e -> e.getLevel().isGreaterOrEqual(Level.WARN));
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
      log.detachAppender(lines);
    }
  }

  @Test
  void greetingOfManyBytes_isRefusedByItsLength() throws Exception {
    Raw raw = new Raw(eu(new HeardFrames()));
    raw.out.writeInt(50 << 20);
    assertThat(raw.isClosed()).isTrue();
  }

  private static boolean hasPing(DataInputStream in) {
    try {
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      return PeerMessage.decode(new WireInput(bytes)) instanceof PeerMessage.Ping;
    } catch (IOException e) {
      return false;
    }
  }
}
