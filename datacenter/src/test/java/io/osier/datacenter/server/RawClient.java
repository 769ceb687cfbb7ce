package io.osier.datacenter.server;

import com.ongres.scram.client.ScramClient;
import com.ongres.scram.common.exception.ScramException;
import io.osier.core.scram.ScramCredential;
import io.osier.protocol.Envelope;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;

/** A connection that sends bytes as a test wants them; its reads give up at last. */
public final class RawClient implements AutoCloseable {
  private static final Envelope<Reply> SIGN_OF_LIFE = new Envelope<>(0, new Reply.Pong());

  private final Socket socket;
  private final DataOutputStream out;
  private final DataInputStream in;

  public RawClient(int port) throws IOException {
    this(port, "127.0.0.1");
  }

  /** A connection from some address of this machine. */
  RawClient(int port, String from) throws IOException {
    this.socket = new Socket("127.0.0.1", port, InetAddress.getByName(from), 0);
    socket.setSoTimeout(Patience.MILLIS);
    this.out = new DataOutputStream(socket.getOutputStream());
    this.in = new DataInputStream(socket.getInputStream());
  }

  static byte[] frame(byte... content) {
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.writeBytes(
        new byte[] {
          (byte) (content.length >> 24),
          (byte) (content.length >> 16),
          (byte) (content.length >> 8),
          (byte) content.length
        });
    frame.writeBytes(content);
    return frame.toByteArray();
  }

  public static byte[] frame(long id, Request request) {
    return frame(ProtocolCodec.encode(id, request));
  }

  public RawClient send(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
    return this;
  }

  /** Greets, and takes the answer. */
  public RawClient greet() throws IOException {
    send(frame(0, new Greeting.Hello(Request.PROTOCOL_VERSION, "raw")));
    reply();
    return this;
  }

  /** Logs in, and takes the welcome, or why there is none. */
  public Reply login(String user, String password) throws IOException, ScramException {
    ScramClient scram =
        ScramClient.builder()
            .advertisedMechanisms(List.of(ScramCredential.MECHANISM))
            .username(user)
            .password(password.toCharArray())
            .build();
    String first = scram.clientFirstMessage().toString();
    send(frame(0, new Greeting.Login(Request.PROTOCOL_VERSION, "raw", first)));
    if (!(reply().message() instanceof Reply.Challenge challenge)) {
      throw new IOException("the login is refused");
    }
    scram.serverFirstMessage(challenge.message());
    send(frame(0, new Greeting.Proof(scram.clientFinalMessage().toString())));
    reply(); // that the other end knows the password
    return reply().message();
  }

  /** The next answer, past signs of life: they come where a request takes long to be sent. */
  public Envelope<Reply> reply() throws IOException {
    while (true) {
      Envelope<Reply> reply = any();
      if (!reply.equals(SIGN_OF_LIFE)) {
        return reply;
      }
    }
  }

  /** What comes next, a sign of life or an answer. */
  Envelope<Reply> any() throws IOException {
    byte[] answer = new byte[in.readInt()];
    in.readFully(answer);
    return ProtocolCodec.decodeReply(answer);
  }

  /** Whether the other end closes the connection; what it sends before that is dropped. */
  public boolean isEnded() throws IOException {
    byte[] dropped = new byte[1 << 10];
    try {
      while (in.read(dropped) >= 0) {
        // More may follow.
      }
    } catch (java.net.SocketTimeoutException e) {
      return false;
    } catch (java.net.SocketException e) {
      return true; // closed with bytes of ours unread
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
