package io.osier.propagation.receive;

import java.util.OptionalLong;

/**
 * When a peer's frames are to be acknowledged, all that came until then at once. Not thread-safe.
 */
final class AckTimer {
  private boolean due;
  private long dueNanos;
  private OptionalLong sentNanos = OptionalLong.empty();

  /** Something has come that is to be acknowledged at a time at the latest. */
  void by(long nanos) {
    dueNanos = due ? Math.min(dueNanos, nanos) : nanos;
    due = true;
  }

  /** The last one may have been lost: it is to be sent again, so long after that at the earliest. */
  void again(long nowNanos, long pauseNanos) {
    by(sentNanos.isEmpty() ? nowNanos : Math.max(nowNanos, sentNanos.getAsLong() + pauseNanos));
  }

  /** Whether an acknowledgement is to be sent now; it is then taken as sent. */
  boolean takeDue(long nowNanos) {
    if (!due || nowNanos < dueNanos) {
      return false;
    }
    due = false;
    sentNanos = OptionalLong.of(nowNanos);
    return true;
  }

  /** When an acknowledgement is due; Long.MAX_VALUE if none is. */
  long dueNanos() {
    return due ? dueNanos : Long.MAX_VALUE;
  }
}
