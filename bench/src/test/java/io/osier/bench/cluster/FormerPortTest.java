package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.net.Framing;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Request;
import java.io.DataInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;

/** This build's clients and a former build's datacenters understand each other. */
final class FormerPortTest {
  private static byte[] content(long id, Request request) {
    return ProtocolCodec.encode(id, request);
  }

  private static void send(Socket to, byte[] content) throws Exception {
    byte[] frame = new byte[Framing.LENGTH_BYTES + content.length];
    Framing.putLength(frame, 0, content.length);
    System.arraycopy(content, 0, frame, Framing.LENGTH_BYTES, content.length);
    to.getOutputStream().write(frame);
  }

  private static byte[] frame(Socket from) throws Exception {
    DataInputStream in = new DataInputStream(from.getInputStream());
    byte[] content = new byte[in.readInt()];
    in.readFully(content);
    return content;
  }

  @Test
  void greeting_isInAFormerVersion_andAllElseAsItIs() throws Exception {
    try (ServerSocket datacenter = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        FormerPort port = new FormerPort(datacenter.getLocalPort());
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port.port())) {
      send(client, content(0, new Greeting.Hello(Request.PROTOCOL_VERSION, "c")));
      send(client, content(1, new Request.Ping()));
      try (Socket there = datacenter.accept()) {
        assertThat(frame(there)).isEqualTo(content(0, new Greeting.Hello(7, "c")));
        assertThat(frame(there)).isEqualTo(content(1, new Request.Ping()));
        send(there, new byte[] {11});
        assertThat(frame(client)).containsExactly(11);
      }
      assertThat(client.getInputStream().read()).as("both end").isEqualTo(-1);
    }
  }
}
