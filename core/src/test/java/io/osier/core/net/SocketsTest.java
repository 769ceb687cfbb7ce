package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.osier.testing.Patience;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(Patience.SECONDS)
final class SocketsTest {
  /** A busy loop learns of the end only when it looks for the next task. */
  @Test
  void close_whileItsLoopIsInATask_endsAllConnections() throws Exception {
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    Sockets sockets = Sockets.over(loops);
    Semaphore opened = new Semaphore(0);
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    Network.Port port =
        sockets.listen(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ch -> opened.release());
    try (Socket other = new Socket()) {
      other.setSoTimeout(Patience.MILLIS);
      other.connect(port.address());
      opened.acquire();
      sockets.later(
          () -> {
            running.countDown();
            await(ends);
          },
          0);
      running.await();
      Thread closing = Thread.ofPlatform().start(sockets::close);
      while (!loops.isShuttingDown()) {
        Thread.onSpinWait();
      }
      ends.countDown();
      closing.join();

      assertThat(other.getInputStream().read()).isEqualTo(-1);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
