package io.osier.proxy;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.proxy.protocol.Envelope;
import io.osier.proxy.protocol.Framing;
import io.osier.proxy.protocol.ProtocolCodec;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one datacenter: opened again with a growing pause whenever it is lost, with
 * requests pipelined on it and answered in any order. Thread-safe.
 */
final class Connection implements Link {
  private static final Logger LOG = LoggerFactory.getLogger(Connection.class);
  private static final long BACK_OFF_MILLIS_MIN = 50;
  private static final long BACK_OFF_MILLIS_MAX = 2_000;
  private static final double ROUND_TRIP_GAIN = 0.2;
  private static final int FLUSH_AFTER = 64;

  /** Why a request has no answer. */
  static final class LostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Whether the request may have reached the datacenter. */
    final boolean sent;

    final ErrorCode code;

    LostException(ErrorCode code, boolean sent, String message) {
      super(message, null, false, false);
      this.code = code;
      this.sent = sent;
    }
  }

  private record Pending(CompletableFuture<Reply> reply, long sentNanos) {}

  private final String dc;
  private final InetSocketAddress address;
  private final ClientSettings settings;
  private final EventLoopGroup loops;
  private final Runnable onChange;
  private final Map<Long, Pending> pending = new ConcurrentHashMap<>();
  private final AtomicLong ids = new AtomicLong();
  private final AtomicInteger inFlight = new AtomicInteger();
  private volatile Channel channel;
  private volatile Reply.Welcome welcome;
  private volatile double roundTripNanos = Double.NaN;
  private volatile OsierException refused;
  private volatile boolean closed;
  private long backOffMillis = BACK_OFF_MILLIS_MIN;

  Connection(
      String dc,
      InetSocketAddress address,
      ClientSettings settings,
      EventLoopGroup loops,
      Runnable onChange) {
    this.dc = dc;
    this.address = address;
    this.settings = settings;
    this.loops = loops;
    this.onChange = onChange;
  }

  @Override
  public void open() {
    if (closed) {
      return;
    }
    new Bootstrap()
        .group(loops)
        .channel(NioSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) settings.connectTimeout().toMillis())
        .handler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel ch) {
                ch.pipeline().addLast(new FlushConsolidationHandler(FLUSH_AFTER, true));
                Framing.addTo(ch.pipeline(), Framing.CLIENT_FRAME_BYTES_MAX);
                ch.pipeline().addLast(new Inbound());
              }
            })
        .connect(InetSocketAddress.createUnresolved(address.getHostString(), address.getPort()))
        .addListener(
            (ChannelFuture f) -> {
              if (!f.isSuccess()) {
                LOG.debug("{}: {}", dc, f.cause().getMessage());
                openLater();
              } else if (closed) {
                f.channel().close();
              }
            });
  }

  private void openLater() {
    if (closed) {
      return;
    }
    long pause = ThreadLocalRandom.current().nextLong(backOffMillis / 2, backOffMillis + 1);
    backOffMillis = Math.min(2 * backOffMillis, BACK_OFF_MILLIS_MAX);
    loops.schedule(this::open, pause, TimeUnit.MILLISECONDS);
  }

  /** Bytes in, replies out to whoever waits for them. */
  private final class Inbound extends SimpleChannelInboundHandler<byte[]> {
    Inbound() {
      super(byte[].class);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
      ctx.writeAndFlush(
          ProtocolCodec.encode(0, new Request.Hello(Request.PROTOCOL_VERSION, settings.name())));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, byte[] bytes) {
      Envelope<Reply> envelope = ProtocolCodec.decodeReply(bytes);
      if (envelope.id() == 0) {
        greeted(ctx.channel(), envelope.message());
        return;
      }
      Pending waiting = pending.remove(envelope.id());
      if (waiting != null) {
        inFlight.decrementAndGet();
        settings.metrics().answered(dc, System.nanoTime() - waiting.sentNanos);
        waiting.reply.complete(envelope.message());
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      lost();
      openLater();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      LOG.warn("connection to {} closed: {}", dc, cause.getMessage());
      ctx.close();
    }
  }

  private void greeted(Channel over, Reply reply) {
    switch (reply) {
      case Reply.Welcome w -> {
        channel = over;
        welcome = w;
        refused = null;
        backOffMillis = BACK_OFF_MILLIS_MIN;
        ping();
        onChange.run();
      }
      case Reply.Failure f -> {
        refused = new OsierException(f.code(), dc + ": " + f.message());
        LOG.warn("{} refuses this client: {}: {}", dc, f.code(), f.message());
        over.close();
      }
      default -> over.close();
    }
  }

  private void lost() {
    channel = null;
    pending.forEach(
        (id, waiting) -> {
          if (pending.remove(id) != null) {
            inFlight.decrementAndGet();
            waiting.reply.completeExceptionally(
                new LostException(
                    ErrorCode.UNAVAILABLE, true, "the connection to " + dc + " was lost"));
          }
        });
    onChange.run();
  }

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    Channel over = channel;
    if (over == null) {
      return failed(ErrorCode.UNAVAILABLE, "not connected to " + dc);
    }
    if (inFlight.incrementAndGet() > settings.inFlightMax()) {
      inFlight.decrementAndGet();
      return failed(
          ErrorCode.OVERLOADED, settings.inFlightMax() + " requests to " + dc + " are open");
    }
    long id = ids.incrementAndGet();
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    pending.put(id, new Pending(reply, System.nanoTime()));
    over.writeAndFlush(ProtocolCodec.encode(id, request), over.voidPromise());
    var timer =
        over.eventLoop()
            .schedule(
                () -> expire(id, timeoutMillis), Math.max(1, timeoutMillis), TimeUnit.MILLISECONDS);
    reply.whenComplete((r, e) -> timer.cancel(false));
    if (channel != over) {
      lost(); // the connection went away between; what waits on it must not wait for ever
    }
    return reply;
  }

  private static CompletableFuture<Reply> failed(ErrorCode code, String message) {
    return CompletableFuture.failedFuture(new LostException(code, false, message));
  }

  private void expire(long id, long timeoutMillis) {
    Pending waiting = pending.remove(id);
    if (waiting != null) {
      inFlight.decrementAndGet();
      waiting.reply.completeExceptionally(
          new LostException(
              ErrorCode.TIMEOUT, true, dc + " did not answer within " + timeoutMillis + " ms"));
    }
  }

  @Override
  public void ping() {
    Channel over = channel;
    if (over == null) {
      return;
    }
    long start = System.nanoTime();
    long patience = Math.max(1_000, 4 * settings.pingInterval().toMillis());
    send(new Request.Ping(), patience)
        .whenComplete(
            (pong, error) -> {
              if (error == null) {
                double took = System.nanoTime() - start;
                roundTripNanos =
                    Double.isNaN(roundTripNanos)
                        ? took
                        : roundTripNanos + ROUND_TRIP_GAIN * (took - roundTripNanos);
              } else if (error instanceof LostException lost && lost.code == ErrorCode.TIMEOUT) {
                LOG.warn("{} does not answer; connection closed", dc);
                over.close();
              }
            });
  }

  @Override
  public String dc() {
    return dc;
  }

  @Override
  public boolean isUp() {
    return channel != null;
  }

  @Override
  public ReplicaId replica() {
    Reply.Welcome w = welcome;
    return w == null ? null : w.replica();
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaceList() {
    Reply.Welcome w = welcome;
    return w == null ? List.of() : w.keyspaces();
  }

  @Override
  public double roundTripNanos() {
    return roundTripNanos;
  }

  @Override
  public OsierException refused() {
    return refused;
  }

  @Override
  public int inFlight() {
    return inFlight.get();
  }

  @Override
  public void close() {
    closed = true;
    Channel over = channel;
    if (over != null) {
      over.close();
    }
    lost();
  }
}
