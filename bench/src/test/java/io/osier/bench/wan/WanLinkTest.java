package io.osier.bench.wan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.bench.wan.WanLink.Direction;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class WanLinkTest {
  private WanEmulator wan;
  private ServerSocket echo;

  @BeforeEach
  void start() throws IOException {
    wan = new WanEmulator(1);
    echo = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon(true).start(this::serve);
  }

  private void serve() {
    while (!echo.isClosed()) {
      try {
        Socket socket = echo.accept();
        Thread.ofPlatform()
            .daemon(true)
            .start(
                () -> {
                  try (socket) {
                    socket.getInputStream().transferTo(socket.getOutputStream());
                  } catch (IOException e) {
                    // The test ended the connection.
                  }
                });
      } catch (IOException e) {
        return;
      }
    }
  }

  @AfterEach
  void stop() throws IOException {
    echo.close();
    wan.close();
  }

  private WanLink link(WanQuality quality) {
    return wan.open(
        "test",
        0,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), echo.getLocalPort()),
        quality,
        quality);
  }

  @Test
  void bytes_comeInOrderAndAreCounted_notBeforeTheDelay() throws IOException {
    try (WanLink link = link(new WanQuality(30, 20, 0));
        Socket socket = new Socket("127.0.0.1", link.port())) {
      byte[] sent = new byte[300_000];
      new Random(1).nextBytes(sent);
      long start = System.nanoTime();
      Thread.ofPlatform()
          .start(
              () -> {
                try {
                  socket.getOutputStream().write(sent);
                } catch (IOException e) {
                  throw new java.io.UncheckedIOException(e);
                }
              });
      byte[] received = socket.getInputStream().readNBytes(sent.length);
      assertThat(System.nanoTime() - start).isGreaterThan(60_000_000L);
      assertThat(received).isEqualTo(sent);
      assertThat(link.bytes(Direction.FORTH)).isEqualTo(sent.length);
      assertThat(link.bytes(Direction.BACK)).isEqualTo(sent.length);
    }
  }

  @Test
  void cutDirection_holdsBytesUntilItIsHealed() throws IOException {
    try (WanLink link = link(new WanQuality(1, 0, 0));
        Socket socket = new Socket("127.0.0.1", link.port())) {
      InputStream in = socket.getInputStream();
      socket.getOutputStream().write(1);
      assertThat(in.read()).isEqualTo(1);
      link.cut(Direction.BACK);
      socket.getOutputStream().write(2);
      await().until(() -> link.bytes(Direction.FORTH) == 2);
      socket.setSoTimeout(200);
      assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class);
      link.heal(Direction.BACK);
      socket.setSoTimeout(120_000);
      assertThat(in.read()).isEqualTo(2);
    }
  }

  @Test
  void halfClosedConnection_stillAnswers_thenEnds() throws IOException {
    try (WanLink link = link(new WanQuality(5, 0, 0));
        Socket socket = new Socket("127.0.0.1", link.port())) {
      socket.setSoTimeout(120_000);
      socket.getOutputStream().write(new byte[] {1, 2, 3});
      socket.shutdownOutput(); // before the echo has come: it must not be lost
      assertThat(socket.getInputStream().readAllBytes()).containsExactly(1, 2, 3);
      assertThat(link.bytes(Direction.BACK)).isEqualTo(3);
    }
  }

  @Test
  void newConnection_hangsWhileEitherDirectionIsCut() throws IOException {
    try (WanLink link = link(new WanQuality(1, 0, 0))) {
      link.cut(Direction.BACK);
      try (Socket socket = new Socket("127.0.0.1", link.port())) {
        socket.getOutputStream().write(9);
        socket.setSoTimeout(200);
        assertThatThrownBy(() -> socket.getInputStream().read())
            .isInstanceOf(SocketTimeoutException.class);
        assertThat(link.bytes(Direction.FORTH)).isZero(); // not even the open direction helps
        link.heal(Direction.BACK);
        socket.setSoTimeout(120_000);
        assertThat(socket.getInputStream().read()).isEqualTo(9);
      }
    }
  }

  @Test
  void reset_endsConnectionsWithAnError_andNewOnesWork() throws IOException {
    try (WanLink link = link(new WanQuality(1, 0, 0))) {
      try (Socket socket = new Socket("127.0.0.1", link.port())) {
        socket.setSoTimeout(120_000);
        socket.getOutputStream().write(1);
        assertThat(socket.getInputStream().read()).isEqualTo(1);
        link.reset();
        assertThatThrownBy(() -> socket.getInputStream().read())
            .isInstanceOf(SocketException.class);
      }
      try (Socket socket = new Socket("127.0.0.1", link.port())) {
        socket.setSoTimeout(120_000);
        socket.getOutputStream().write(2);
        assertThat(socket.getInputStream().read()).isEqualTo(2);
      }
    }
  }

  @Test
  void emulator_namesItsLinks() {
    link(new WanQuality(0, 0, 0));
    assertThat(wan.names()).containsExactly("test");
    assertThatThrownBy(() -> link(new WanQuality(0, 0, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("test");
    assertThatThrownBy(() -> wan.link("nope"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nope")
        .hasMessageContaining("test");
    assertThatThrownBy(() -> new WanQuality(-1, 0, 0)).isInstanceOf(IllegalArgumentException.class);
  }
}
