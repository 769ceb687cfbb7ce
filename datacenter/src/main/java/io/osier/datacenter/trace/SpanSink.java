package io.osier.datacenter.trace;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.osier.core.TraceId;
import io.osier.datacenter.metrics.Snapshot;
import java.util.Map;

/**
 * Takes spans that have ended. Called by partitions' threads: neither waits nor throws.
 * Thread-safe.
 */
interface SpanSink extends AutoCloseable {
  /** Has room for nothing. */
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
   * Whether there is room for so many spans; if not they count as dropped. What is added after that
   * is taken, whatever others have added meanwhile.
   */
  boolean hasRoom(int spans);

  /**
   * Takes a span.
   *
   * @param parent the id of the one that it is a part of; 0 for the trace's root
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

  /** Updates are not followed any further: too many are. */
  void givenUp(int updates);

  /** What became of the spans so far. */
  Snapshot.Traces figures();

  @Override
  void close();
}
