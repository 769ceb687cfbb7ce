package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.osier.testing.Faked;
import io.osier.testing.Patience;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Connections to hosts whose names have several addresses, change their addresses, or have none
 * yet.
 */
@Timeout(Patience.SECONDS)
final class DialTest {
  private static final int LONG = 2 * Patience.MILLIS;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  @AfterEach
  void close() {
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  /** The connection, or why there is none. */
  private final class Outcome {
    final CompletableFuture<Channel> channel = new CompletableFuture<>();
    final AtomicInteger told = new AtomicInteger();
    final AtomicInteger active = new AtomicInteger();

    Outcome(int port, int millis, Dial.Lookup lookup) {
      Sockets.over(loops, lookup)
          .dial(
              InetSocketAddress.createUnresolved("some.example", port),
              millis,
              opened -> {
                told.incrementAndGet();
                opened
                    .pipeline()
                    .addLast(
                        new ChannelInboundHandlerAdapter() {
                          @Override
                          public void channelActive(ChannelHandlerContext ctx) {
                            active.incrementAndGet();
                            channel.complete(ctx.channel());
                          }

                          @Override
                          public void exceptionCaught(ChannelHandlerContext ctx, Throwable e) {
                            ctx.close();
                          }
                        });
              },
              cause -> {
                told.incrementAndGet();
                channel.completeExceptionally(cause);
              });
    }

    Throwable failure() {
      return channel.handle((c, e) -> e).join();
    }
  }

  private static Dial.Lookup addresses(String... addresses) {
    return host -> {
      InetAddress[] all = new InetAddress[addresses.length];
      for (int i = 0; i < all.length; i++) {
        all[i] = InetAddress.getByName(addresses[i]);
      }
      return all;
    };
  }

  private static ServerSocket listening(String at) throws IOException {
    return new ServerSocket(0, 10, InetAddress.getByName(at));
  }

  @Test
  void firstAddressThatRefuses_isFollowedByTheNext() throws IOException {
    try (ServerSocket server = listening("127.0.0.3")) {
      Outcome outcome =
          new Outcome(
              server.getLocalPort(), LONG, addresses("127.0.0.2", "127.0.0.9", "127.0.0.3"));
      assertThat(outcome.channel.join().remoteAddress())
          .isEqualTo(new InetSocketAddress("127.0.0.3", server.getLocalPort()));
      loops.submit(() -> {}).syncUninterruptibly();
      assertThat(outcome.told).hasValue(1);
      assertThat(outcome.active).hasValue(1);
    }
  }

  /**
   * The system refuses the address for having no route, or nothing answers: either way the next one
   * is tried.
   */
  @Test
  void firstAddressWithoutAWayThere_isFollowedByTheNext() throws IOException {
    try (ServerSocket server = listening("127.0.0.1")) {
      Outcome outcome =
          new Outcome(server.getLocalPort(), LONG, addresses("2001:db8::dead", "127.0.0.1"));
      assertThat(outcome.channel.join().isActive()).isTrue();
    }
  }

  /** A full queue of connections answers nothing, like a host that is gone. */
  @Test
  void firstAddressThatDoesNotAnswer_doesNotHoldUpTheNext() throws Exception {
    List<SocketChannel> fill = new ArrayList<>();
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.2"));
        ServerSocket server =
            new ServerSocket(full.getLocalPort(), 10, InetAddress.getByName("127.0.0.3"))) {
      for (int i = 0; i < 20; i++) {
        SocketChannel waiting = SocketChannel.open();
        waiting.configureBlocking(false);
        waiting.connect(full.getLocalSocketAddress());
        fill.add(waiting);
      }
      Outcome outcome =
          new Outcome(server.getLocalPort(), LONG, addresses("127.0.0.2", "127.0.0.3"));
      assertThat(outcome.channel.join().remoteAddress())
          .isEqualTo(new InetSocketAddress("127.0.0.3", server.getLocalPort()));
    } finally {
      for (SocketChannel waiting : fill) {
        waiting.close();
      }
    }
  }

  @Test
  void allAddressesThatRefuse_areNamed_andAreOneFailure() throws IOException {
    try (Socket held = new Socket()) {
      held.bind(null); // at all addresses: no other process has the port, and nobody listens there
      int port = held.getLocalPort();
      Outcome one = new Outcome(port, LONG, addresses("127.0.0.2"));
      assertThat(one.failure()).isInstanceOf(ConnectException.class);
      Outcome outcome = new Outcome(port, LONG, addresses("127.0.0.2", "127.0.0.3"));
      assertThat(outcome.failure())
          .isInstanceOf(ConnectException.class)
          .hasMessageContaining("some.example")
          .hasMessageContaining("127.0.0.2:" + port)
          .hasMessageContaining("127.0.0.3:" + port);
      assertThat(outcome.told).hasValue(1);
    }
  }

  @Test
  void nameThatIsUnknown_isSaid_andLookedUpAnewByTheNextDial() throws IOException {
    AtomicInteger lookups = new AtomicInteger();
    Dial.Lookup later =
        host -> {
          if (lookups.incrementAndGet() == 1) {
            throw new UnknownHostException(host);
          }
          return addresses("127.0.0.1").all(host);
        };
    try (ServerSocket server = listening("127.0.0.1")) {
      assertThat(new Outcome(server.getLocalPort(), LONG, later).failure())
          .isInstanceOf(UnknownHostException.class)
          .hasMessage("the host name cannot be resolved: some.example");
      assertThat(new Outcome(server.getLocalPort(), LONG, later).channel.join().isActive())
          .isTrue();
    }
  }

  /** Otherwise it would stay in the loop's queue for as long as the dial might have taken. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void limitOfADialThatHasEnded_isCancelled(boolean succeeds) throws Exception {
    EventLoop loop = loops.next();
    Queue<Future<?>> scheduled = new ConcurrentLinkedQueue<>();
    EventLoop watched =
        Faked.of(
            EventLoop.class,
            (self, method, arguments) -> {
              Object made = method.invoke(loop, arguments);
              if (method.getName().equals("schedule")) {
                scheduled.add((Future<?>) made);
              }
              return made;
            });
    CompletableFuture<Object> ended = new CompletableFuture<>();
    try (ServerSocket server = listening("127.0.0.1")) {
      new Dial(
              watched,
              InetSocketAddress.createUnresolved("some.example", server.getLocalPort()),
              Integer.MAX_VALUE,
              begun -> {},
              ended::complete,
              ended::complete)
          .start(
              succeeds
                  ? addresses("127.0.0.1")
                  : host -> {
                    throw new UnknownHostException(host);
                  });
      assertThat(ended.join()).isInstanceOf(succeeds ? Channel.class : UnknownHostException.class);
      assertThat(scheduled).singleElement().matches(Future::isCancelled, "is cancelled");
    }
  }

  @Test
  void nameInLettersOfAnotherAlphabet_isLookedUpInAscii() throws Exception {
    CompletableFuture<String> asked = new CompletableFuture<>();
    Sockets.over(
            loops,
            host -> {
              asked.complete(host);
              throw new UnknownHostException(host);
            })
        .dial(
            InetSocketAddress.createUnresolved("b\u00fccher.example", 1),
            LONG,
            channel -> {},
            cause -> {});
    assertThat(asked.join()).isEqualTo("xn--bcher-kva.example");
  }

  @Test
  void lookupThatHangs_holdsUpNeitherTheLoopNorTheOneWhoAsked() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    try (ServerSocket server = listening("127.0.0.1")) {
      Outcome hanging =
          new Outcome(
              server.getLocalPort(),
              200,
              host -> {
                try {
                  end.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                return addresses("127.0.0.1").all(host);
              });
      Outcome other = new Outcome(server.getLocalPort(), LONG, addresses("127.0.0.1"));
      assertThat(other.channel.join().isActive()).isTrue();
      assertThat(hanging.failure())
          .isInstanceOf(ConnectTimeoutException.class)
          .hasMessageContaining("some.example");
      end.countDown();
      loops.submit(() -> {}).get();
      assertThat(hanging.told).hasValue(1);
    } finally {
      end.countDown();
    }
  }
}
