package io.osier.proxy;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Whether a request was sent: decided once, between the connection that sends it and whoever gives
 * it up. Thread-safe.
 */
class Sending {
  private static final AtomicIntegerFieldUpdater<Sending> STATE =
      AtomicIntegerFieldUpdater.newUpdater(Sending.class, "state");

  private static final int WAITS = 0;
  private static final int SENT = 1;
  private static final int WITHDRAWN = 2;

  private volatile int state = WAITS;

  /** Just before it is sent: whether that is still to be done. */
  public boolean begins() {
    return STATE.compareAndSet(this, WAITS, SENT) || state == SENT;
  }

  /** It is known that nothing was done of it, though it was to be sent. */
  final void isUndone() {
    boolean unused = STATE.compareAndSet(this, SENT, WAITS);
  }

  /** Takes it back; false if it was sent, and something may have been done. */
  final boolean withdraw() {
    return STATE.compareAndSet(this, WAITS, WITHDRAWN) || state == WITHDRAWN;
  }
}
