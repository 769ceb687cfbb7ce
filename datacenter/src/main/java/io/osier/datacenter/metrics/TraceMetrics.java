package io.osier.datacenter.metrics;

import static io.osier.datacenter.metrics.Metric.Type.COUNTER;

import java.util.List;

/** Metrics of the spans of traces; absent if there is no receiver. */
final class TraceMetrics {
  private TraceMetrics() {}

  /** Adds all these metrics, in the table's order. */
  static void addTo(MetricList metrics) {
    metrics.add(
        COUNTER,
        "trace_spans",
        List.of(),
        "Spans of traces that the receiver has accepted",
        (s, to) -> s.traces().ifPresent(t -> to.number((double) t.sent())));
    metrics.add(
        COUNTER,
        "trace_dropped",
        List.of("reason"),
        "Spans that were lost; full: too many waited to be sent; refused: the receiver did not"
            + " accept them; updates: updates not traced to their end, because too many were being"
            + " traced",
        (s, to) ->
            s.traces()
                .ifPresent(t -> t.dropped().forEach((reason, count) -> to.number(count, reason))));
  }
}
