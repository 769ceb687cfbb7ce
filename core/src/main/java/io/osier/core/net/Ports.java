package io.osier.core.net;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds ports for servers that are about to start, where others must know them before. Safe for use
 * by several threads.
 */
public final class Ports {
  /** All that were drawn in this JVM. */
  private static final Set<Integer> DRAWN = ConcurrentHashMap.newKeySet();

  private Ports() {}

  /**
   * A port that is free, below those that outgoing connections get, so that none takes it. Another
   * one each time: it is still free while the server that it was drawn for has not started.
   */
  public static int free() {
    for (int i = 0; i < 1_000; i++) {
      int port = ThreadLocalRandom.current().nextInt(12_000, 32_000);
      if (!DRAWN.add(port)) {
        continue;
      }
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // In use: another one.
      }
    }
    throw new IllegalStateException("no port is free between 12000 and 32000");
  }
}
