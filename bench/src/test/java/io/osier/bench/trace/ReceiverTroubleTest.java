package io.osier.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.osier.core.net.Ports;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What becomes of a datacenter whose spans nobody takes: nothing but a counter that grows. */
final class ReceiverTroubleTest {
  private static final Logger LOG =
      (Logger) LoggerFactory.getLogger("io.osier.datacenter.trace.OtlpExporter");

  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    lines.start();
    LOG.addAppender(lines);
    LOG.setLevel(Level.INFO); // whatever another test of this JVM has silenced
  }

  @AfterEach
  void listenNoMore() {
    LOG.detachAppender(lines);
    LOG.setLevel(null);
  }

  private final int admin = Ports.free();

  private EmbeddedDatacenter start(String endpoint) {
    EmbeddedDatacenter eu =
        EmbeddedDatacenter.start(
            """
            osier {
              dc = eu, store { dir = "" }, listen { client-port = 0, peer-port = 0 }
              keyspaces { k { partitions = 1 } }
              trace { sample = 1.0, endpoint = "%s" }
              admin { enabled = true, port = %d }
            }
            """
                .formatted(endpoint, admin));
    eu.awaitReady(Duration.ofMinutes(10));
    return eu;
  }

  /** Registers, which nothing in front of the partition acknowledges. */
  private static void write(EmbeddedDatacenter eu, int count) {
    for (int i = 0; i < count; i++) {
      eu.session().keyspace("k").register("r" + i % 100).assign("v" + i);
    }
  }

  /** What Prometheus would read. */
  private double metric(String name) {
    URI page = URI.create("http://127.0.0.1:" + admin + "/metrics");
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofLines())
          .body()
          .filter(line -> line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
          .findFirst()
          .orElse(-1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private double dropped(String reason) {
    return metric("osier_trace_dropped_total{reason=\"" + reason + "\"}");
  }

  private List<String> warnings() {
    synchronized (lines) {
      return List.copyOf(lines.list).stream()
          .filter(e -> e.getLevel() == Level.WARN)
          .map(ILoggingEvent::getFormattedMessage)
          .toList();
    }
  }

  @Test
  void nobodyListens_isCountedAndSaidOnce() {
    int port = Ports.free();
    try (EmbeddedDatacenter eu = start("http://127.0.0.1:" + port)) {
      write(eu, 50);
      await().until(() -> dropped("refused") >= 50);
      double first = dropped("refused");
      write(eu, 50);
      await().until(() -> dropped("refused") > first);
    }
    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst())
        .contains("http://127.0.0.1:" + port + "/v1/traces", "Connect");
  }

  @Test
  void whoNeverAnswers_holdsNobodyUp_andWhatFindsNoRoomIsDropped() {
    CountDownLatch end = new CountDownLatch(1);
    try (SpanReceiver receiver = new SpanReceiver()) {
      receiver.behave(
          exchange -> {
            try {
              end.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            exchange.close();
          });
      try (EmbeddedDatacenter eu = start(receiver.endpoint())) {
        write(eu, 6_000);
        await().until(() -> dropped("full") > 0);
        assertThat(eu.session().keyspace("k").register("r99").get()).isPresent();
      }
    } finally {
      end.countDown();
    }
  }

  /** On a busy machine the first connection may end before it has brought its answer. */
  @Test
  void whoAnswersNonsense_harmsNobody_andIsSentToAgain() {
    int tries = 0;
    do {
      lines.list.clear();
      answerNonsense();
      assertThat(warnings()).hasSize(1);
    } while (++tries < 20 && warnings().getFirst().contains("IOExc"));
    assertThat(warnings().getFirst()).contains("lost until it does", "404");
  }

  private void answerNonsense() {
    try (SpanReceiver receiver = new SpanReceiver()) {
      try (EmbeddedDatacenter eu = start(receiver.endpoint())) {
        byte[] nonsense = "<html>\0\1not OTLP".getBytes(StandardCharsets.UTF_8);
        for (int status : new int[] {404, 500}) {
          receiver.behave(
              exchange -> {
                exchange.sendResponseHeaders(status, nonsense.length);
                exchange.getResponseBody().write(nonsense);
                exchange.close();
              });
          double before = dropped("refused");
          write(eu, 10);
          await().until(() -> dropped("refused") >= before + 10);
        }
        receiver.behave(
            exchange -> {
              exchange.sendResponseHeaders(200, nonsense.length);
              exchange.getResponseBody().write(nonsense);
              exchange.close();
            });
        write(eu, 10);
        receiver.behave(SpanReceiver.TAKES);
        write(eu, 10);
        await().until(() -> metric("osier_trace_spans_total") >= 20);
      }
    }
  }
}
