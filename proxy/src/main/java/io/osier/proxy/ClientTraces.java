package io.osier.proxy;

import io.osier.core.Dot;
import io.osier.core.TraceId;

/**
 * Hears of the client's updates that are followed by traces (see docs/MONITORING.md), so that an
 * application adds its part of them. Called by threads that must not wait. The first exception that
 * it throws is logged, and none harms a call. With OpenTelemetry's API it is
 *
 * <pre>{@code
 * update -> {
 *   Instant end = Instant.now();
 *   SpanContext origin = SpanContext.createFromRemoteParent(update.trace().hex(),
 *       update.trace().rootHex(), TraceFlags.getSampled(), TraceState.getDefault());
 *   tracer.spanBuilder("osier").setParent(Context.root().with(Span.wrap(origin)))
 *       .setStartTimestamp(end.minusNanos(update.nanos())).startSpan().end(end);
 * }
 * }</pre>
 */
@FunctionalInterface
public interface ClientTraces {
  /** A followed update was answered. */
  void answered(Update update);

  /**
   * An update.
   *
   * @param trace the one that follows it; the span of the update at its origin is the root
   * @param dc the datacenter that answered
   * @param number its commit number; of a transaction, the last one
   * @param nanos how long the call took, with its tries
   */
  record Update(TraceId trace, String keyspace, int partition, String dc, Dot number, long nanos) {}
}
