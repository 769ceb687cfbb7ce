package io.osier.proxy;

import io.osier.core.Dot;
import io.osier.core.TraceId;

/**
 * Is told of the client's traced updates (see docs/MONITORING.md), so that an application can add
 * its own spans to their traces. Called by threads that must not wait. The first exception that it
 * throws is logged, and none affects a call. An implementation with OpenTelemetry's API:
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
  /** A traced update was answered. */
  void answered(Update update);

  /**
   * A traced update.
   *
   * @param trace the update's trace, whose root is the span of the update at its origin
   * @param dc the datacenter that answered
   * @param number the update's commit number; for a transaction, its last one
   * @param nanos how long the call took, with all its tries, in nanoseconds
   */
  record Update(TraceId trace, String keyspace, int partition, String dc, Dot number, long nanos) {}
}
