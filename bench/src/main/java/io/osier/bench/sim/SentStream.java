package io.osier.bench.sim;

import io.osier.core.ReplicaId;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** What the stream of one partition to one peer has under way, as {@link FlowCheck} counts it. */
final class SentStream {
  /** A frame with updates. */
  record Sent(long sequence, long bytes) {}

  /** Who sends; null before it has begun. */
  @Nullable ReplicaId from;

  long epoch;
  final ArrayDeque<Sent> unacknowledged = new ArrayDeque<>();
  long bytes;

  /** When something was acknowledged last, or nothing was missing. */
  long movedNanos;

  /** Since when it is known to have caught up since its link came up; else Long.MAX_VALUE. */
  long caughtUpNanos = Long.MAX_VALUE;

  void begin(ReplicaId sender, long of) {
    from = sender;
    epoch = of;
    unacknowledged.clear();
    bytes = 0;
  }
}
