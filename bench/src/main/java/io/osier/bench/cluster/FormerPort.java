package io.osier.bench.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A port in front of a datacenter of a former build: it rewrites the greetings of this build's
 * clients to the version of the client protocol that both builds know. Clients must only send
 * requests of that version.
 */
final class FormerPort implements AutoCloseable {
  /** The newest client protocol version of commit 40bc47b. */
  private static final byte VERSION = 7;

  /** The version's offset in a greeting: after the length, the format, the id and the type. */
  private static final int VERSION_AT = 7;

  private final int target;
  private final ServerSocket server;

  /**
   * Listens at a free port.
   *
   * @param target the port at which the datacenter listens for clients
   */
  FormerPort(int target) {
    this.target = target;
    try {
      this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.startVirtualThread(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = server.accept();
        Thread.startVirtualThread(() -> serve(client));
      }
    } catch (IOException e) {
      // It is closed.
    }
  }

  private void serve(Socket client) {
    try (client;
        Socket datacenter = new Socket(InetAddress.getLoopbackAddress(), target)) {
      client.setTcpNoDelay(true);
      datacenter.setTcpNoDelay(true);
      byte[] greeting = client.getInputStream().readNBytes(VERSION_AT + 1);
      if (greeting.length > VERSION_AT) {
        greeting[VERSION_AT] = VERSION;
      }
      datacenter.getOutputStream().write(greeting);
      Thread.startVirtualThread(() -> pass(datacenter, client));
      pass(client, datacenter);
    } catch (IOException e) {
      // The datacenter is down: the client sees its connection end, and comes again.
    }
  }

  /** Copies bytes from one socket to the other until one of them is closed. */
  private static void pass(Socket from, Socket to) {
    try (from;
        to;
        InputStream in = from.getInputStream()) {
      in.transferTo(to.getOutputStream());
    } catch (IOException e) {
      // One of the sockets is closed, and so both are now.
    }
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
