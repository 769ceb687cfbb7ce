package io.osier.datacenter.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.propagation.net.link.PortLimits;
import io.osier.testing.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The dashboard's messages over real connections, where the network has buffers of its own. */
final class DashboardEventsTest {
  /** More than the buffers between a server and somebody who does not read. */
  private static final int STATUS_CHARS = 5 << 20;

  private final String status = "~".repeat(STATUS_CHARS);

  /** Whether the next status is large: one alone, since to make it takes long. */
  private final AtomicBoolean isLarge = new AtomicBoolean();

  private final AtomicInteger small = new AtomicInteger();
  private final Dashboard dashboard =
      new Dashboard(
          "eu",
          List.of(),
          Map::of,
          () ->
              CompletableFuture.completedFuture(
                  isLarge.getAndSet(false) ? status : "small" + small.getAndIncrement()),
          (dc, note) -> {},
          100);
  private final HttpEndpoint http = endpoint();
  private final List<Socket> sockets = new ArrayList<>();

  private HttpEndpoint endpoint() {
    Map<String, Supplier<CompletableFuture<HttpEndpoint.Answer>>> paths = new LinkedHashMap<>();
    DashboardPages.addTo(paths, dashboard);
    return new HttpEndpoint(
        new InetSocketAddress("127.0.0.1", 0),
        new PortLimits(100, Patience.MILLIS, Patience.MILLIS),
        Optional.empty(),
        new HostNames(Set.of()),
        Optional.empty(),
        paths);
  }

  @AfterEach
  void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    http.close();
    dashboard.close();
  }

  private Socket look() throws IOException {
    Socket socket = new Socket();
    sockets.add(socket);
    socket.setReceiveBufferSize(4 << 10);
    socket.setSoTimeout(Patience.MILLIS);
    socket.connect(new InetSocketAddress("127.0.0.1", http.port()));
    socket
        .getOutputStream()
        .write(
            "GET /dashboard/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static BufferedReader reader(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
  }

  /** The number of the next message. */
  private static long next(BufferedReader reader) throws IOException {
    String line;
    do {
      line = reader.readLine();
      assertThat(line).as("goes on").isNotNull();
    } while (!line.startsWith("data: "));
    return Long.parseLong(line.replaceFirst("^.*?\"number\":(\\d+).*$", "$1"));
  }

  @Test
  void whoLooks_seesAMessageAfterTheOther() throws IOException {
    BufferedReader reader = reader(look());
    assertThat(reader.readLine()).isEqualTo("HTTP/1.1 200 OK");
    assertThat(reader.readLine()).isEqualTo("Content-Type: text/event-stream");
    assertThat(next(reader)).isEqualTo(1);
    assertThat(next(reader)).isEqualTo(2);
  }

  @Test
  void whoDoesNotRead_isCutOff_andOthersGoOn() throws IOException {
    Socket slow = look();
    isLarge.set(true);
    InputStream begun = slow.getInputStream();
    int read;
    do {
      read = begun.read();
      assertThat(read).as("goes on").isNotNegative();
    } while (read != '~');
    // The next status is small again, and who has read no more of the large one gets nothing of it.
    // On a slow machine it may have been cut off by now: then nobody looks, and none is made.
    int before = small.get();
    await().until(() -> small.get() > before || dashboard.viewers() == 0);
    BufferedReader quick = reader(look());
    long last = next(quick);
    await().until(() -> dashboard.viewers() == 1);
    for (int i = 0; i <= Dashboard.MISSES_MAX; i++) {
      long now = next(quick);
      assertThat(now).isGreaterThan(last);
      last = now;
    }
    assertThat(dashboard.viewers()).isOne();
    assertThat(slow.isClosed()).as("on this side").isFalse();
  }

  @Test
  void oneViewerTooMany_isToldSo_untilAnotherLeaves() throws IOException {
    for (int i = 0; i < Dashboard.VIEWERS_MAX; i++) {
      assertThat(reader(look()).readLine()).isEqualTo("HTTP/1.1 200 OK");
    }
    List<String> told = reader(look()).lines().toList();
    assertThat(told.getFirst()).isEqualTo("HTTP/1.1 503 Service Unavailable");
    assertThat(told.getLast()).contains("16 look at this dashboard already");
    sockets.getFirst().close();
    await().until(() -> !dashboard.isFull());
    assertThat(reader(look()).readLine()).isEqualTo("HTTP/1.1 200 OK");
  }
}
