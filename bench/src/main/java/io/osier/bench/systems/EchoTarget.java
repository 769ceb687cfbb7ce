package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Jvm;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A plain echo server in another process; requests and replies have the sizes of a datacenter's.
 */
final class EchoTarget implements Target {
  private static final int TRIES = 300;

  private final Path log = Files.createTempFile("osier-echo", ".log");
  private final Process process;
  private final int port = Ports.free();

  EchoTarget() throws IOException {
    process = Jvm.start(log, List.of(), "-Xmx512m", "bench", "echo", "--port=" + port);
  }

  @Override
  public int nodes() {
    return 1;
  }

  /** Opens one connection on one event loop, as the client library does. */
  @Override
  public Calls calls(int node, Config load) throws IOException {
    String keyspace = load.getString("keyspace");
    var loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    // Futures in the order of the requests, which is that of the answers. Used by the loop only.
    ArrayDeque<CompletableFuture<Void>> waiting = new ArrayDeque<>();
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(EchoCommand.frames((context, reply) -> waiting.remove().complete(null)));
    Channel channel = connect(bootstrap);
    channel
        .closeFuture()
        .addListener(
            closed -> waiting.forEach(w -> w.completeExceptionally(new IOException("it is gone"))));
    return new Calls() {
      @Override
      public Call call(String operation) {
        int[] bytes = bytes(keyspace, operation);
        return (key, number) -> {
          CompletableFuture<Void> done = new CompletableFuture<>();
          if (channel.eventLoop().inEventLoop()) {
            send(bytes, done);
          } else {
            channel.eventLoop().execute(() -> send(bytes, done));
          }
          return done;
        };
      }

      private void send(int[] bytes, CompletableFuture<Void> done) {
        waiting.add(done);
        channel.writeAndFlush(
            EchoCommand.frame(channel.alloc(), bytes[0], bytes[1]), channel.voidPromise());
      }

      @Override
      public void fill(String operation, int keys) {
        // It keeps nothing.
      }

      @Override
      public void close() {
        channel.close();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      }
    };
  }

  private Channel connect(Bootstrap bootstrap) throws IOException {
    for (int i = 0; i < TRIES; i++) {
      ChannelFuture connected = bootstrap.connect("127.0.0.1", port).awaitUninterruptibly();
      if (connected.isSuccess()) {
        return connected.channel();
      }
      LockSupport.parkNanos(100_000_000); // the server is starting
    }
    throw new IOException("the echo does not answer on port " + port);
  }

  /** Returns the bytes of a request and of its reply. */
  private static int[] bytes(String keyspace, String operation) {
    long id = 1_000_000;
    Key key = Key.of("c555");
    Optional<CrdtType> type = Optional.of(CrdtType.PN_COUNTER);
    Dot dot = new Dot(new ReplicaId("eu", System.currentTimeMillis()), 1_000_000);
    VersionVector seen = VersionVector.of(dot.replica(), dot.number());
    Reply.Answer answer = new Reply.Answer(type, Optional.of(new Reading.Count(1_000)), true, seen);
    Request read =
        new Request.Read(keyspace, key, type, new Query.Whole(), VersionVector.EMPTY, false, 5_000);
    Operation one = new Operation.Increment(1);
    Request write =
        new Request.Write(keyspace, key, CrdtType.PN_COUNTER, one, VersionVector.EMPTY, 5_000);
    return switch (operation) {
      case "get" -> sizes(id, read, answer);
      case "increment" -> sizes(id, write, new Reply.Done(dot));
      default -> throw Calls.unsupported("the operation " + operation);
    };
  }

  private static int[] sizes(long id, Request request, Reply reply) {
    return new int[] {
      ProtocolCodec.encode(id, request).length, ProtocolCodec.encode(id, reply).length
    };
  }

  @Override
  public Duration cpu() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    Jvm.stop(process);
    Directories.deleteQuietly(log);
  }
}
