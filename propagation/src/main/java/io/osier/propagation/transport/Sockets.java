package io.osier.propagation.transport;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.osier.core.net.Network;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** TCP, with one thread that serves the connections; takes nothing after its end. Thread-safe. */
final class Sockets implements Network {
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("osier-peers", true), NioIoHandler.newFactory());

  private volatile boolean closed;

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
    return new Listening(
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(initializer(opening))
            .bind(at)
            .syncUninterruptibly()
            .channel());
  }

  /** The name is not looked up by the thread that serves the connections. */
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
          execute(() -> connect(resolved, timeoutMillis, opening, failed));
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
        .group(group)
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
    return closed;
  }

  /** Does something soon, unless this is closed. */
  private synchronized void execute(Runnable task) {
    if (!closed) {
      group.execute(task);
    }
  }

  @Override
  public synchronized void later(Runnable task, long millis) {
    if (!closed) {
      group.schedule(task, millis, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2_000);
  }
}
