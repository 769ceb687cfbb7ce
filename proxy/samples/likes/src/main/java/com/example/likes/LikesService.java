package com.example.likes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.osier.core.AmbiguousException;
import io.osier.core.InvalidRequestException;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Osier;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;

/**
 * Counts likes: {@code POST /likes/42} adds one, {@code DELETE /likes/42} takes one back, {@code
 * GET /likes/42} tells how many there are. Run one beside each datacenter: every like counts,
 * wherever it comes in, also while the datacenters cannot reach each other.
 */
public final class LikesService implements AutoCloseable {
  private static final String PATH = "/likes/";

  private final OsierClient client;
  private final Keyspace likes;
  private final HttpServer server;

  /**
   * Starts to serve.
   *
   * @param client closed with the service
   * @param port 0 for any that is free
   */
  public LikesService(OsierClient client, String keyspace, int port) throws IOException {
    this.client = client;
    // One session for all: whoever is served here sees what was liked here before.
    this.likes = client.session().keyspace(keyspace);
    this.server = HttpServer.create(new InetSocketAddress(port), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(PATH, this::answer);
    server.start();
  }

  /** Where it listens. */
  public int port() {
    return server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String key = "likes:" + exchange.getRequestURI().getPath().substring(PATH.length());
    int status = 200;
    String text;
    try {
      text =
          switch (exchange.getRequestMethod()) {
            case "GET" -> "" + likes.counter(key).get();
            case "POST" -> "" + likes.counter(key).incrementAndGet(1);
            case "DELETE" -> "" + likes.counter(key).incrementAndGet(-1);
            default -> {
              status = 405;
              yield "GET, POST or DELETE";
            }
          };
    } catch (AmbiguousException e) {
      status = 504; // it may be counted or not: ask before you try again
      text = e.getMessage();
    } catch (InvalidRequestException e) {
      status = 400;
      text = e.getMessage();
    } catch (OsierException e) {
      status = 503; // nothing was counted
      text = e.getMessage();
    }
    byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    exchange.sendResponseHeaders(status, body.length);
    try (exchange) {
      exchange.getResponseBody().write(body);
    }
  }

  /** Takes no further requests, and lets those that are under way end. */
  @Override
  public void close() {
    server.stop(1);
    client.close(Duration.ofSeconds(5));
  }

  /**
   * Runs it at port 8080.
   *
   * @param args the datacenters as NAME=HOST:PORT; a local server's if there is none
   */
  public static void main(String[] args) throws IOException {
    String[] datacenters = args.length > 0 ? args : new String[] {"local=localhost:7400"};
    LikesService service = new LikesService(Osier.connect(datacenters), "default", 8080);
    Runtime.getRuntime().addShutdownHook(new Thread(service::close));
    System.out.println("try: curl -X POST localhost:" + service.port() + "/likes/42");
  }
}
