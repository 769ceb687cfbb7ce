package io.osier.proxy;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls an application's listener, and keeps what it throws from the calls that it hears of: they
 * would never end. The first exception is logged. Thread-safe.
 */
final class ListenerGuard {
  private static final Logger LOG = LoggerFactory.getLogger(ListenerGuard.class);

  private final String listener;
  private final AtomicBoolean logged = new AtomicBoolean();

  /**
   * The guard of one listener.
   *
   * @param listener what it is, for the log
   */
  ListenerGuard(String listener) {
    this.listener = listener;
  }

  void tell(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException e) {
      threw(e);
    }
  }

  void threw(RuntimeException e) {
    if (!logged.getAndSet(true)) {
      LOG.error("{} threw, perhaps not for the last time", listener, e);
    }
  }
}
