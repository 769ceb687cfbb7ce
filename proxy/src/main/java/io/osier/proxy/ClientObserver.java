package io.osier.proxy;

import io.osier.core.OsierException;
import java.util.Optional;

/**
 * Is told of each call as a whole, with all its tries, to make spans and timers of it: by the
 * thread that makes the call, and by the thread that ends it. {@link
 * io.osier.proxy.observe.MicrometerObserver} is one. These threads must not wait. The first
 * exception that an observer throws is logged, and none affects a call. Observers are not told of
 * reads that the client's cache answers, nor of increments that a datacenter in the process
 * acknowledges at once.
 */
@FunctionalInterface
public interface ClientObserver {
  /** Ignores the call's end. */
  Observed IGNORED = (datacenter, error) -> {};

  /** An observer that ignores all calls. */
  ClientObserver NONE = (keyspace, update) -> IGNORED;

  /**
   * A call begins. Called by the thread that makes it.
   *
   * @param update whether the call may change something
   * @return what is told when the call ends
   */
  Observed begins(String keyspace, boolean update);

  /** A call that is under way. */
  @FunctionalInterface
  interface Observed {
    /**
     * The call has ended. Called before the call's future completes.
     *
     * @param datacenter the datacenter that answered last; empty if none did
     * @param error the call's error; empty if it succeeded
     */
    void ended(Optional<String> datacenter, Optional<OsierException> error);
  }
}
