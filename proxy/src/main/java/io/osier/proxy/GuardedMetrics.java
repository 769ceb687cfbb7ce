package io.osier.proxy;

import io.osier.core.ErrorCode;

/**
 * Tells an application's listener the client's figures: what it throws harms no call. Thread-safe.
 */
final class GuardedMetrics implements ClientMetrics {
  private final ListenerGuard guard = new ListenerGuard("the listener for the client's figures");
  private final ClientMetrics listener;

  private GuardedMetrics(ClientMetrics listener) {
    this.listener = listener;
  }

  /** What tells the listener; {@link ClientMetrics#NONE} stays what it is. */
  static ClientMetrics of(ClientMetrics listener) {
    return listener == NONE ? NONE : new GuardedMetrics(listener);
  }

  @Override
  public void answered(String dc, long nanos) {
    guard.tell(() -> listener.answered(dc, nanos));
  }

  @Override
  public void failed(String dc, ErrorCode code) {
    guard.tell(() -> listener.failed(dc, code));
  }

  @Override
  public void moved(String from, String to) {
    guard.tell(() -> listener.moved(from, to));
  }

  @Override
  public void cacheHit() {
    guard.tell(listener::cacheHit);
  }
}
