package io.osier.propagation.receive;

/**
 * Decides when a peer's frames are acknowledged; one acknowledgement covers all that were received
 * by then. Not thread-safe.
 */
final class AckTimer {
  private boolean due;
  private long dueNanos;
  private long sentNanos;

  /** Notes that a frame was received that must be acknowledged by this time. */
  void by(long nanos) {
    dueNanos = due ? Math.min(dueNanos, nanos) : nanos;
    due = true;
  }

  /** Whether an acknowledgement is to be sent now; if so it counts as sent from then on. */
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

  /** Returns when the last acknowledgement was sent; 0 if none was. */
  long sentNanos() {
    return sentNanos;
  }

  /** Returns when an acknowledgement is due; Long.MAX_VALUE if none is. */
  long dueNanos() {
    return due ? dueNanos : Long.MAX_VALUE;
  }
}
