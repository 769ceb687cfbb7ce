package io.osier.proxy;

import io.osier.core.OsierException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps what an application's observer throws from the calls that it hears of. Thread-safe. */
final class GuardedObserver implements ClientObserver {
  private static final Logger LOG = LoggerFactory.getLogger(GuardedObserver.class);

  private final ClientObserver observer;
  private final AtomicBoolean logged = new AtomicBoolean();

  private GuardedObserver(ClientObserver observer) {
    this.observer = observer;
  }

  /** What tells the observer; {@link ClientObserver#NONE} stays what it is. */
  static ClientObserver of(ClientObserver observer) {
    return observer == NONE ? NONE : new GuardedObserver(observer);
  }

  @Override
  public Observed begins(String keyspace, boolean update) {
    try {
      Observed observed = observer.begins(keyspace, update);
      return (datacenter, error) -> ended(observed, datacenter, error);
    } catch (RuntimeException e) {
      threw(e);
      return IGNORED;
    }
  }

  private void ended(
      Observed observed, Optional<String> datacenter, Optional<OsierException> error) {
    try {
      observed.ended(datacenter, error);
    } catch (RuntimeException e) {
      threw(e);
    }
  }

  private void threw(RuntimeException e) {
    if (!logged.getAndSet(true)) {
      LOG.error("the observer of the client's calls threw, perhaps not for the last time", e);
    }
  }
}
