package io.osier.bench.systems;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A plain Netty server, which {@link EchoTarget} measures beside a datacenter. */
@Command(
    name = "echo",
    hidden = true,
    mixinStandardHelpOptions = true,
    description = "Answers frames with frames; started by osier bench run client.")
public final class EchoCommand implements Callable<Integer> {
  private static final int LENGTH_BYTES = 4;
  private static final int FLUSH_AFTER = 128;
  private static final int FRAME_BYTES_MAX = 1 << 20;
  private static final byte[] ZEROS = new byte[4096];

  @Option(names = "--port", required = true, description = "where it listens, on 127.0.0.1")
  private int port;

  @Override
  public Integer call() throws InterruptedException {
    // The same number of loops and the same transport as a datacenter's.
    var loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    new ServerBootstrap()
        .group(loops)
        .channel(NioServerSocketChannel.class)
        .option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(
            frames(
                (context, request) -> {
                  int bytes = request.readUnsignedShort();
                  context.writeAndFlush(
                      frame(context.alloc(), bytes, bytes), context.voidPromise());
                }))
        .bind("127.0.0.1", port)
        .sync()
        .channel()
        .closeFuture()
        .sync();
    return 0;
  }

  /**
   * Returns handlers of frames of four bytes of length and the content, as Osier has them. They are
   * Netty's own, so that the echo does not change with Osier.
   */
  static ChannelInitializer<SocketChannel> frames(BiConsumer<ChannelHandlerContext, ByteBuf> take) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(SocketChannel channel) {
        channel
            .pipeline()
            .addLast(
                new FlushConsolidationHandler(FLUSH_AFTER, true),
                new LengthFieldBasedFrameDecoder(FRAME_BYTES_MAX, 0, LENGTH_BYTES, 0, LENGTH_BYTES),
                new SimpleChannelInboundHandler<ByteBuf>(ByteBuf.class) {
                  @Override
                  protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
                    take.accept(context, frame);
                  }
                });
      }
    };
  }

  /**
   * Returns a frame of {@code bytes} of content, of which the first two are the answer's length.
   */
  static ByteBuf frame(ByteBufAllocator allocator, int bytes, int answerBytes) {
    ByteBuf frame = allocator.ioBuffer(LENGTH_BYTES + bytes);
    return frame.writeInt(bytes).writeShort(answerBytes).writeBytes(ZEROS, 0, bytes - Short.BYTES);
  }
}
