package io.osier.bench.fleet;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanLink.Direction;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * Lets a person cut and heal an emulator's links: one line is posted to a port of this machine, and
 * answered. Thread-safe.
 */
final class WanControl implements AutoCloseable {
  /** A line is a word and two names. */
  private static final int LINE_MAX = 200;

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final WanEmulator wan;
  private final HttpServer server;

  /**
   * Listens on this machine alone.
   *
   * @param port 0 for any free one
   */
  WanControl(WanEmulator wan, int port) throws IOException {
    this.wan = wan;
    this.server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10);
    server.createContext("/", this::serve);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] line = exchange.getRequestBody().readNBytes(LINE_MAX);
      byte[] answer =
          answer(new String(line, StandardCharsets.UTF_8).strip()).getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
    }
  }

  /** Does what a line says; what is wrong with it is the answer. */
  private String answer(String line) {
    String[] words = line.split("[ -]+", -1);
    try {
      if (words.length == 1 && words[0].equals("links")) {
        return links();
      }
      if (words.length == 3 && List.of("cut", "heal").contains(words[0])) {
        boolean cut = words[0].equals("cut");
        both(words[1], words[2]).forEach(cut ? wan::cut : wan::heal);
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
    URI uri = URI.create("http://127.0.0.1:" + port + "/");
    try (HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build()) {
      HttpRequest request =
          HttpRequest.newBuilder(uri)
              .timeout(TIMEOUT)
              .POST(HttpRequest.BodyPublishers.ofString(line))
              .build();
      return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
