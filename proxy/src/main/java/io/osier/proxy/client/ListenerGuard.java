package io.osier.proxy.client;

import io.osier.core.ErrorCode;
import io.osier.proxy.ClientMetrics;
import io.osier.proxy.ClientObserver;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls an application's listener, and catches its exceptions, because of which a call might never
 * end. Logs the first one. Thread-safe.
 */
public final class ListenerGuard {
  private static final Logger LOG = LoggerFactory.getLogger(ListenerGuard.class);

  private final String listener;
  private final AtomicBoolean logged = new AtomicBoolean();

  /**
   * Makes a guard.
   *
   * @param listener what the listener is, for the log
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

  private void threw(RuntimeException e) {
    if (!logged.getAndSet(true)) {
      LOG.error("{} threw an exception; further ones are not logged", listener, e);
    }
  }

  /** Returns a guarded listener for metrics; {@link ClientMetrics#NONE} is returned as it is. */
  public static ClientMetrics metrics(ClientMetrics listener) {
    if (listener == ClientMetrics.NONE) {
      return listener;
    }
    ListenerGuard guard = new ListenerGuard("the listener for the client's figures");
    return new ClientMetrics() {
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
    };
  }

  /** Returns a guarded observer; {@link ClientObserver#NONE} is returned as it is. */
  public static ClientObserver observer(ClientObserver observer) {
    if (observer == ClientObserver.NONE) {
      return observer;
    }
    ListenerGuard guard = new ListenerGuard("the observer of the client's calls");
    return (keyspace, update) -> {
      try {
        ClientObserver.Observed observed = observer.begins(keyspace, update);
        return (datacenter, error) -> guard.tell(() -> observed.ended(datacenter, error));
      } catch (RuntimeException e) {
        guard.threw(e);
        return ClientObserver.IGNORED;
      }
    };
  }
}
