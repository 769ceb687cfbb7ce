package io.osier.core.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import jdk.net.ExtendedSocketOptions;

/** TCP over event loops; accepts no work after its end. Thread-safe. */
public final class Sockets implements Network {
  private static final int END_MILLIS = 1_000;
  private static final int END_PATIENCE_MILLIS = 2_000;

  private final EventLoopGroup loops;

  /** The open channels; one that opens after the end is closed at once. */
  private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

  private final Dial.Lookup lookup;
  private final int keepAliveSeconds;
  private volatile boolean closed;

  private Sockets(EventLoopGroup loops, int keepAliveSeconds, Dial.Lookup lookup) {
    this.loops = loops;
    this.lookup = lookup;
    this.keepAliveSeconds = keepAliveSeconds;
  }

  /**
   * Creates a network with threads of its own.
   *
   * @param name of the threads
   * @param threads how many serve the connections
   */
  public static Sockets of(String name, int threads) {
    return of(name, threads, 0);
  }

  /**
   * Creates a network with threads of its own, and with a check of silent connections.
   *
   * @param name of the threads
   * @param threads how many serve the connections
   * @param keepAliveSeconds after this much silence the system checks whether the other end of an
   *     accepted connection still exists; 0 for never
   */
  public static Sockets of(String name, int threads, int keepAliveSeconds) {
    return new Sockets(
        new MultiThreadIoEventLoopGroup(
            threads, new DefaultThreadFactory(name, true), NioIoHandler.newFactory()),
        keepAliveSeconds,
        InetAddress::getAllByName);
  }

  /**
   * Creates a network over loops that do other things, too.
   *
   * @param loops are ended when this is closed; this accepts no work once they have ended
   */
  public static Sockets over(EventLoopGroup loops) {
    return over(loops, InetAddress::getAllByName);
  }

  /** As the other one, with another lookup of names: for tests. */
  static Sockets over(EventLoopGroup loops, Dial.Lookup lookup) {
    return new Sockets(loops, 0, lookup);
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

  private ChannelInitializer<SocketChannel> initializer(Consumer<Channel> opening) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(SocketChannel ch) {
        opening.accept(ch);
        channels.add(ch);
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
    Channel listening = server.bind(at).syncUninterruptibly().channel();
    channels.add(listening);
    return new Listening(listening);
  }

  @Override
  public void dial(
      InetSocketAddress to,
      int timeoutMillis,
      Consumer<Channel> opening,
      Consumer<Throwable> failed) {
    if (!isClosed()) {
      new Dial(loops.next(), to, timeoutMillis, channels::add, opening, failed).start(lookup);
    }
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
      // The loops have ended meanwhile, so nothing is begun any more.
    }
  }

  @Override
  public void close() {
    end().awaitUninterruptibly(END_PATIENCE_MILLIS);
  }

  /** Begins to end, and does not wait for it. */
  public Future<?> end() {
    closed = true;
    channels.close(); // a loop of Netty 4.2 that is running a task would close none by itself
    return loops.shutdownGracefully(0, END_MILLIS, TimeUnit.MILLISECONDS);
  }
}
