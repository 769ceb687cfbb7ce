package io.osier.bench.systems;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One connection of Lettuce that sends commands together, as Osier's client does: those that are
 * made while answers are heard go out when all that were read at once have been heard. By itself
 * Lettuce flushes each command, which costs a system call of the client, and one of the server that
 * reads it. A command that another thread makes goes out at once. Thread-safe.
 */
final class GatheredRedis implements AutoCloseable {
  private final Turns turns = new Turns();
  private final ClientResources resources;
  private final RedisClient client;
  private final StatefulRedisConnection<String, byte[]> connection;
  private final RedisAsyncCommands<String, byte[]> commands;

  GatheredRedis(int port) {
    resources =
        ClientResources.builder()
            .nettyCustomizer(
                new NettyCustomizer() {
                  @Override
                  public void afterChannelInitialized(Channel channel) {
                    channel.pipeline().addLast(turns);
                  }
                })
            .build();
    client = RedisClient.create(resources, RedisURI.create("127.0.0.1", port));
    connection = client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE));
    commands = connection.async();
    connection.setAutoFlushCommands(false);
    turns.ended = connection::flushCommands;
  }

  CompletionStage<?> send(
      Function<RedisAsyncCommands<String, byte[]>, ? extends CompletionStage<?>> command) {
    CompletionStage<?> answer = command.apply(commands);
    if (!turns.isOfThisThread()) {
      connection.flushCommands();
    }
    return answer;
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown();
    resources.shutdown();
  }

  /** Tells when all that was read at once has been heard, by the thread that reads. */
  @Sharable
  private static final class Turns extends ChannelInboundHandlerAdapter {
    private volatile @Nullable Runnable ended;
    private volatile @Nullable ChannelHandlerContext context;

    boolean isOfThisThread() {
      ChannelHandlerContext present = context;
      return present != null && present.executor().inEventLoop();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
      context = added;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext of) {
      Runnable flush = ended;
      if (flush != null) {
        flush.run();
      }
      of.fireChannelReadComplete();
    }
  }
}
