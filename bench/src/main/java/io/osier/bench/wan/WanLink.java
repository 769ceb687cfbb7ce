package io.osier.bench.wan;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One emulated link: a TCP proxy in front of a target, with delay, jitter and a bandwidth for each
 * direction. Bytes keep their order within a connection.
 *
 * <p>A cut direction delivers nothing and holds the bytes that come, as a network without a route:
 * connections neither close nor open, and neither end is told. While either direction is cut, new
 * connections are accepted and then hang, since a handshake needs both directions. A heal sends the
 * held bytes again, with the usual delay and bandwidth; {@link #reset} ends the connections
 * instead, as real networks may after a long outage.
 *
 * <p>Memory is bounded: a connection that holds about {@link #HELD_BYTES_MAX} in a direction reads
 * no more, so that the sender has to wait. Thread-safe; all channels run on one event loop.
 */
public final class WanLink implements AutoCloseable {
  /**
   * A direction of a connection that holds this many bytes reads no more until half of them are
   * delivered. Enough for 60 MB/s at a delay of 60 ms.
   */
  static final long HELD_BYTES_MAX = 4L << 20;

  public enum Direction {
    /** From the side that connects to the target. */
    FORTH,
    BACK
  }

  private final EventLoop loop;
  private final InetSocketAddress target;
  private final WanDirection forth;
  private final WanDirection back;
  private final AtomicLong forthBytes = new AtomicLong();
  private final AtomicLong backBytes = new AtomicLong();
  private final Channel server;

  // Both are touched by the loop only.
  private final Set<Connection> connections = new LinkedHashSet<>();
  private final Set<Channel> hanging = new LinkedHashSet<>();

  private record Connection(WanPipe there, WanPipe here) {}

  /**
   * Opens a link.
   *
   * @param listen the address at which the link listens; port 0 for any free one
   * @param seed of the jitter
   * @throws RuntimeException if the port is taken (Netty throws the BindException as it is)
   */
  WanLink(
      EventLoop loop,
      InetSocketAddress listen,
      InetSocketAddress target,
      WanQuality forth,
      WanQuality back,
      long seed) {
    this.loop = loop;
    this.target = target;
    this.forth = new WanDirection(forth, seed);
    this.back = new WanDirection(back, ~seed);
    this.server =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel ch) {
                    accept(ch);
                  }
                })
            .bind(listen)
            .syncUninterruptibly()
            .channel();
  }

  /** Returns the port at which the link listens. */
  public int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  /** Returns the bytes delivered in a direction so far. */
  public long bytes(Direction direction) {
    return (direction == Direction.FORTH ? forthBytes : backBytes).get();
  }

  private WanDirection way(Direction direction) {
    return direction == Direction.FORTH ? forth : back;
  }

  /** Changes the quality of both directions for bytes that are sent from now on. */
  public void become(WanQuality quality) {
    run(
        () -> {
          forth.become(quality);
          back.become(quality);
        });
  }

  /** Cuts a direction; bytes in flight are held. Does nothing if it is cut already. */
  public void cut(Direction direction) {
    run(() -> way(direction).cut());
  }

  /** Heals a direction. Does nothing if it is not cut. */
  public void heal(Direction direction) {
    run(
        () -> {
          WanDirection way = way(direction);
          if (!way.isCut()) {
            return;
          }
          way.heal(loop.ticker().nanoTime());
          for (Connection connection : List.copyOf(connections)) {
            (direction == Direction.FORTH ? connection.there : connection.here).restart();
          }
          if (isOpen()) {
            List<Channel> waiting = List.copyOf(hanging);
            hanging.clear();
            waiting.forEach(this::handshake);
          }
        });
  }

  /** Cuts both directions. */
  public void cut() {
    cut(Direction.FORTH);
    cut(Direction.BACK);
  }

  /** Heals both directions. */
  public void heal() {
    heal(Direction.FORTH);
    heal(Direction.BACK);
  }

  /** Ends all present connections by a TCP reset at both sides; new ones can be made. */
  public void reset() {
    run(
        () -> {
          List.copyOf(connections).forEach(connection -> connection.there.reset());
          hanging.forEach(Channel::close);
          hanging.clear();
        });
  }

  private boolean isOpen() {
    return !forth.isCut() && !back.isCut();
  }

  private void run(Runnable task) {
    loop.submit(task).syncUninterruptibly();
  }

  private void accept(Channel from) {
    if (isOpen()) {
      handshake(from);
    } else {
      hanging.add(from);
      from.closeFuture().addListener(closed -> hanging.remove(from));
    }
  }

  /** A TCP handshake takes one way there and one way back before the first byte can leave. */
  private void handshake(Channel from) {
    loop.schedule(
        () -> connect(from), forth.delayNanos() + back.delayNanos(), TimeUnit.NANOSECONDS);
  }

  private void connect(Channel from) {
    if (!isOpen()) {
      hanging.add(from);
      from.closeFuture().addListener(closed -> hanging.remove(from));
      return;
    }
    // Every channel of a link runs on the link's loop, which therefore needs no locks.
    new Bootstrap()
        .group(loop)
        .channel(NioSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.AUTO_READ, false)
        .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .handler(new ChannelInboundHandlerAdapter())
        .connect(target)
        .addListener(
            (ChannelFuture f) -> {
              if (f.isSuccess()) {
                join(from, f.channel());
              } else {
                from.close();
              }
            });
  }

  private void join(Channel from, Channel to) {
    if (!from.isActive() || !to.isActive()) {
      from.close();
      to.close();
      return;
    }
    Connection[] self = new Connection[1];
    Runnable whenClosed = () -> connections.remove(self[0]);
    WanPipe there = pipe(forth, from, to, forthBytes, whenClosed);
    WanPipe here = pipe(back, to, from, backBytes, whenClosed);
    there.setOpposite(here);
    here.setOpposite(there);
    self[0] = new Connection(there, here);
    connections.add(self[0]);
    from.pipeline().addLast(there);
    to.pipeline().addLast(here);
    from.config().setAutoRead(true);
    to.config().setAutoRead(true);
  }

  private static WanPipe pipe(
      WanDirection way, Channel from, Channel to, AtomicLong counter, Runnable whenClosed) {
    return new WanPipe(
        new WanQueue<>(way, HELD_BYTES_MAX), from, to, counter::addAndGet, whenClosed);
  }

  /** Closes the link and its connections. */
  @Override
  public void close() {
    server.close().syncUninterruptibly();
    run(
        () -> {
          List.copyOf(connections).forEach(connection -> connection.there.close());
          hanging.forEach(Channel::close);
          hanging.clear();
        });
  }
}
