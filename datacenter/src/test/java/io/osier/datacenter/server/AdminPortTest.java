package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.datacenter.config.ConfigReader;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Health and metrics are there for whoever asks properly, whatever others do. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class AdminPortTest {
  private final int port = TestCluster.freePort();
  private final HttpClient http = HttpClient.newHttpClient();
  private Datacenter datacenter;

  @BeforeAll
  void start() {
    datacenter =
        Datacenter.start(
            ConfigReader.read(
                "test",
                """
                osier {
                  dc = eu, store.dir = "", keyspaces { shop {} }
                  listen { client-port = 0, peer-port = 0, greeting-timeout = 3s }
                  admin { enabled = true, port = %d, connections = 10 }
                }
                """
                    .formatted(port),
                Map.of()));
  }

  @AfterAll
  void stop() {
    http.close();
    datacenter.close();
  }

  private HttpResponse<String> get(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(10))
            .build();
    try {
      return http.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private String raw(String request) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void halfARequest_blocksNobody_andIsClosed() throws IOException {
    try (Socket half = new Socket("127.0.0.1", port)) {
      half.setSoTimeout(20_000);
      half.getOutputStream().write("GET /metr".getBytes(StandardCharsets.US_ASCII));
      assertThat(get("/health").statusCode()).isEqualTo(200);
      // It is there once the partitions have published what they do.
      await()
          .atMost(Duration.ofSeconds(15))
          .untilAsserted(
              () -> assertThat(get("/metrics").body()).contains("osier_client_request_seconds"));
      assertThat(half.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void connectionsOverTheLimit_areClosed_untilOthersEnd() throws IOException {
    List<Socket> sockets = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      sockets.add(new Socket("127.0.0.1", port));
    }
    try (Socket more = new Socket("127.0.0.1", port)) {
      more.setSoTimeout(2_500);
      assertThat(more.getInputStream().read()).isEqualTo(-1);
    }
    for (Socket socket : sockets) {
      socket.close();
    }
    Awaitility.await()
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(get("/health").statusCode()).isEqualTo(200));
  }

  @Test
  void requestsThatAreNone_areAnsweredWithTheReason() throws IOException {
    assertThat(raw("GET /nothing HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 404 ");
    assertThat(raw("POST /health HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 405 ");
    assertThat(raw("hello\r\n\r\n")).startsWith("HTTP/1.1 400 ");
    assertThat(raw("GET /" + "x".repeat(20_000))).startsWith("HTTP/1.1 431 ");
    assertThat(raw("HEAD /health HTTP/1.0\r\nHost: a\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ")
        .endsWith("\r\n\r\n");
    assertThat(raw("GET /health?verbose HTTP/1.1\nHost: a\n\n")).endsWith("ready\n");
  }
}
