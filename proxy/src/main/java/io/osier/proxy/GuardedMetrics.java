package io.osier.proxy;

import io.osier.core.ErrorCode;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells an application's listener, and keeps what it throws from the calls that it hears of: they
 * would never end. Thread-safe.
 */
final class GuardedMetrics implements ClientMetrics {
  private static final Logger LOG = LoggerFactory.getLogger(GuardedMetrics.class);

  private final ClientMetrics listener;
  private final AtomicBoolean logged = new AtomicBoolean();

  private GuardedMetrics(ClientMetrics listener) {
    this.listener = listener;
  }

  /** What tells the listener; {@link ClientMetrics#NONE} stays what it is. */
  static ClientMetrics of(ClientMetrics listener) {
    return listener == NONE ? NONE : new GuardedMetrics(listener);
  }

  @Override
  public void answered(String dc, long nanos) {
    try {
      listener.answered(dc, nanos);
    } catch (RuntimeException e) {
      threw(e);
    }
  }

  @Override
  public void failed(String dc, ErrorCode code) {
    try {
      listener.failed(dc, code);
    } catch (RuntimeException e) {
      threw(e);
    }
  }

  @Override
  public void moved(String from, String to) {
    try {
      listener.moved(from, to);
    } catch (RuntimeException e) {
      threw(e);
    }
  }

  @Override
  public void cacheHit() {
    try {
      listener.cacheHit();
    } catch (RuntimeException e) {
      threw(e);
    }
  }

  private void threw(RuntimeException e) {
    if (!logged.getAndSet(true)) {
      LOG.error("the listener for the client's figures threw, perhaps not for the last time", e);
    }
  }
}
