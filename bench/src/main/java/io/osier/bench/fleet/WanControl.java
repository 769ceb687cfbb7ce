package io.osier.bench.fleet;

import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanLink.Direction;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * Lets a person cut and heal an emulator's links: one line to a port of this machine, one answer,
 * and the connection ends. One connection at a time. Thread-safe.
 */
final class WanControl implements AutoCloseable {
  /** A line is a word and two names. */
  private static final int LINE_MAX = 200;

  private static final int TIMEOUT_MILLIS = 5_000;

  private final WanEmulator wan;
  private final ServerSocket server;

  /**
   * Listens on this machine alone.
   *
   * @param port 0 for any free one
   */
  WanControl(WanEmulator wan, int port) throws IOException {
    this.wan = wan;
    this.server = new ServerSocket(port, 10, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().name("wan-control").daemon(true).start(this::serve);
  }

  int port() {
    return server.getLocalPort();
  }

  private void serve() {
    while (!server.isClosed()) {
      try (Socket socket = server.accept()) {
        socket.setSoTimeout(TIMEOUT_MILLIS);
        String line = new String(readLine(socket), StandardCharsets.UTF_8).strip();
        write(socket, answer(line));
      } catch (IOException e) {
        // Who asked has gone away, or this is closed.
      }
    }
  }

  private static byte[] readLine(Socket socket) throws IOException {
    byte[] line = new byte[LINE_MAX];
    int length = 0;
    int b = socket.getInputStream().read();
    while (b >= 0 && b != '\n' && length < LINE_MAX) {
      line[length++] = (byte) b;
      b = socket.getInputStream().read();
    }
    return java.util.Arrays.copyOf(line, length);
  }

  private static void write(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /** Does what a line says; what is wrong with it is the answer. */
  String answer(String line) {
    String[] words = line.split("[ -]+", -1);
    try {
      if (words.length == 1 && words[0].equals("links")) {
        return links();
      }
      if (words.length == 3 && List.of("cut", "heal").contains(words[0])) {
        boolean cut = words[0].equals("cut");
        for (String name : both(words[1], words[2])) {
          if (cut) {
            wan.cut(name);
          } else {
            wan.heal(name);
          }
        }
        return words[1] + " - " + words[2] + (cut ? " is cut" : " is healed");
      }
      return "error: say 'links', 'cut eu us' or 'heal eu us', not: " + line;
    } catch (IllegalArgumentException e) {
      return "error: " + e.getMessage();
    }
  }

  /** The two links between two datacenters, of which one may not be there. */
  private List<String> both(String one, String two) {
    List<String> there =
        List.of(one + "-" + two, two + "-" + one).stream().filter(wan.names()::contains).toList();
    if (there.isEmpty()) {
      wan.link(one + "-" + two); // says which there are
    }
    return there;
  }

  private String links() {
    StringBuilder text = new StringBuilder();
    for (String name : new TreeSet<>(wan.names())) {
      text.append(
          String.format(
              Locale.ROOT,
              "%s: %d bytes there, %d back%n",
              name,
              wan.link(name).bytes(Direction.FORTH),
              wan.link(name).bytes(Direction.BACK)));
    }
    return text.toString().strip();
  }

  /** Says a line to the emulator of this machine, and returns its answer. */
  static String tell(int port, String line) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      write(socket, line);
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      return String.join("\n", in.lines().toList());
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
