package io.osier.proxy;

import io.osier.core.ReplicaId;
import io.osier.protocol.Envelope;
import io.osier.protocol.Greeting;
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
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;

/** A datacenter that answers as a test wants: null for no answer. */
public final class FakeServer implements AutoCloseable {
  /** One keyspace of one partition. */
  static final List<Reply.KeyspaceInfo> SHOP =
      List.of(new Reply.KeyspaceInfo("shop", 2_000, 1, false));

  private final ServerSocket server;
  private final Function<Request, Reply> answers;
  private final List<Socket> open = new CopyOnWriteArrayList<>();

  /** The requests that came, without greetings and pings. */
  public final List<Request> requests = new CopyOnWriteArrayList<>();

  public FakeServer(Function<Request, Reply> answers) throws IOException {
    this.server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    this.answers = answers;
    Thread.ofPlatform().daemon(true).start(this::accept);
  }

  /** Greets, and gives signs of life; all else is as the test wants. */
  static FakeServer of(
      ReplicaId who, List<Reply.KeyspaceInfo> keyspaces, Function<Request, Reply> answers)
      throws IOException {
    return of(() -> who, keyspaces, answers);
  }

  /** As the other one, of a datacenter that may be started again. */
  static FakeServer of(
      Supplier<ReplicaId> who, List<Reply.KeyspaceInfo> keyspaces, Function<Request, Reply> answers)
      throws IOException {
    return new FakeServer(
        request ->
            switch (request) {
              case Greeting.Hello h -> new Reply.Welcome(1, who.get(), keyspaces);
              case Request.Ping p -> new Reply.Pong();
              default -> answers.apply(request);
            });
  }

  /** Settings of a client that takes nothing for lost or dead that is only slow. */
  static OsierClient.Builder patient() {
    return OsierClient.builder()
        .timeout(Patience.LIMIT)
        .connectTimeout(Patience.LIMIT)
        .pingInterval(Patience.LIMIT.dividedBy(4));
  }

  public String address() {
    return "127.0.0.1:" + server.getLocalPort();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        open.add(socket);
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
      while (true) {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        Envelope<Request> envelope = ProtocolCodec.decodeRequest(bytes);
        boolean counted =
            envelope.message() instanceof Request.Read
                || envelope.message() instanceof Request.Write
                || envelope.message() instanceof Request.ReadAll
                || envelope.message() instanceof Request.WriteAll
                || envelope.message() instanceof Request.Transact
                || envelope.message() instanceof Request.Repeat;
        if (counted) {
          requests.add(envelope.message());
        }
        // Each on a thread of its own, so that a test can hold one answer back.
        Thread.ofVirtual().start(() -> answer(envelope, out));
      }
    } catch (IOException e) {
      // The client or the test ended the connection.
    }
  }

  private void answer(Envelope<Request> envelope, DataOutputStream out) {
    Reply reply = answers.apply(envelope.message());
    if (reply != null) {
      byte[] answer = ProtocolCodec.encode(envelope.id(), reply);
      synchronized (out) {
        try {
          out.writeInt(answer.length);
          out.write(answer);
        } catch (IOException e) {
          // As above.
        }
      }
    }
  }

  /** Breaks all connections. */
  void drop() throws IOException {
    for (Socket socket : List.copyOf(open)) { // and none that comes meanwhile
      socket.close();
      open.remove(socket);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    drop();
  }
}
