package io.osier.datacenter.trace;

import static java.util.Objects.requireNonNull;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.internal.FailedExportException;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.osier.core.ReplicaId;
import io.osier.core.TraceId;
import io.osier.core.net.LogInterval;
import io.osier.datacenter.metrics.Snapshot;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends spans by OTLP over HTTP, with OpenTelemetry's SDK, in batches, by a thread of its own.
 * Spans that the receiver refuses are counted and lost: they are not sent again, because traces are
 * a sample anyway, and a receiver that recovers must not be flooded with the spans of its outage.
 * Adding a span never waits. Thread-safe.
 */
final class OtlpExporter implements SpanSink {
  private static final Logger LOG = LoggerFactory.getLogger(OtlpExporter.class);

  /** Most spans that wait to be sent or acknowledged; each takes one or two KiB. */
  static final int SPANS_MAX = 4_096;

  private static final int BATCH = 512;
  private static final Duration BATCH_DELAY = Duration.ofMillis(500);
  private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(2);
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** How long closing waits until waiting spans are sent, in seconds. */
  private static final long CLOSE_SECONDS = 2;

  /** The least time between two log lines about lost spans. */
  private static final Duration LOGGED = Duration.ofMinutes(1);

  private final SdkTracerProvider provider;
  private final Tracer tracer;
  private final AtomicInteger waiting = new AtomicInteger();
  private final LongAdder sent = new LongAdder();
  private final LongAdder full = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder givenUp = new LongAdder();

  /** The ids of the span that this thread is making. */
  private static final ThreadLocal<Ids> NEXT = new ThreadLocal<>();

  private record Ids(String trace, String span) {}

  /** Gives spans the ids that the caller has set. */
  private static final class Given implements IdGenerator {
    @Override
    public String generateSpanId() {
      return NEXT.get().span;
    }

    @Override
    public String generateTraceId() {
      return NEXT.get().trace;
    }
  }

  private OtlpExporter(SpanExporter exporter, ReplicaId self) {
    this.provider =
        SdkTracerProvider.builder()
            .setIdGenerator(new Given())
            .setSampler(Sampler.alwaysOn())
            .setResource(
                Resource.create(
                    Attributes.builder()
                        .put("service.name", "osier-" + self.dc())
                        .put("service.instance.id", self.toString())
                        .put("osier.dc", self.dc())
                        .build()))
            .addSpanProcessor(
                BatchSpanProcessor.builder(exporter)
                    // Larger than the limit counted here, so that the SDK's queue itself is never
                    // full.
                    .setMaxQueueSize(2 * SPANS_MAX)
                    .setMaxExportBatchSize(BATCH)
                    .setScheduleDelay(BATCH_DELAY)
                    .setExporterTimeout(PATIENCE.plus(CONNECT_PATIENCE))
                    .build())
            .build();
    this.tracer = provider.get("io.osier");
  }

  /**
   * Makes an exporter to an endpoint.
   *
   * @param endpoint the receiver of OTLP; without a path the standard path is used
   */
  static OtlpExporter to(URI endpoint, ReplicaId self) {
    boolean plain = endpoint.getPath() == null || endpoint.getPath().replace("/", "").isEmpty();
    String url = plain ? endpoint.resolve("/v1/traces").toString() : endpoint.toString();
    Counted exporter =
        new Counted(
            url,
            OtlpHttpSpanExporter.builder()
                .setEndpoint(url)
                .setConnectTimeout(CONNECT_PATIENCE)
                .setTimeout(PATIENCE)
                .setRetryPolicy(null)
                .build());
    OtlpExporter otlp = new OtlpExporter(exporter, self);
    exporter.of = otlp;
    return otlp;
  }

  /** Counts the spans that the receiver accepts, and logs when it refuses some. */
  private static final class Counted implements SpanExporter {
    private final String url;
    private final SpanExporter exporter;
    private volatile @Nullable OtlpExporter of; // set before anything is exported
    private final LogInterval logged = new LogInterval(LOGGED);

    Counted(String url, SpanExporter exporter) {
      this.url = url;
      this.exporter = exporter;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      int count = spans.size(); // the caller clears it
      CompletableResultCode result = exporter.export(spans);
      OtlpExporter told = requireNonNull(of);
      result.whenComplete(
          () -> {
            told.waiting.addAndGet(-count);
            if (result.isSuccess()) {
              told.sent.add(count);
            } else {
              told.refused.add(count);
              say(result.getFailureThrowable());
            }
          });
      return result;
    }

    private void say(@Nullable Throwable why) {
      if (logged.tryPass()) {
        LOG.warn(
            "{} does not take spans of traces, which are lost until it does"
                + " (osier_trace_dropped_total counts them): {}",
            url,
            reason(why));
      }
    }

    private static String reason(@Nullable Throwable why) {
      if (why == null) {
        return "no reason is known";
      }
      if (why instanceof FailedExportException.HttpExportException http
          && http.failedWithResponse()) {
        return "it answers with status " + http.getResponse().getStatusCode();
      }
      Throwable cause = why.getCause() == null ? why : why.getCause();
      return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.toString();
    }

    @Override
    public CompletableResultCode flush() {
      return exporter.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
      return exporter.shutdown();
    }
  }

  @Override
  public boolean hasRoom(int spans) {
    if (waiting.get() + spans <= SPANS_MAX) {
      return true;
    }
    full.add(spans);
    return false;
  }

  @Override
  public void add(
      TraceId trace,
      long id,
      long parent,
      String name,
      SpanKind kind,
      long startNanos,
      long endNanos,
      Attributes attributes) {
    String traceId = trace.hex();
    SpanBuilder builder =
        tracer
            .spanBuilder(name)
            .setSpanKind(kind)
            .setStartTimestamp(startNanos, TimeUnit.NANOSECONDS)
            .setAllAttributes(attributes);
    if (parent == 0) {
      builder.setNoParent();
    } else {
      SpanContext above =
          SpanContext.createFromRemoteParent(
              traceId, TraceId.hex(parent), TraceFlags.getSampled(), TraceState.getDefault());
      builder.setParent(Context.root().with(Span.wrap(above)));
    }
    NEXT.set(new Ids(traceId, TraceId.hex(id)));
    waiting.incrementAndGet();
    builder.startSpan().end(Math.max(startNanos, endNanos), TimeUnit.NANOSECONDS);
  }

  @Override
  public void givenUp(int updates) {
    givenUp.add(updates);
  }

  @Override
  public Snapshot.Traces figures() {
    return new Snapshot.Traces(
        sent.sum(), Map.of("full", full.sum(), "refused", refused.sum(), "updates", givenUp.sum()));
  }

  @Override
  public void close() {
    provider.forceFlush().join(CLOSE_SECONDS, TimeUnit.SECONDS);
    provider.shutdown().join(CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
