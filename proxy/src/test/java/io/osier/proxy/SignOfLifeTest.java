package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Envelope;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A slow connection is not a dead one: whatever bytes come over it show that it lives. */
final class SignOfLifeTest {
  private static final ReplicaId EU = new ReplicaId("eu", 100);
  private static final List<Reply.KeyspaceInfo> SHOP =
      List.of(new Reply.KeyspaceInfo("shop", 500, 1, false));

  /** With {@link #PINGS}, longer than the client waits for a pong. */
  private static final int SIGNS = 10;

  /** A sign after so many pings. */
  private static final int PINGS = 5;

  /** Never answers a ping, as behind something large; signs of life instead, then the answer. */
  private static final class Slow implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    final AtomicInteger connections = new AtomicInteger();

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
            case Request.Hello h -> send(out, envelope.id(), new Reply.Welcome(1, EU, SHOP));
            case Request.Read r -> {
              answer = answer(envelope.id());
              if (!pongs) {
                out.writeInt(answer.length);
              }
            }
            default -> {
              if (answer != null && sent < SIGNS && ++pings % PINGS == 0) {
                sign(out, answer[sent++]);
                if (sent == SIGNS) {
                  end(out, answer);
                }
              }
            }
          }
        }
      } catch (IOException e) {
        // The client or the test ended the connection.
      }
    }

    private static byte[] answer(long id) {
      Reply count =
          new Reply.Answer(
              Optional.of(CrdtType.PN_COUNTER),
              Optional.of(new Reading.Count(7)),
              true,
              VersionVector.of(EU, 1_000_000));
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

  private static void readsOverOneConnection(boolean pongs) throws IOException {
    try (Slow eu = new Slow(pongs);
        OsierClient client =
            OsierClient.builder()
                .endpoint("eu", "127.0.0.1:" + eu.server.getLocalPort())
                .pingInterval(Duration.ofMillis(50))
                .timeout(Patience.LIMIT)
                .build()) {
      client.awaitConnected(Duration.ofMinutes(2));
      assertThat(client.session().keyspace("shop").counter("c").get()).isEqualTo(7);
      assertThat(eu.connections).as("connections that were needed").hasValue(1);
    }
  }

  @Test
  void pongBehindALargeAnswer_doesNotEndTheConnection() throws IOException {
    readsOverOneConnection(false);
  }

  @Test
  void pingBehindALargeRequest_doesNotEndTheConnection_whileTheOtherEndGivesSigns()
      throws IOException {
    readsOverOneConnection(true);
  }
}
