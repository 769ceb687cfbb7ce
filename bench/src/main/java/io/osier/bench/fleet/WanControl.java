package io.osier.bench.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Cuts and heals an emulator's links by commands, which are posted as a line of text to a port of
 * this machine. Thread-safe.
 */
final class WanControl implements AutoCloseable {
  /** The most bytes of a command, which is a word and two names. */
  private static final int LINE_MAX = 200;

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final WanEmulator wan;
  private final HttpServer server;

  /**
   * Listens for commands on this machine alone.
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
      String line = new String(exchange.getRequestBody().readNBytes(LINE_MAX), UTF_8).strip();
      String answer;
      try {
        answer = answer(line.split("[ -]+", -1));
      } catch (IllegalArgumentException e) {
        answer = "error: " + e.getMessage();
      }
      byte[] bytes = answer.getBytes(UTF_8);
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private String answer(String... words) {
    if (words.length == 1 && words[0].equals("links")) {
      return wan.names().stream()
          .sorted()
          .map(
              name ->
                  "%s: %d bytes there, %d back"
                      .formatted(
                          name,
                          wan.link(name).bytes(Direction.FORTH),
                          wan.link(name).bytes(Direction.BACK)))
          .collect(Collectors.joining("\n"));
    }
    if (words.length != 3 || !List.of("cut", "heal").contains(words[0])) {
      throw new IllegalArgumentException("say 'links', 'cut eu us' or 'heal eu us'");
    }
    String there = words[1] + "-" + words[2];
    List<String> both =
        Stream.of(there, words[2] + "-" + words[1]).filter(wan.names()::contains).toList();
    // An unknown link is named by the exception.
    for (String name : both.isEmpty() ? List.of(there) : both) {
      if (words[0].equals("cut")) {
        wan.link(name).cut();
      } else {
        wan.link(name).heal();
      }
    }
    return words[1] + " - " + words[2] + (words[0].equals("cut") ? " is cut" : " is healed");
  }

  /** Sends a command to this machine's emulator, and returns the answer. */
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
