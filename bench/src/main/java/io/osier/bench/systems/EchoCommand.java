package io.osier.bench.systems;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The plain server that {@link EchoTarget} measures beside a datacenter. */
@Command(
    name = "echo",
    hidden = true,
    mixinStandardHelpOptions = true,
    description = "Answers frames with frames; started by osier bench run client.")
public final class EchoCommand implements Callable<Integer> {
  @Option(names = "--port", required = true, description = "where it listens, on 127.0.0.1")
  private int port;

  /** For picocli. */
  public EchoCommand() {}

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
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                EchoFrames.addTo(channel.pipeline());
                channel.pipeline().addLast(new Answer());
              }
            })
        .bind("127.0.0.1", port)
        .sync()
        .channel()
        .closeFuture()
        .sync();
    return 0;
  }

  private static final class Answer extends SimpleChannelInboundHandler<ByteBuf> {
    Answer() {
      super(ByteBuf.class);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf request) {
      int bytes = request.readUnsignedShort();
      context.writeAndFlush(EchoFrames.frame(context.alloc(), bytes, bytes), context.voidPromise());
    }
  }
}
