package io.osier.proxy.call;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Whether a request was sent. The connection that is about to send it and the caller that gives it
 * up race for this state, and only one of them wins. Thread-safe.
 */
public class SendState {
  private static final AtomicIntegerFieldUpdater<SendState> STATE =
      AtomicIntegerFieldUpdater.newUpdater(SendState.class, "state");

  private static final int WAITS = 0;
  private static final int SENT = 1;
  private static final int WITHDRAWN = 2;

  private volatile int state = WAITS;

  /** Marks the request as sent; returns false if it was withdrawn before, and must not be sent. */
  public boolean begins() {
    return STATE.compareAndSet(this, WAITS, SENT) || state == SENT;
  }

  /** Marks the request as certainly not done, so that it may be sent again or withdrawn. */
  final void isUndone() {
    boolean unused = STATE.compareAndSet(this, SENT, WAITS);
  }

  /** Withdraws the request; returns false if it was sent, and may have been done. */
  final boolean withdraw() {
    return STATE.compareAndSet(this, WAITS, WITHDRAWN) || state == WITHDRAWN;
  }
}
