package io.osier.proxy.call;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Whether a request was sent. The connection that sends it and the caller who gives it up race for
 * this state: only one of them wins. Thread-safe.
 */
public class SendState {
  private static final AtomicIntegerFieldUpdater<SendState> STATE =
      AtomicIntegerFieldUpdater.newUpdater(SendState.class, "state");

  private static final int WAITS = 0;
  private static final int SENT = 1;
  private static final int WITHDRAWN = 2;

  private volatile int state = WAITS;

  /** Just before it is sent: whether that is still to be done. */
  public boolean begins() {
    return STATE.compareAndSet(this, WAITS, SENT) || state == SENT;
  }

  /** The datacenter has certainly not done the request, so it may be sent or taken back again. */
  final void isUndone() {
    boolean unused = STATE.compareAndSet(this, SENT, WAITS);
  }

  /** Takes it back; false if it was sent, and something may have been done. */
  final boolean withdraw() {
    return STATE.compareAndSet(this, WAITS, WITHDRAWN) || state == WITHDRAWN;
  }
}
