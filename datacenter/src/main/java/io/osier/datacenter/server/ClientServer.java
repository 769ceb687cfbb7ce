package io.osier.datacenter.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.proxy.protocol.Envelope;
import io.osier.proxy.protocol.Framing;
import io.osier.proxy.protocol.ProtocolCodec;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes clients' connections and hands their requests to the keyspaces.
 *
 * <p>A client that sends and does not read must not fill the memory: beyond the high-water mark of
 * answers that wait to be sent its requests are left in the network, and beyond {@link
 * #UNSENT_BYTES_MAX} it is disconnected.
 */
final class ClientServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClientServer.class);
  private static final int FLUSH_AFTER = 128;
  private static final WriteBufferWaterMark UNSENT_MARKS =
      new WriteBufferWaterMark(1 << 20, 4 << 20);

  /** Answers to requests that were under way when the mark was passed still come, up to this. */
  private static final long UNSENT_BYTES_MAX = 256L << 20;

  private final ReplicaId self;
  private final RequestHandler handler;
  private final EventLoopGroup loops;
  private final Channel server;
  private final LongAdder requests = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder malformed = new LongAdder();

  ClientServer(ReplicaId self, InetSocketAddress listen, RequestHandler handler) {
    this.self = self;
    this.handler = handler;
    this.loops =
        new MultiThreadIoEventLoopGroup(
            2, new DefaultThreadFactory("osier-clients", true), NioIoHandler.newFactory());
    try {
      this.server =
          new ServerBootstrap()
              .group(loops)
              .channel(NioServerSocketChannel.class)
              .option(ChannelOption.SO_REUSEADDR, true)
              .childOption(ChannelOption.TCP_NODELAY, true)
              .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, UNSENT_MARKS)
              .childHandler(
                  new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                      ch.pipeline().addLast(new FlushConsolidationHandler(FLUSH_AFTER, true));
                      Framing.addTo(ch.pipeline(), Framing.CLIENT_FRAME_BYTES_MAX);
                      // Hands on one request at a time, and none while reading is switched off.
                      ch.pipeline().addLast(new FlowControlHandler());
                      ch.pipeline().addLast(new Inbound());
                    }
                  })
              .bind(listen)
              .syncUninterruptibly()
              .channel();
    } catch (Throwable e) {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      throw e;
    }
  }

  int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  long requests() {
    return requests.sum();
  }

  long failures() {
    return failures.sum();
  }

  long malformed() {
    return malformed.sum();
  }

  /** One client's connection. */
  private final class Inbound extends SimpleChannelInboundHandler<byte[]> {
    private final Lane lane = new Lane();
    private boolean greeted;

    Inbound() {
      super(byte[].class);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, byte[] bytes) {
      Envelope<Request> envelope = ProtocolCodec.decodeRequest(bytes);
      requests.increment();
      if (!greeted) {
        greet(ctx, envelope);
        return;
      }
      Consumer<Reply> reply = r -> answer(ctx.channel(), envelope.id(), r);
      handler.handle(envelope.message(), lane, reply);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
      ctx.channel().config().setAutoRead(ctx.channel().isWritable());
      ctx.fireChannelWritabilityChanged();
    }

    private void greet(ChannelHandlerContext ctx, Envelope<Request> envelope) {
      if (!(envelope.message() instanceof Request.Hello hello)) {
        refuse(ctx, envelope.id(), ErrorCode.MALFORMED, "the first message must be Hello");
        return;
      }
      if (hello.protocolVersion() != Request.PROTOCOL_VERSION) {
        refuse(
            ctx,
            envelope.id(),
            ErrorCode.VERSION_MISMATCH,
            "client protocol "
                + hello.protocolVersion()
                + " is not "
                + Request.PROTOCOL_VERSION
                + ", which this datacenter speaks");
        return;
      }
      greeted = true;
      answer(
          ctx.channel(),
          envelope.id(),
          new Reply.Welcome(Request.PROTOCOL_VERSION, self, handler.keyspaces()));
    }

    private void refuse(ChannelHandlerContext ctx, long id, ErrorCode code, String message) {
      LOG.warn("client {} is refused: {}: {}", ctx.channel().remoteAddress(), code, message);
      answer(ctx.channel(), id, new Reply.Failure(code, message));
      ctx.executor().schedule(() -> ctx.close(), 100, TimeUnit.MILLISECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      if (cause instanceof MalformedException || cause instanceof TooLongFrameException) {
        malformed.increment();
      }
      LOG.warn(
          "connection of client {} closed: {}", ctx.channel().remoteAddress(), cause.getMessage());
      ctx.close();
    }
  }

  private void answer(Channel channel, long id, Reply reply) {
    if (reply instanceof Reply.Failure) {
      failures.increment();
    }
    ChannelOutboundBuffer unsent = channel.unsafe().outboundBuffer(); // null once it is closed
    if (unsent != null && unsent.totalPendingWriteBytes() > UNSENT_BYTES_MAX) {
      LOG.warn("client {} does not read its answers; connection closed", channel.remoteAddress());
      channel.close();
      return;
    }
    channel.writeAndFlush(ProtocolCodec.encode(id, reply), channel.voidPromise());
  }

  /** Stops to take connections and closes those that are open. */
  @Override
  public void close() {
    server.close();
    loops.shutdownGracefully(50, 1_000, TimeUnit.MILLISECONDS).awaitUninterruptibly(2_000);
  }
}
