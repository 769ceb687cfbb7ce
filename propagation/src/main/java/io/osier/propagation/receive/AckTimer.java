package io.osier.propagation.receive;

/**
 * When a peer's frames are to be acknowledged, all that came until then at once. Not thread-safe.
 */
final class AckTimer {
  private boolean due;
  private long dueNanos;
  private long sentNanos;

  /** Something has come that is to be acknowledged at a time at the latest. */
  void by(long nanos) {
    dueNanos = due ? Math.min(dueNanos, nanos) : nanos;
    due = true;
  }

  /** Whether an acknowledgement is to be sent now; it is then taken as sent. */
  boolean takeDue(long nowNanos) {
    if (!due || nowNanos < dueNanos) {
      return false;
    }
    due = false;
    sentNanos = nowNanos;
    return true;
  }

  boolean isDue() {
    return due;
  }

  /** When the last one was sent, if any was. */
  long sentNanos() {
    return sentNanos;
  }

  /** When an acknowledgement is due; Long.MAX_VALUE if none is. */
  long dueNanos() {
    return due ? dueNanos : Long.MAX_VALUE;
  }
}
