package io.osier.core.net;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;

/**
 * Finds free ports for servers that are about to start, where others must know the ports before.
 * Safe for use by several threads, and by several processes of a machine at the same time.
 */
public final class Ports {
  /** The first port; all are below those that outgoing connections get, so that none takes one. */
  private static final int FIRST = 12_000;

  private static final int END = 32_000;

  /** The number of ports that are taken at once. */
  static final int BLOCK = 50;

  /**
   * The sockets on the first port of each block that this process has taken. While it listens
   * there, which is as long as it lives, no other process draws from that block.
   */
  private static final List<ServerSocket> HELD = new ArrayList<>();

  private static final Deque<Integer> LEFT = new ArrayDeque<>();

  private Ports() {}

  /**
   * Returns a free port, another one each time: it stays free until its server starts, and between
   * the server's stop and its next start.
   */
  public static synchronized int free() {
    while (true) {
      if (LEFT.isEmpty()) {
        takeBlock();
      }
      int port = LEFT.remove();
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // Something else has this port, so the next one is tried.
      }
    }
  }

  private static void takeBlock() {
    List<Integer> firsts = new ArrayList<>();
    for (int first = FIRST; first < END; first += BLOCK) {
      firsts.add(first);
    }
    Collections.shuffle(firsts);
    for (int first : firsts) {
      try {
        HELD.add(new ServerSocket(first, 1));
      } catch (IOException e) {
        continue; // another process has it, or this one
      }
      for (int port = first + 1; port < first + BLOCK; port++) {
        LEFT.add(port);
      }
      return;
    }
    throw new IllegalStateException("no port is free between " + FIRST + " and " + END);
  }
}
