package io.osier.proxy.client;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.trace.TraceSample;
import io.osier.core.trace.TraceStream;
import io.osier.protocol.Reply;
import io.osier.proxy.ClientTraces;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Recognizes answers of traced updates by their commit numbers, and tells the listener.
 * Thread-safe.
 */
public final class TracedAnswers {
  /** Traces nothing. */
  public static final TracedAnswers NONE = new TracedAnswers(TraceSample.NONE, update -> {});

  /** Most streams kept; at this number all are dropped, among them those of ended incarnations. */
  private static final int STREAMS_MAX = 10_000;

  private record Origin(String keyspace, int partition, ReplicaId replica) {}

  private final TraceSample sample;
  private final ClientTraces listener;
  private final Map<Origin, TraceStream> streams = new ConcurrentHashMap<>();
  private final ListenerGuard guard = new ListenerGuard("the listener for traces");

  public TracedAnswers(TraceSample sample, ClientTraces listener) {
    this.sample = sample;
    this.listener = listener;
  }

  public boolean isOn() {
    return !sample.isNone();
  }

  /**
   * Handles the answer of a call.
   *
   * @param partition the call's partition; negative if it has none, as for transactions
   * @param nanos how long the call took, in nanoseconds
   */
  public void answered(String keyspace, int partition, String dc, Reply reply, long nanos) {
    switch (reply) {
      case Reply.Done d -> answered(keyspace, partition, dc, d.dot(), nanos);
      case Reply.Transacted t -> {
        if (t.dot().isPresent()) {
          answered(keyspace, partition, dc, t.dot().get(), nanos);
        }
      }
      case Reply.Evaluated e -> {
        if (e.dot().isPresent()) {
          answered(keyspace, partition, dc, e.dot().get(), nanos);
        }
      }
      default -> {}
    }
  }

  private void answered(String keyspace, int partition, String dc, Dot dot, long nanos) {
    int of = Math.max(0, partition); // a causal keyspace has one partition
    TraceStream stream = stream(new Origin(keyspace, of, dot.replica()));
    if (!sample.takes(stream, dot.number())) {
      return;
    }
    guard.tell(
        () ->
            listener.answered(
                new ClientTraces.Update(stream.id(dot.number()), keyspace, of, dc, dot, nanos)));
  }

  private TraceStream stream(Origin origin) {
    TraceStream known = streams.get(origin);
    if (known == null) {
      if (streams.size() >= STREAMS_MAX) {
        streams.clear();
      }
      known = new TraceStream(origin.keyspace, origin.partition, origin.replica);
      streams.put(origin, known);
    }
    return known;
  }
}
