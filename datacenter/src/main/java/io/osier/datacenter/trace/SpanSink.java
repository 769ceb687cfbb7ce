package io.osier.datacenter.trace;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.osier.core.TraceId;
import io.osier.datacenter.metrics.Snapshot;
import java.util.Map;

/**
 * Takes spans that have ended. Called by partitions' threads, so its methods neither wait nor
 * throw. Thread-safe.
 */
interface SpanSink extends AutoCloseable {
  /** A sink that drops everything. */
  SpanSink NONE =
      new SpanSink() {
        @Override
        public boolean hasRoom(int spans) {
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
            Attributes attributes) {}

        @Override
        public void givenUp(int updates) {}

        @Override
        public Snapshot.Traces figures() {
          return new Snapshot.Traces(0, Map.of());
        }

        @Override
        public void close() {}
      };

  /**
   * Returns whether there is room for so many spans; if not, counts them as dropped. Spans that the
   * caller adds after this are taken, even if others have filled the room meanwhile.
   */
  boolean hasRoom(int spans);

  /**
   * Takes a span.
   *
   * @param parent the id of its parent span; 0 for the trace's root
   * @param startNanos since 1970
   * @param endNanos since 1970, not before the start
   */
  void add(
      TraceId trace,
      long id,
      long parent,
      String name,
      SpanKind kind,
      long startNanos,
      long endNanos,
      Attributes attributes);

  /** Counts updates whose tracing ended early because too many are traced. */
  void givenUp(int updates);

  /** Returns how many spans were sent and dropped so far. */
  Snapshot.Traces figures();

  @Override
  void close();
}
