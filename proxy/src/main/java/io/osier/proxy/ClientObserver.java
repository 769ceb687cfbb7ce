package io.osier.proxy;

import io.osier.core.OsierException;
import java.util.Optional;

/**
 * Hears of each call as a whole, with its tries, in the thread that makes it and in the one that
 * ends it: what a span or a timer is made of. {@link io.osier.proxy.observe.MicrometerObserver} is
 * one. Called by threads that must not wait; what it throws is logged once, and harms no call.
 * Reads that the client's cache answers, and increments that a datacenter in the process takes at
 * once, are no calls.
 */
@FunctionalInterface
public interface ClientObserver {
  /** Of this call nothing is wanted. */
  Observed IGNORED = (datacenter, error) -> {};

  /** Nothing is wanted. */
  ClientObserver NONE = (keyspace, update) -> IGNORED;

  /**
   * A call begins, in the thread that makes it.
   *
   * @param update whether it may change something
   * @return hears of its end
   */
  Observed begins(String keyspace, boolean update);

  /** A call that is under way. */
  @FunctionalInterface
  interface Observed {
    /**
     * It has ended; before its caller hears of it.
     *
     * @param datacenter which answered last; empty if none did
     * @param error empty if it is done
     */
    void ended(Optional<String> datacenter, Optional<OsierException> error);
  }
}
