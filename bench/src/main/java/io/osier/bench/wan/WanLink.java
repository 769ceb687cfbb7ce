package io.osier.bench.wan;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One emulated link: a TCP proxy in front of a target, with delay, jitter and a bandwidth for each
 * direction. Bytes keep their order. A cut direction delivers nothing and holds what comes, as a
 * network does for which no route is left; connections neither close nor open. Buffers are bounded:
 * a direction that holds {@link #HELD_BYTES_MAX} stops to read, so the sender feels it.
 * Thread-safe.
 */
public final class WanLink implements AutoCloseable {
  /** A direction that holds so many bytes reads no more until some are delivered. */
  static final long HELD_BYTES_MAX = 16L << 20;

  /**
   * What a direction is like.
   *
   * @param delayMillis one way
   * @param jitterMillis added to the delay, evenly from 0 to this
   * @param bytesPerSecond bandwidth; 0 for unlimited
   */
  public record Quality(double delayMillis, double jitterMillis, long bytesPerSecond) {
    public Quality {
      if (!(delayMillis >= 0) || !(jitterMillis >= 0) || bytesPerSecond < 0) {
        throw new IllegalArgumentException("delay, jitter and bandwidth must not be negative");
      }
    }
  }

  /** The two ways through a link. */
  public enum Direction {
    /** From whoever connects to the target. */
    FORTH,
    /** Back. */
    BACK
  }

  private final EventLoop loop;
  private final InetSocketAddress target;
  private final Way forth;
  private final Way back;
  private final Channel server;
  private final List<Pipe> pipes = new ArrayList<>();

  /** One direction's state, shared by its connections. Fields are touched by the loop only. */
  private static final class Way {
    final Quality quality;
    final Random random;
    final AtomicLong bytes = new AtomicLong();
    boolean cut;

    /** When the line is free again, for the bandwidth. */
    long freeNanos;

    Way(Quality quality, long seed) {
      this.quality = quality;
      this.random = new Random(seed);
    }
  }

  /**
   * Opens a link.
   *
   * @param listenPort where it listens on 127.0.0.1; 0 for any free port
   * @param target where it leads
   * @param seed of the jitter
   */
  public WanLink(
      EventLoopGroup loops,
      int listenPort,
      InetSocketAddress target,
      Quality forth,
      Quality back,
      long seed) {
    this.loop = loops.next();
    this.target = target;
    this.forth = new Way(forth, seed);
    this.back = new Way(back, seed + 1);
    this.server =
        new ServerBootstrap()
            .group(loops, loop)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel ch) {
                    accept(ch);
                  }
                })
            .bind("127.0.0.1", listenPort)
            .syncUninterruptibly()
            .channel();
  }

  /** The port to connect to. */
  public int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  /** Bytes delivered in a direction so far. */
  public long bytes(Direction direction) {
    return way(direction).bytes.get();
  }

  private Way way(Direction direction) {
    return direction == Direction.FORTH ? forth : back;
  }

  /** Stops a direction; what is under way is held. */
  public void cut(Direction direction) {
    loop.submit(() -> way(direction).cut = true).syncUninterruptibly();
  }

  /** Lets a direction go on, beginning with what was held. */
  public void heal(Direction direction) {
    loop.submit(
            () -> {
              way(direction).cut = false;
              for (Pipe pipe : List.copyOf(pipes)) {
                pipe.deliver();
              }
            })
        .syncUninterruptibly();
  }

  private void accept(SocketChannel from) {
    // Every connection of a link runs on the link's loop, which therefore needs no locks.
    new Bootstrap()
        .group(loop)
        .channel(NioSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.AUTO_READ, false)
        .handler(new ChannelInboundHandlerAdapter())
        .connect(target)
        .addListener(
            (io.netty.channel.ChannelFuture f) -> {
              if (!f.isSuccess()) {
                from.close();
                return;
              }
              loop.execute(() -> join(from, f.channel()));
            });
  }

  private void join(Channel from, Channel to) {
    Pipe there = new Pipe(forth, from, to);
    Pipe here = new Pipe(back, to, from);
    pipes.add(there);
    pipes.add(here);
    from.pipeline().addLast(there);
    to.pipeline().addLast(here);
    from.config().setAutoRead(true);
    to.config().setAutoRead(true);
    if (!from.isActive() || !to.isActive()) {
      from.close();
      to.close();
    }
  }

  private record Held(ByteBuf bytes, long dueNanos) {}

  /** One connection's way through one direction. */
  private final class Pipe extends ChannelInboundHandlerAdapter {
    private final Way way;
    private final Channel from;
    private final Channel to;
    private final ArrayDeque<Held> held = new ArrayDeque<>();
    private long heldBytes;
    private long lastDueNanos;
    private boolean ended;

    Pipe(Way way, Channel from, Channel to) {
      this.way = way;
      this.from = from;
      this.to = to;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf bytes = (ByteBuf) message;
      long now = System.nanoTime();
      Quality q = way.quality;
      if (q.bytesPerSecond > 0) {
        way.freeNanos =
            Math.max(way.freeNanos, now)
                + bytes.readableBytes() * 1_000_000_000L / q.bytesPerSecond;
      }
      double delay = q.delayMillis + way.random.nextDouble() * q.jitterMillis;
      long due = Math.max(now, way.freeNanos) + (long) (delay * 1e6);
      lastDueNanos = Math.max(lastDueNanos, due); // order is kept, whatever the jitter
      held.add(new Held(bytes, lastDueNanos));
      heldBytes += bytes.readableBytes();
      if (heldBytes > HELD_BYTES_MAX) {
        from.config().setAutoRead(false);
      }
      loop.schedule(this::deliver, lastDueNanos - now, TimeUnit.NANOSECONDS);
    }

    void deliver() {
      long now = System.nanoTime();
      boolean any = false;
      while (!way.cut && !held.isEmpty() && held.peek().dueNanos <= now) {
        ByteBuf bytes = held.poll().bytes;
        heldBytes -= bytes.readableBytes();
        way.bytes.addAndGet(bytes.readableBytes());
        to.write(bytes);
        any = true;
      }
      if (any) {
        to.flush();
        from.config().setAutoRead(true);
      }
      if (!held.isEmpty() && !way.cut) {
        loop.schedule(this::deliver, held.peek().dueNanos - now, TimeUnit.NANOSECONDS);
      } else if (ended && held.isEmpty()) {
        to.close();
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      ended = true;
      // The end travels like any byte: through the delay, and not at all while the way is cut.
      loop.schedule(
          () -> {
            deliver();
            pipes.remove(this);
            if (way.cut) {
              held.forEach(h -> h.bytes.release()); // the connection will be gone when it heals
              held.clear();
            } else if (held.isEmpty()) {
              to.close();
            }
          },
          (long) (way.quality.delayMillis * 1e6),
          TimeUnit.NANOSECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      ctx.close(); // a reset by either side ends the connection
    }
  }

  /** Closes the link and its connections. */
  @Override
  public void close() {
    server.close().syncUninterruptibly();
    loop.submit(
            () -> {
              for (Pipe pipe : List.copyOf(pipes)) {
                pipe.from.close();
                pipe.to.close();
              }
            })
        .syncUninterruptibly();
  }
}
