package io.osier.bench.trace;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Receives OTLP over HTTP, as a collector does. Thread-safe. */
final class SpanReceiver implements AutoCloseable {
  /** What it answers to a request whose spans are noted. */
  interface Behaviour {
    void answer(HttpExchange exchange) throws IOException;
  }

  /** Takes all. */
  static final Behaviour TAKES =
      exchange -> {
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
      };

  /**
   * A span that came.
   *
   * @param dc who sent it
   * @param parent empty for a root
   * @param says its attributes, as text
   */
  record Came(
      String dc,
      String trace,
      String id,
      String parent,
      String name,
      long startNanos,
      long endNanos,
      Map<String, String> says) {
    double millis() {
      return (endNanos - startNanos) / 1e6;
    }
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Came> spans = new CopyOnWriteArrayList<>();
  private volatile Behaviour behaviour = TAKES;

  SpanReceiver() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/v1/traces", this::take);
    server.start();
  }

  /** What a datacenter is given as its endpoint. */
  String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  void behave(Behaviour as) {
    behaviour = as;
  }

  private void take(HttpExchange exchange) throws IOException {
    ExportTraceServiceRequest request =
        ExportTraceServiceRequest.parseFrom(exchange.getRequestBody().readAllBytes());
    for (ResourceSpans from : request.getResourceSpansList()) {
      String dc = texts(from.getResource().getAttributesList()).get("osier.dc");
      for (ScopeSpans scope : from.getScopeSpansList()) {
        scope
            .getSpansList()
            .forEach(
                s ->
                    spans.add(
                        new Came(
                            dc,
                            hex(s.getTraceId()),
                            hex(s.getSpanId()),
                            hex(s.getParentSpanId()),
                            s.getName(),
                            s.getStartTimeUnixNano(),
                            s.getEndTimeUnixNano(),
                            texts(s.getAttributesList()))));
      }
    }
    behaviour.answer(exchange);
  }

  private static String hex(ByteString bytes) {
    return HexFormat.of().formatHex(bytes.toByteArray());
  }

  private static Map<String, String> texts(List<KeyValue> attributes) {
    Map<String, String> texts = new TreeMap<>();
    attributes.forEach(a -> texts.put(a.getKey(), text(a.getValue())));
    return texts;
  }

  private static String text(AnyValue value) {
    return switch (value.getValueCase()) {
      case STRING_VALUE -> value.getStringValue();
      case INT_VALUE -> Long.toString(value.getIntValue());
      case DOUBLE_VALUE -> Double.toString(value.getDoubleValue());
      case BOOL_VALUE -> Boolean.toString(value.getBoolValue());
      case ARRAY_VALUE ->
          value.getArrayValue().getValuesList().stream()
              .map(SpanReceiver::text)
              .toList()
              .toString();
      default -> throw new IllegalArgumentException("what is " + value);
    };
  }

  /** All that came so far. */
  List<Came> spans() {
    return List.copyOf(spans);
  }

  /** What came of one trace. */
  List<Came> trace(String id) {
    return spans.stream().filter(s -> s.trace.equals(id)).toList();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
