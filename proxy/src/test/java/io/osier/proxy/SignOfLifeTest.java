package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.Sockets;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Envelope;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.connection.RemoteConnection;
import io.osier.testing.Patience;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A slow connection is not a dead one: whatever bytes come over it show that it lives. */
final class SignOfLifeTest {
  private static final ReplicaId EU = new ReplicaId("eu", 100);
  private static final List<Reply.KeyspaceInfo> SHOP =
      List.of(new Reply.KeyspaceInfo("shop", 500, 1, false));

  /** With {@link #PINGS}, longer than the client waits for a pong. */
  private static final int SIGNS = 10;

  /** A sign after so many pings, a quarter of how long the client waits for a pong. */
  private static final int PINGS = 5;

  /** How often the client pings. */
  private static final Duration PING = Duration.ofMillis(50);

  private static final int STEPS_MAX = 10 * SIGNS * PINGS;

  /** Never answers a ping, as behind something large; signs of life instead, then the answer. */
  private static final class Slow implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    final AtomicInteger connections = new AtomicInteger();

    /** One for each ping that has come, once what it causes has been sent. */
    final Semaphore pinged = new Semaphore(0);

    /** Whether the signs are pongs; otherwise bytes of the answer that is under way. */
    private final boolean pongs;

    Slow(boolean pongs) throws IOException {
      this.pongs = pongs;
      Thread.ofPlatform().daemon(true).start(this::accept);
    }

    private void accept() {
      while (!server.isClosed()) {
        try {
          Socket socket = server.accept();
          connections.incrementAndGet();
          Thread.ofPlatform().daemon(true).start(() -> serve(socket));
        } catch (IOException e) {
          return;
        }
      }
    }

    private void serve(Socket socket) {
      try (socket) {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        byte[] answer = null;
        int sent = 0;
        int pings = 0;
        while (true) {
          Envelope<Request> envelope = ProtocolCodec.decodeRequest(read(in));
          switch (envelope.message()) {
            case Greeting.Hello h -> send(out, envelope.id(), new Reply.Welcome(1, EU, SHOP));
            case Request.Read r -> {
              answer = answer(envelope.id());
              if (!pongs) {
                out.writeInt(answer.length);
              }
            }
            case Request.Ping p -> {
              if (answer != null && sent < SIGNS && ++pings % PINGS == 0) {
                sign(out, answer[sent++]);
                if (sent == SIGNS) {
                  end(out, answer);
                }
              }
              pinged.release();
            }
            default -> {}
          }
        }
      } catch (IOException e) {
        // The client or the test ended the connection.
      }
    }

    private static byte[] answer(long id) {
      Reply count =
          new Reply.Answer(
              CrdtType.PN_COUNTER, new Reading.Count(7), VersionVector.of(EU, 1_000_000));
      byte[] answer = ProtocolCodec.encode(id, count);
      assertThat(answer).hasSizeGreaterThan(SIGNS);
      return answer;
    }

    private void sign(DataOutputStream out, byte next) throws IOException {
      if (pongs) {
        send(out, 0, new Reply.Pong());
      } else {
        out.write(next);
      }
    }

    private void end(DataOutputStream out, byte[] answer) throws IOException {
      if (pongs) {
        out.writeInt(answer.length);
        out.write(answer);
      } else {
        out.write(answer, SIGNS, answer.length - SIGNS);
      }
    }

    private static byte[] read(DataInputStream in) throws IOException {
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      return bytes;
    }

    private static void send(DataOutputStream out, long id, Reply reply) throws IOException {
      byte[] bytes = ProtocolCodec.encode(id, reply);
      out.writeInt(bytes.length);
      out.write(bytes);
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  /** The client's time, which goes on when the test lets it. */
  private static final class Steps implements Timers {
    private final AtomicLong now = new AtomicLong();

    void pass(long millis) {
      now.addAndGet(millis * 1_000_000);
    }

    @Override
    public long nanoTime() {
      return now.get();
    }

    @Override
    public long pauseMillis(long longest) {
      return longest;
    }

    @Override
    public UUID newId() {
      return new UUID(0, 1);
    }

    @Override
    public void later(Runnable action, long millis) {
      throw new AssertionError("nothing is tried again");
    }

    @Override
    public void close() {}
  }

  private static Connection connection(Slow eu, Timers timers, EventLoopGroup loops) {
    return new RemoteConnection(
        "eu",
        new InetSocketAddress("127.0.0.1", eu.server.getLocalPort()),
        FakeServer.patient().pingInterval(PING).settings().dialling(),
        ClientMetrics.NONE,
        timers,
        Sockets.over(loops),
        () -> {});
  }

  private static void readsOverOneConnection(boolean pongs) throws Exception {
    Steps steps = new Steps();
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try (Slow eu = new Slow(pongs)) {
      Connection connection = connection(eu, steps, loops);
      connection.open();
      await().until(connection::isUp);
      Request read =
          new Request.Read(
              "shop",
              Key.of("c"),
              Optional.of(CrdtType.PN_COUNTER),
              new Query.Whole(),
              VersionVector.EMPTY,
              false,
              0);
      CompletableFuture<Reply> answer = connection.send(read, Duration.ofHours(1).toMillis());
      for (int step = 0; step < STEPS_MAX && !answer.isDone(); step++) {
        connection.ping();
        assertThat(eu.pinged.tryAcquire(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Reply> brief = connection.send(new Request.Keyspaces(), 1);
        steps.pass(PING.toMillis());
        // Once this one is over, the client has looked which of the others are.
        assertThat(brief).failsWithin(Patience.LIMIT);
      }
      assertThat(answer)
          .succeedsWithin(Patience.LIMIT)
          .isInstanceOfSatisfying(
              Reply.Answer.class, a -> assertThat(a.reading()).contains(new Reading.Count(7)));
      assertThat(steps.nanoTime()).as("longer than a ping may take").isGreaterThan(2_000_000_000L);
      assertThat(connection.isUp()).isTrue();
      assertThat(eu.connections).as("connections that were needed").hasValue(1);
      connection.close();
    } finally {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  @Test
  void silence_endsTheConnection_andItIsOpenedAgain() throws Exception {
    Steps steps = new Steps();
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try (Slow eu = new Slow(true)) {
      Connection connection = connection(eu, steps, loops);
      connection.open(); // and pings as soon as it is up
      assertThat(eu.pinged.tryAcquire(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
      steps.pass(2_000); // twice as long as it waits for a pong
      assertThat(eu.pinged.tryAcquire(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(eu.connections).hasValue(2);
      connection.close();
    } finally {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  @Test
  void pongBehindALargeAnswer_doesNotEndTheConnection() throws Exception {
    readsOverOneConnection(false);
  }

  @Test
  void pingBehindALargeRequest_doesNotEndTheConnection_whileTheOtherEndGivesSigns()
      throws Exception {
    readsOverOneConnection(true);
  }
}
