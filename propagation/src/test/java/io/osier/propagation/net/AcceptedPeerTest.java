package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.netty.buffer.ByteBufUtil;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Frames;
import io.osier.testing.Patience;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A transport that a test dials, which plays the other datacenter byte by byte over a real socket.
 */
final class AcceptedPeerTest extends TransportFixture {
  private static final PeerMessage WELCOME =
      new PeerMessage.Welcome(EU, Optional.empty(), START, List.of());

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

    /** Whether the other end closed the connection, and sent only signs of life. */
    boolean isClosed() throws IOException {
      try {
        while (true) {
          PeerMessage message = hear();
          if (!(message instanceof PeerMessage.Ping || message instanceof PeerMessage.Pong)) {
            return false;
          }
        }
      } catch (EOFException | java.net.SocketException e) {
        return true;
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private static PeerMessage data(int partition, ReplicaId from, Frame frame) {
    return new PeerMessage.Data(0, partition, FrameCodec.encode(from, frame));
  }

  private static CrdtState large(int mebibytes) {
    Operation add = new Operation.Add(Value.of(new byte[mebibytes << 20]));
    return CrdtState.bottom(CrdtType.AW_SET).prepare(add, US, 1, 0, 1_000, 0);
  }

  private static PeerMessage.Hello hello(ReplicaId from) {
    return hello(from, 0);
  }

  private static PeerMessage.Hello hello(ReplicaId from, long dial) {
    int version = PeerVersions.NEWEST;
    return new PeerMessage.Hello(version, "test", from, "eu", POLICIES, dial, 5, List.of());
  }

  private int eu(HeardFrames heard) throws IOException {
    return transport(EU, 0, "us", Ports.free(), heard).port();
  }

  @ParameterizedTest
  @CsvSource({
    "21, test, us, eu, shop{partitions=2}, VERSION_MISMATCH, 21 is not one of 9 to 20",
    "8, test, us, eu, shop{partitions=2}, VERSION_MISMATCH, 8 is not one of 9 to 20",
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
        new PeerMessage.Hello(
            version, cluster, new ReplicaId(from, 5), to, List.of(policy), 1, 5, List.of()));
    PeerMessage.Refused refused = (PeerMessage.Refused) raw.hear();
    assertThat(refused.code()).isEqualTo(code);
    assertThat(refused.message()).contains(why);
    assertThat(raw.isClosed()).isTrue();
  }

  @Test
  void secondProcessOfOneName_isRefusedWhileTheFirstIsThere() throws IOException {
    int port = eu(new HeardFrames());
    Raw first = new Raw(port);
    assertThat(first.say(hello(US)).hear()).isEqualTo(WELCOME);
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

  /** Such a dial was given up long ago, and hung in the network: it replaced the newer one. */
  @Test
  void dialThatComesAfterALaterOne_isClosed_andTheLaterOneGoesOn() throws Exception {
    HeardFrames heard = new HeardFrames();
    int port = eu(heard);
    Raw later = new Raw(port);
    later.say(hello(US, 7)).hear();
    Raw hung = new Raw(port);
    assertThat(hung.say(hello(US, 6)).isClosed()).isTrue();
    later.say(data(1, US, new Frame.Ack(1, 4)));
    assertThat(heard.next()).isEqualTo("shop/1 4");
    Raw newest = new Raw(port);
    assertThat(newest.say(hello(US, 8)).hear()).isEqualTo(WELCOME);
    assertThat(later.isClosed()).isTrue();
  }

  @Test
  void sameProcessAgain_replacesItsOldConnection() throws Exception {
    HeardFrames heard = new HeardFrames();
    int port = eu(heard);
    Raw old = new Raw(port);
    old.say(hello(US)).hear();
    Raw renewed = new Raw(port);
    assertThat(renewed.say(hello(US)).hear()).isEqualTo(WELCOME);
    assertThat(old.isClosed()).isTrue();
    renewed.say(data(1, US, new Frame.Ack(1, 4)));
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
    raw.sayBytes(HexFormat.of().parseHex(hex));
    assertThat(raw.isClosed()).isTrue();
  }

  /**
   * Bytes that arrive with the end of a large frame are taken after that was decoded, by another
   * task.
   */
  @Test
  void bytesThatAreNoMessage_behindALargeFrame_closeTheConnection() throws Exception {
    HeardFrames heard = new HeardFrames();
    Raw raw = new Raw(eu(heard));
    raw.say(hello(US)).hear();
    CrdtState large = large(2);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(
        ByteBufUtil.getBytes(PeerMessage.frame(data(0, US, Frames.states(US, large)))));
    bytes.writeBytes(new byte[16]);
    raw.out.write(bytes.toByteArray());
    assertThat(heard.next()).startsWith("shop/0 states of ");
    assertThat(raw.isClosed()).isTrue();
  }

  @Test
  void lengthOverTheLimit_closesTheConnection_beforeAnythingIsRead() throws IOException {
    List<ILoggingEvent> logged = logged("io.osier.propagation.net");
    int port = eu(new HeardFrames());
    Raw unknown = new Raw(port);
    unknown.out.writeInt(Greeting.BYTES_MAX + 1);
    assertThat(unknown.isClosed()).isTrue();
    Raw greeted = new Raw(port);
    greeted.say(hello(US)).hear();
    greeted.out.writeInt(PeerTransport.FRAME_BYTES_MAX + 1);
    assertThat(greeted.isClosed()).isTrue();
    assertThat(logged)
        .as("a silent connection would be closed later, too")
        .hasSize(2)
        .allMatch(e -> e.getFormattedMessage().contains("is over the limit"));
  }

  /** How long that keeps a connection is tested in HeartbeatTest, whose time is stepped. */
  @Test
  void frameThatComesSlowly_isASignOfLife_andIsAnsweredWithPongs() throws Exception {
    HeardFrames heard = new HeardFrames();
    Raw raw = new Raw(eu(heard));
    raw.say(hello(US)).hear();
    byte[] frame = ByteBufUtil.getBytes(PeerMessage.frame(data(1, US, new Frame.Ack(1, 1L << 60))));
    int sent = 0;
    while (sent < 2) { // one byte for each pong
      raw.out.write(frame[sent++]);
      assertThat(raw.hear()).isEqualTo(new PeerMessage.Pong());
    }
    raw.out.write(frame, sent, frame.length - sent);
    assertThat(heard.next()).isEqualTo("shop/1 " + (1L << 60));
  }

  @Test
  void zeros_areOneError_andNothingIsDecodedAfterIt() throws Exception {
    List<ILoggingEvent> logged = logged("io.osier.propagation.net");
    Raw raw = new Raw(eu(new HeardFrames()));
    raw.out.write(new byte[4 << 10]);
    assertThat(raw.isClosed()).isTrue();
    Raw greeted = new Raw(eu(new HeardFrames()));
    greeted.say(hello(US)).hear();
    greeted.out.write(new byte[4 << 10]);
    assertThat(greeted.isClosed()).isTrue();
    assertThat(logged).hasSize(2).allMatch(e -> e.getFormattedMessage().contains("closed"));
  }

  /** When the thread that serves all connections decoded it, the other peer's frames waited. */
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
        transport(
            new ProcessIdentity(EU, "test", START, List.of()),
            0,
            Map.of("us", at(Ports.free()), "ap", at(Ports.free())),
            POLICIES,
            atEu);
    Raw us = new Raw(eu.port());
    Raw ap = new Raw(eu.port());
    ReplicaId apId = new ReplicaId("ap", 300);
    us.say(hello(US)).hear();
    ap.say(hello(apId)).hear();
    CrdtState large = large(4);
    us.say(data(0, US, Frames.states(US, large)));
    us.say(data(0, US, new Frame.Ack(1, 8)));
    ap.say(data(0, apId, new Frame.Ack(1, 7)));
    assertThat(atEu.next()).isEqualTo("shop/0 7");
    taken.countDown();
    assertThat(atEu.next()).startsWith("shop/0 states of ");
    assertThat(atEu.next()).as("what came behind it").isEqualTo("shop/0 8");
  }
}
