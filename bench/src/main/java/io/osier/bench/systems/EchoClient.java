package io.osier.bench.systems;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A plain client of {@link EchoCommand}: one connection, one loop, as the client library has. */
final class EchoClient implements AutoCloseable {
  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("echo-client", true), NioIoHandler.newFactory());
  private final Channel channel;

  /** Who waits, in the order of the requests, which is that of the answers. For the loop only. */
  private final ArrayDeque<CompletableFuture<Void>> waiting = new ArrayDeque<>();

  /**
   * Connects.
   *
   * @throws IOException if nobody listens there
   */
  EchoClient(int port) throws IOException {
    var connected =
        new Bootstrap()
            .group(loops)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel ch) {
                    EchoFrames.addTo(ch.pipeline());
                    ch.pipeline().addLast(new Inbound());
                  }
                })
            .connect("127.0.0.1", port)
            .awaitUninterruptibly();
    if (!connected.isSuccess()) {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      throw new IOException("the echo does not answer on port " + port, connected.cause());
    }
    channel = connected.channel();
  }

  /** Calls with a request and a reply of these sizes, in bytes without their lengths. */
  CompletableFuture<Void> call(int requestBytes, int replyBytes) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    if (channel.eventLoop().inEventLoop()) {
      send(requestBytes, replyBytes, done);
    } else {
      channel.eventLoop().execute(() -> send(requestBytes, replyBytes, done));
    }
    return done;
  }

  private void send(int requestBytes, int replyBytes, CompletableFuture<Void> done) {
    waiting.add(done);
    channel.writeAndFlush(
        EchoFrames.frame(channel.alloc(), requestBytes, replyBytes), channel.voidPromise());
  }

  private final class Inbound extends SimpleChannelInboundHandler<ByteBuf> {
    Inbound() {
      super(ByteBuf.class);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf reply) {
      waiting.poll().complete(null);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      while (!waiting.isEmpty()) {
        waiting.poll().completeExceptionally(new IOException("the echo is gone"));
      }
    }
  }

  @Override
  public void close() {
    channel.close();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
