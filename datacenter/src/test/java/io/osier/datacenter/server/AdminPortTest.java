package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.net.Ports;
import io.osier.testing.Patience;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Health and metrics are there for whoever asks properly, whatever others do. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class AdminPortTest {
  private final int port = Ports.free();
  private final HttpClient http = HttpClient.newHttpClient();
  private Datacenter datacenter;

  @BeforeAll
  void start() {
    datacenter =
        TestCluster.one(
            """
            osier {
              dc = eu, store.dir = "", keyspaces { shop {} }
              listen { client-port = 0, peer-port = 0, greeting-timeout = 1h }
              admin {
                enabled = true, port = %d, connections = 10
                names = [Metrics.example, own.example]
              }
              peers { eu = "eu.example:7401" }
            }
            """
                .formatted(port));
  }

  @AfterAll
  void stop() {
    http.close();
    datacenter.close();
  }

  private HttpResponse<String> get(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Patience.LIMIT)
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
      socket.setSoTimeout(Patience.MILLIS);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void halfARequest_blocksNobody() throws IOException {
    try (Socket half = new Socket("127.0.0.1", port)) {
      half.getOutputStream().write("GET /metr".getBytes(StandardCharsets.US_ASCII));
      assertThat(get("/health").statusCode()).isEqualTo(200);
      // It is there once the partitions have published what they do.
      await()
          .untilAsserted(
              () -> assertThat(get("/metrics").body()).contains("osier_client_request_seconds"));
    }
  }

  /** One with settings of its ports for clients and peers, and of its own. */
  private static Datacenter another(String listen, String admin) {
    return TestCluster.one(
        """
        osier {
          dc = us, store.dir = "", keyspaces { shop {} }
          listen { client-port = 0, peer-port = 0, %s }
          admin { enabled = true, %s }
        }
        """
            .formatted(listen, admin));
  }

  @Test
  void halfARequest_isClosedInTime() throws IOException {
    try (Datacenter hurried = another("greeting-timeout = 300ms", "port = 0");
        RawClient half = new RawClient(hurried.adminPort().orElseThrow())) {
      assertThat(half.send("GET /metr".getBytes(StandardCharsets.US_ASCII)).isEnded()).isTrue();
    }
  }

  @Test
  void connectionsOverTheLimit_areClosed_untilOthersEnd() throws IOException {
    assertThat(isOneTooManyClosedFirst()).isTrue();
    Awaitility.await()
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(get("/health").statusCode()).isEqualTo(200));
  }

  /** Whether of as many as may be and one more, the last one is closed while the first is open. */
  private boolean isOneTooManyClosedFirst() throws IOException {
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < 11; i++) {
        sockets.add(new Socket("127.0.0.1", port));
      }
      sockets.getLast().setSoTimeout(Patience.MILLIS);
      assertThat(sockets.getLast().getInputStream().read()).isEqualTo(-1);
      sockets.getFirst().setSoTimeout(1);
      return isOpen(sockets.getFirst());
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  private static boolean isOpen(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read() >= 0;
    } catch (SocketTimeoutException e) {
      return true; // it has nothing to say
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GET /nothing HTTP/1.1\\n"
            + "Host: eu             | 404 Not Found          | there are /metrics, /livez",
        "GET /metrics/../livez HTTP/1.1\\nHost: eu    | 404 Not Found          | there are",
        "GET //livez HTTP/1.1\\nHost: eu              | 404 Not Found          | there are",
        "GET /%6Civez HTTP/1.1\\nHost: eu             | 404 Not Found          | there are",
        "POST /health HTTP/1.1\\nHost: eu             | 405 Method Not Allowed | only GET and HEAD",
        "get /health HTTP/1.1\\nHost: eu              | 405 Method Not Allowed | only GET and HEAD",
        "GET /health?verbose HTTP/1.1\\n"
            + "Host: eu      | 400 Bad Request        | /health takes no parameters",
        "GET /metrics?name[]=x HTTP/1.1\\n"
            + "Host: eu    | 400 Bad Request        | /metrics takes no parameters",
        "GET /dashboard?a=b HTTP/1.1\\n" + "Host: eu | 400 Bad Request       | takes no parameters",
        "hello                                        | 400 Bad Request        | such as: GET"
            + " /metrics",
        "GET /livez                                   | 400 Bad Request        | such as: GET"
            + " /metrics",
        "GET  /livez HTTP/1.1\\n"
            + "Host: eu              | 400 Bad Request        | such as: GET /metrics",
        "GET /livez HTTP/2.0\\n"
            + "Host: eu               | 400 Bad Request        | not that of an HTTP/1.1 request",
        "GET /livez HTTP/1.1                          | 400 Bad Request        | needs a Host"
            + " header",
        "GET /livez HTTP/1.1\\nHost: eu\\nHost: eu    | 400 Bad Request        | two Host headers",
        "GET /livez HTTP/1.1\\n"
            + "Host: eu:x             | 400 Bad Request        | a name or an address",
        "GET /livez HTTP/1.1\\n"
            + "Host: [::1             | 400 Bad Request        | a name or an address",
        "GET /livez HTTP/1.1\\n"
            + "Host : eu              | 400 Bad Request        | of the form name: value",
        "GET /livez HTTP/1.1\\n"
            + "Host: eu\\n"
            + " X: folded  | 400 Bad Request        | of the form name: value",
        "GET /livez HTTP/1.1\\nHost: eu\\rX: a        | 400 Bad Request        | alone",
        "GET http://eu/livez HTTP/1.1\\nHost: eu      | 400 Bad Request        | names a path",
        "GET /livez\\u0007 HTTP/1.1\\nHost: eu        | 400 Bad Request        | plain characters",
        "GET /livez HTTP/1.1\\nHost: evil.example     | 403 Forbidden          | osier.admin.names",
        "GET /dashboard HTTP/1.1\\nHost: evil.example | 403 Forbidden   | osier.admin.names",
        "GET /no HTTP/1.1\\nHost: evil.example:7402   | 403 Forbidden          | osier.admin.names",
        "GET /livez HTTP/1.1\\nHost:                  | 403 Forbidden          | osier.admin.names",
      })
  void wrongRequest_isAnsweredWithTheReason_inALine(String request, String status, String words)
      throws IOException {
    String answer = raw(unescaped(request) + "\r\n\r\n");
    assertThat(answer).startsWith("HTTP/1.1 " + status + "\r\n");
    String body = answer.substring(answer.indexOf("\r\n\r\n") + 4);
    assertThat(body).contains(words).endsWith("\n").doesNotContain("evil", "Exception", "\tat ");
    assertThat(body.lines()).hasSize(1);
  }

  private static String unescaped(String request) {
    return request.replace("\\n", "\r\n").replace("\\r", "\r").replace("\\u0007", "\u0007");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1", "127.0.0.1:7402", "10.1.2.3", "[::1]:7402", "[fe80::1]", "localhost:80",
            "LOCALHOST",
        "a.localhost", "eu", "EU:7402", "eu.", "eu.example:7402", "Metrics.Example", "own.example",
      })
  void itsNames_areAnswered(String host) throws IOException {
    assertThat(raw("GET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
        .startsWith("HTTP/1.1 200 OK\r\n")
        .endsWith("alive\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "127.0.0.1.evil.example",
        "eu.evil.example",
        "xeu",
        "localhost.evil.example",
        "evillocalhost",
        "1.2.3",
        "[evil]",
        "us.example",
        "2130706433",
        "eu..",
      })
  void othersNames_areRefused(String host) throws IOException {
    assertThat(raw("GET /metrics HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
        .startsWith("HTTP/1.1 403 Forbidden\r\n")
        .doesNotContain("osier_");
  }

  @Test
  void oldAndBriefRequests_areAnswered() throws IOException {
    assertThat(raw("HEAD /health HTTP/1.0\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ")
        .endsWith("\r\n\r\n");
    assertThat(raw("GET /health HTTP/1.0\n\n")).endsWith("ready\n");
    assertThat(raw("GET /health HTTP/1.0\n\r\n")).endsWith("ready\n");
    assertThat(raw("GET /health? HTTP/1.1\nhost:\teu \n\nand more")).endsWith("ready\n");
    assertThat(raw("HEAD /nothing HTTP/1.1\r\nHost: eu\r\n\r\n"))
        .startsWith("HTTP/1.1 404 ")
        .endsWith("\r\n\r\n");
    assertThat(raw("POST /health HTTP/1.1\nHost: eu\n\n")).contains("\r\nAllow: GET, HEAD\r\n");
  }

  @Test
  void tooMuch_isAnsweredWithTheReason_andOthersGoOn() throws IOException {
    assertThat(raw("GET /" + "x".repeat(20_000))).startsWith("HTTP/1.1 431 ");
    assertThat(raw("GET /livez HTTP/1.1\r\n" + "X: y\r\n".repeat(3_000)))
        .startsWith("HTTP/1.1 431 ");
    assertThat(raw("GET /livez HTTP/1.1\r\nHost: " + "a.".repeat(3_000) + "\r\n\r\n"))
        .startsWith("HTTP/1.1 403 ");
    assertThat(get("/livez").statusCode()).isEqualTo(200);
  }

  @Test
  void anyBytes_areAnsweredWithAReason_orNotAtAll() throws IOException {
    long seed = System.nanoTime();
    System.out.println("AdminPortTest seed " + seed);
    Random random = new Random(seed);
    String good = "GET /livez HTTP/1.1\r\nHost: eu\r\n";
    for (int i = 0; i < 200; i++) {
      StringBuilder request = new StringBuilder(good);
      for (int k = random.nextInt(4); k >= 0; k--) {
        request.setCharAt(random.nextInt(request.length()), (char) random.nextInt(128));
      }
      assertThat(raw(request + "\r\n\r\n")).matches("(?s)HTTP/1.1 (200|400|403|404|405) .*");
    }
  }

  @Test
  void itListens_whereItIsTold() throws IOException {
    try (Datacenter other = another("host = \"127.0.0.1\"", "port = 0, host = \"127.0.0.2\"")) {
      int itsPort = other.adminPort().orElseThrow();
      try (Socket socket = new Socket("127.0.0.2", itsPort)) {
        assertThat(socket.isConnected()).isTrue();
      }
      assertThatThrownBy(() -> new Socket("127.0.0.1", itsPort).close())
          .isInstanceOf(ConnectException.class);
    }
  }
}
