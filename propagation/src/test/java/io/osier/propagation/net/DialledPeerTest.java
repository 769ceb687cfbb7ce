package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
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
import org.slf4j.LoggerFactory;

/** A transport that dials a test, which speaks the bytes over a real socket. */
final class DialledPeerTest extends TransportFixture {
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
          answer(socket, new PeerMessage.Welcome(US, Optional.empty(), 5, List.of()));
          assertThat(heard.next()).isEqualTo("up " + US);
          assertThat(eu.spoken()).containsExactly(Map.entry("us", PeerVersions.NEWEST));
        }
        assertThat(heard.next()).isEqualTo("down us");
      }
    }
  }

  /** As one that starts anew while a connection of its former life counts as alive. */
  @Test
  void keyspacesThatComeWhileAnotherProcessIsAsked_countMoreThanTheWelcome() throws Exception {
    try (ServerSocket us = new ServerSocket(0)) {
      HeardFrames heard = new HeardFrames();
      PeerTransport eu = transport(EU, 0, "us", us.getLocalPort(), heard);
      try (Socket former = new Socket("127.0.0.1", eu.port())) {
        answer(
            former,
            new PeerMessage.Hello(
                PeerVersions.NEWEST, "test", US, "eu", POLICIES, 1, 5, List.of()));
        assertThat(next(former)).isInstanceOf(PeerMessage.Welcome.class);
        eu.dial();
        Socket now = open.add(us.accept());
        greeted(now);
        answer(now, new PeerMessage.Welcome(US, Optional.of(List.of()), 6, List.of(5L)));
        answer(now, new PeerMessage.Keyspaces(POLICIES));
        assertThat(next(former)).isInstanceOf(PeerMessage.Probe.class);
      }
      String last;
      do { // it may have been let in before it told of them
        last = heard.next();
      } while (last.equals("up " + US + " []"));
      assertThat(last).isEqualTo("up " + US);
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
      PeerMessage welcome = new PeerMessage.Welcome(US, Optional.empty(), 5, List.of());
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
      PeerMessage welcome = new PeerMessage.Welcome(US, Optional.empty(), 5, List.of());
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
                PeerMessage.frame(new PeerMessage.Welcome(US, Optional.empty(), 5, List.of()))));
        assertThat(heard.next()).isEqualTo("up " + US);
        assertThat(heard.next()).isEqualTo("down us");
        long pings = LongStream.iterate(0, i -> i + 1).takeWhile(i -> hasPing(in)).count();
        assertThat(pings).isPositive();
      }
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
    try (ServerSocket proxy = new ServerSocket(0)) {
      transport(EU, 0, "us", proxy.getLocalPort(), new HeardFrames()).dial();
      for (int i = 0; i < 5; i++) {
        try (Socket attempt = proxy.accept()) {
          greeted(attempt);
          attempt.setSoLinger(true, 0); // its end is a reset
        }
      }
      assertThat(logged).extracting(ILoggingEvent::getFormattedMessage).hasSize(1);
      assertThat(logged.getFirst().getFormattedMessage()).startsWith("connection to us closed");
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
}
