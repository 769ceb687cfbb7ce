package io.osier.core.net;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import jdk.net.ExtendedSocketOptions;

/** TCP over event loops; takes nothing after its end. Thread-safe. */
public final class Sockets implements Network {
  private static final int END_MILLIS = 1_000;
  private static final int END_PATIENCE_MILLIS = 2_000;

  private final EventLoopGroup loops;
  private final int lastMillis;
  private final int keepAliveSeconds;
  private volatile boolean closed;

  private Sockets(EventLoopGroup loops, int lastMillis, int keepAliveSeconds) {
    this.loops = loops;
    this.lastMillis = lastMillis;
    this.keepAliveSeconds = keepAliveSeconds;
  }

  /**
   * With threads of its own.
   *
   * @param name of the threads
   * @param threads how many serve the connections
   */
  public static Sockets of(String name, int threads) {
    return of(name, threads, 0, 0);
  }

  /**
   * With threads of its own, and what becomes of connections about which nothing is said.
   *
   * @param name of the threads
   * @param threads how many serve the connections
   * @param lastMillis so long at the end they wait for something that is still to be done
   * @param keepAliveSeconds after so much silence the system asks whether the other end of a
   *     connection that came is there; 0 for never
   */
  public static Sockets of(String name, int threads, int lastMillis, int keepAliveSeconds) {
    return new Sockets(
        new MultiThreadIoEventLoopGroup(
            threads, new DefaultThreadFactory(name, true), NioIoHandler.newFactory()),
        lastMillis,
        keepAliveSeconds);
  }

  /**
   * Over loops that do other things, too.
   *
   * @param loops end when this is closed; this takes nothing any more where they have ended before
   */
  public static Sockets over(EventLoopGroup loops) {
    return new Sockets(loops, 0, 0);
  }

  private record Listening(Channel server) implements Port {
    @Override
    public InetSocketAddress address() {
      return (InetSocketAddress) server.localAddress();
    }

    @Override
    public void close() {
      server.close();
    }
  }

  private static ChannelInitializer<SocketChannel> initializer(Consumer<Channel> opening) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(SocketChannel ch) {
        opening.accept(ch);
      }
    };
  }

  @Override
  public Port listen(InetSocketAddress at, Consumer<Channel> opening) {
    ServerBootstrap server =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(initializer(opening));
    if (keepAliveSeconds > 0) {
      server
          .childOption(ChannelOption.SO_KEEPALIVE, true)
          .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), keepAliveSeconds);
    }
    return new Listening(server.bind(at).syncUninterruptibly().channel());
  }

  /** The name is not looked up by a thread that serves connections. */
  @Override
  public void dial(
      InetSocketAddress to,
      int timeoutMillis,
      Consumer<Channel> opening,
      Consumer<Throwable> failed) {
    apart(
        "osier-dial",
        () -> {
          var resolved = new InetSocketAddress(to.getHostString(), to.getPort());
          later(() -> connect(resolved, timeoutMillis, opening, failed), 0);
        });
  }

  private void connect(
      InetSocketAddress to,
      int timeoutMillis,
      Consumer<Channel> opening,
      Consumer<Throwable> failed) {
    if (closed) {
      return;
    }
    if (to.isUnresolved()) {
      failed.accept(
          new UnknownHostException("no address is known of the name " + to.getHostString()));
      return;
    }
    new Bootstrap()
        .group(loops)
        .channel(NioSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis)
        .handler(initializer(opening))
        .connect(to)
        .addListener(
            f -> {
              if (!f.isSuccess()) {
                failed.accept(f.cause());
              }
            });
  }

  @Override
  public void apart(String name, Runnable task) {
    Thread.ofVirtual().name(name).start(task);
  }

  @Override
  public RandomGenerator random() {
    return ThreadLocalRandom.current();
  }

  @Override
  public boolean isClosed() {
    return closed || loops.isShuttingDown();
  }

  @Override
  public void later(Runnable task, long millis) {
    if (isClosed()) {
      return;
    }
    try {
      loops.schedule(task, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The loops have ended meanwhile: nothing is to be begun any more.
    }
  }

  @Override
  public void close() {
    closed = true;
    loops
        .shutdownGracefully(lastMillis, END_MILLIS, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(END_PATIENCE_MILLIS);
  }
}
