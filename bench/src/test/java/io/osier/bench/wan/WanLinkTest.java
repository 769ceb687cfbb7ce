package io.osier.bench.wan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.osier.bench.wan.WanLink.Direction;
import io.osier.bench.wan.WanLink.Quality;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class WanLinkTest {
  private EventLoopGroup loops;
  private ServerSocket echo;

  @BeforeEach
  void start() throws IOException {
    loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
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
    loops.shutdownGracefully();
  }

  private WanLink link(Quality quality) {
    return new WanLink(
        loops,
        0,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), echo.getLocalPort()),
        quality,
        quality,
        1);
  }

  @Test
  void bytes_comeInOrderAndAreCounted_notBeforeTheDelay() throws IOException {
    try (WanLink link = link(new Quality(30, 20, 0));
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
    try (WanLink link = link(new Quality(1, 0, 0));
        Socket socket = new Socket("127.0.0.1", link.port())) {
      InputStream in = socket.getInputStream();
      socket.getOutputStream().write(1);
      assertThat(in.read()).isEqualTo(1);
      link.cut(Direction.BACK);
      socket.getOutputStream().write(2);
      await().until(() -> link.bytes(Direction.FORTH) == 2);
      socket.setSoTimeout(200);
      org.assertj.core.api.Assertions.assertThatThrownBy(in::read)
          .isInstanceOf(SocketTimeoutException.class);
      link.heal(Direction.BACK);
      socket.setSoTimeout(10_000);
      assertThat(in.read()).isEqualTo(2);
    }
  }

  @Test
  void end_travelsThroughTheLink() throws IOException {
    try (WanLink link = link(new Quality(5, 0, 0));
        Socket socket = new Socket("127.0.0.1", link.port())) {
      socket.getOutputStream().write(new byte[] {1, 2, 3});
      assertThat(socket.getInputStream().readNBytes(3)).containsExactly(1, 2, 3);
      socket.shutdownOutput(); // the echo then closes, and that comes back
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }
}
