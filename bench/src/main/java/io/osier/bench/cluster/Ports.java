package io.osier.bench.cluster;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds ports for processes that are about to start. */
public final class Ports {
  private Ports() {}

  /** A port that is free, below those that outgoing connections get, so that none takes it. */
  public static int free() {
    for (int i = 0; i < 1_000; i++) {
      int port = ThreadLocalRandom.current().nextInt(12_000, 32_000);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // In use: another one.
      }
    }
    throw new IllegalStateException("no port is free between 12000 and 32000");
  }
}
