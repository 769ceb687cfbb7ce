package io.osier.datacenter.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.osier.core.ErrorCode;
import io.osier.core.OutOfMemory;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.proxy.protocol.Envelope;
import io.osier.proxy.protocol.FrameReader;
import io.osier.proxy.protocol.Framing;
import io.osier.proxy.protocol.Outgoing;
import io.osier.proxy.protocol.ProtocolCodec;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
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
  private static final WriteBufferWaterMark UNSENT_MARKS =
      new WriteBufferWaterMark(1 << 20, 4 << 20);

  /** Answers to requests that were under way when the mark was passed still come, up to this. */
  private static final long UNSENT_BYTES_MAX = 256L << 20;

  /** A client whose request takes longer to come hears so often that it is still being taken. */
  private static final long SIGN_MILLIS = 500;

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
                      ch.pipeline().addLast(new Inbound(ch));
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
  private final class Inbound extends FrameReader {
    private final Lane lane = new Lane();
    private final Channel channel;
    private final Outgoing<Envelope<Reply>> replies;
    private boolean greeted;
    private boolean signDue;

    Inbound(Channel channel) {
      super(Framing.CLIENT_FRAME_BYTES_MAX);
      this.channel = channel;
      this.replies = new Replies();
    }

    /** Answers on their way out. */
    private final class Replies extends Outgoing<Envelope<Reply>> {
      Replies() {
        super(channel);
      }

      @Override
      protected boolean write(WireOutput to, Envelope<Reply> answer) {
        ProtocolCodec.write(to, answer.id(), answer.message());
        return true;
      }

      @Override
      protected boolean beforeFlush() {
        ChannelOutboundBuffer unsent = channel.unsafe().outboundBuffer(); // null once it is closed
        if (unsent == null) {
          return false;
        }
        if (unsent.totalPendingWriteBytes() > UNSENT_BYTES_MAX) {
          LOG.warn(
              "client {} does not read its answers; connection closed", channel.remoteAddress());
          channel.close();
          return false;
        }
        return true;
      }

      @Override
      protected void failed(Envelope<Reply> answer, RuntimeException cause) {
        LOG.error("an answer to client {} cannot be sent", channel.remoteAddress(), cause);
        channel.close(); // who waits for it must not wait for ever
      }

      @Override
      protected boolean flushesSoon() {
        return isReading();
      }
    }

    private void answer(long id, Reply reply) {
      if (reply instanceof Reply.Failure) {
        failures.increment();
      }
      replies.add(new Envelope<>(id, reply));
    }

    @Override
    protected void frames(ChannelHandlerContext ctx) {
      replies.flush();
    }

    @Override
    protected void begun(ChannelHandlerContext ctx) {
      if (!signDue && greeted) {
        signDue = true;
        ctx.executor().schedule(this::giveSign, SIGN_MILLIS, TimeUnit.MILLISECONDS);
      }
    }

    /** Of a client whose ping waits behind its own large request. */
    private void giveSign() {
      signDue = false;
      if (isInFrame() && channel.isActive()) {
        answer(0, new Reply.Pong());
      }
    }

    @Override
    protected void frame(ChannelHandlerContext ctx, WireInput content) {
      long id = ProtocolCodec.decodeId(content); // where there is none, nobody can be answered
      requests.increment();
      Request request;
      try {
        request = ProtocolCodec.decodeRequestBody(content);
      } catch (MalformedException e) {
        malformed.increment();
        if (greeted) {
          answer(id, new Reply.Failure(e.code(), "the request cannot be read: " + e.getMessage()));
        } else {
          refuse(ctx, id, e.code(), "the greeting cannot be read: " + e.getMessage());
        }
        return;
      }
      if (greeted) {
        handler.handle(request, lane, r -> answer(id, r));
      } else {
        greet(ctx, id, request);
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
      boolean writable = channel.isWritable();
      channel.config().setAutoRead(writable);
      if (writable) {
        resume(ctx);
      } else {
        pause();
      }
      ctx.fireChannelWritabilityChanged();
    }

    private void greet(ChannelHandlerContext ctx, long id, Request request) {
      if (!(request instanceof Request.Hello hello)) {
        refuse(ctx, id, ErrorCode.MALFORMED, "the first message must be Hello");
        return;
      }
      if (hello.protocolVersion() != Request.PROTOCOL_VERSION) {
        refuse(
            ctx,
            id,
            ErrorCode.VERSION_MISMATCH,
            "client protocol "
                + hello.protocolVersion()
                + " is not "
                + Request.PROTOCOL_VERSION
                + ", which this datacenter speaks");
        return;
      }
      greeted = true;
      answer(id, new Reply.Welcome(Request.PROTOCOL_VERSION, self, handler.keyspaces()));
    }

    private void refuse(ChannelHandlerContext ctx, long id, ErrorCode code, String message) {
      LOG.warn("client {} is refused: {}: {}", ctx.channel().remoteAddress(), code, message);
      answer(id, new Reply.Failure(code, message));
      end();
      ctx.executor().schedule(() -> ctx.close(), 100, TimeUnit.MILLISECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      OutOfMemory.report(cause);
      if (cause instanceof MalformedException || cause instanceof TooLongFrameException) {
        malformed.increment();
      }
      LOG.warn(
          "connection of client {} closed: {}", ctx.channel().remoteAddress(), cause.getMessage());
      ctx.close();
    }
  }

  /** Stops to take connections and closes those that are open. */
  @Override
  public void close() {
    server.close();
    loops.shutdownGracefully(50, 1_000, TimeUnit.MILLISECONDS).awaitUninterruptibly(2_000);
  }
}
