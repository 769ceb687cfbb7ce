package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.netty.buffer.ByteBufUtil;
import io.osier.core.codec.WireInput;
import io.osier.core.net.Ports;
import io.osier.propagation.net.link.LinkBuffer;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerVersions;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A transport that dials a test, which plays the other datacenter byte by byte over a real socket.
 */
final class DialledPeerTest extends TransportFixture {
  private static final PeerMessage WELCOME =
      new PeerMessage.Welcome(US, Optional.empty(), 5, List.of());

  private final HeardFrames heard = new HeardFrames();
  private final ServerSocket us = open.add(new ServerSocket(0));

  DialledPeerTest() throws IOException {}

  /** A transport that dials the test. */
  private PeerTransport eu() {
    return transport(EU, 0, "us", us.getLocalPort(), heard);
  }

  /**
   * A proxy takes connections and closes them, and some come through: that says nothing about a
   * version.
   */
  @Test
  void connectionsThatAreClosedWithoutAWord_lowerNoVersion() throws Exception {
    PeerTransport eu = eu();
    eu.dial();
    for (int i = 0; i < 3; i++) {
      us.accept().close();
      try (Socket half = us.accept()) {
        assertThat(greeted(half).protocolVersion()).isEqualTo(PeerVersions.NEWEST);
      }
      us.accept().close();
      try (Socket socket = us.accept()) {
        assertThat(greeted(socket).protocolVersion()).isEqualTo(PeerVersions.NEWEST);
        answer(socket, WELCOME);
        assertThat(heard.next()).isEqualTo("up " + US);
        assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
      }
      assertThat(heard.next()).isEqualTo("down us");
    }
  }

  /**
   * So it is with a process that is started again while a connection of its former life counts as
   * alive.
   */
  @Test
  void keyspacesThatComeWhileAnotherProcessIsAsked_countMoreThanTheWelcome() throws Exception {
    PeerTransport eu = eu();
    try (Socket former = new Socket("127.0.0.1", eu.port())) {
      answer(
          former,
          new PeerMessage.Hello(PeerVersions.NEWEST, "test", US, "eu", POLICIES, 1, 5, List.of()));
      assertThat(next(former)).isInstanceOf(PeerMessage.Welcome.class);
      eu.dial();
      Socket now = open.add(us.accept());
      greeted(now);
      answer(now, new PeerMessage.Welcome(US, Optional.of(List.of()), 6, List.of(5L)));
      answer(now, new PeerMessage.Keyspaces(POLICIES));
      assertThat(next(former)).isInstanceOf(PeerMessage.Probe.class);
    }
    String last;
    do { // it may have been accepted before it sent them
      last = heard.next();
    } while (last.equals("up " + US + " []"));
    assertThat(last).isEqualTo("up " + US);
  }

  private static PeerMessage.Hello greeted(Socket socket) throws IOException {
    return (PeerMessage.Hello) next(socket);
  }

  /** Returns the next message that is not a ping. */
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

  /** Otherwise updates would wait behind them. */
  @Test
  void messages_toAPeerThatTakesNothing_haveABound_andAreTakenAgainWhenItReads() throws Exception {
    PeerTransport eu = eu();
    eu.dial();
    try (Socket deaf = us.accept()) {
      answer(deaf, WELCOME);
      assertThat(heard.next()).isEqualTo("up " + US);
      await().until(() -> eu.connected() == 1);
      byte[] message = new byte[50_000];
      int sent = 0;
      while (sent < 10_000 && eu.message("us", message)) { // the system buffers some
        sent++;
        assertThat(eu.buffered().get("us"))
            .isLessThanOrEqualTo(Dialler.MESSAGES_BYTES_MAX + message.length + 300);
      }
      assertThat(sent).isBetween(20, 9_999);
      Thread.ofVirtual().start(() -> readAll(deaf));
      await().until(() -> eu.message("us", message));
    }
  }

  private static void readAll(Socket from) {
    try {
      from.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // it is closed
    }
  }

  /**
   * The bytes that wait for a connection over which nothing leaves have a bound; then it is closed.
   */
  @Test
  void peerThatTakesNothing_losesItsConnection_andIsDialledAgain() throws Exception {
    PeerTransport eu = eu();
    eu.dial();
    try (Socket deaf = us.accept()) {
      answer(deaf, WELCOME);
      assertThat(heard.next()).isEqualTo("up " + US);
      byte[] frame = new byte[15 << 20];
      for (int i = 0; i < 40 && heard.events.isEmpty(); i++) {
        eu.send(US, "shop", 0, frame);
        assertThat(eu.buffered().get("us")).isLessThanOrEqualTo(LinkBuffer.BYTES_MAX + (15 << 20));
      }
      assertThat(heard.next()).isEqualTo("down us");
      await().until(() -> eu.buffered().getOrDefault("us", -1L) == 0);
      try (Socket again = us.accept()) {
        answer(again, WELCOME);
        assertThat(heard.next()).isEqualTo("up " + US);
      }
    }
  }

  @Test
  void peerThatGivesNoPong_isDisconnected() throws Exception {
    eu().dial();
    try (Socket socket = us.accept()) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      in.readFully(new byte[in.readInt()]);
      out.write(ByteBufUtil.getBytes(PeerMessage.frame(WELCOME)));
      assertThat(heard.next()).isEqualTo("up " + US);
      assertThat(heard.next()).isEqualTo("down us");
      long pings = LongStream.iterate(0, i -> i + 1).takeWhile(i -> hasPing(in)).count();
      assertThat(pings).isPositive();
    }
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

  @Test
  void wayThatResetsEachAttempt_isSaidOnce() throws Exception {
    List<ILoggingEvent> logged = logged(DialledConnection.class.getName());
    eu().dial();
    for (int i = 0; i < 5; i++) {
      try (Socket attempt = us.accept()) {
        greeted(attempt);
        attempt.setSoLinger(true, 0); // it is closed with a reset
      }
    }
    assertThat(logged).extracting(ILoggingEvent::getFormattedMessage).hasSize(1);
    assertThat(logged.getFirst().getFormattedMessage()).startsWith("connection to us closed");
  }

  @Test
  void closingWhileDialling_isNoError() throws Exception {
    List<ILoggingEvent> logged = logged(Logger.ROOT_LOGGER_NAME);
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
      assertThat(uncaught).isEmpty();
      assertThat(logged).noneMatch(e -> e.getLevel().isGreaterOrEqual(Level.WARN));
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }
}
