package io.osier.proxy;

import io.osier.core.ErrorCode;

/**
 * Is told what a client does. Each method does nothing unless overridden. The methods are called
 * often, by threads that must not wait. The first exception that a listener throws is logged, and
 * none affects a call.
 */
public interface ClientMetrics {
  /** A listener that ignores everything. */
  ClientMetrics NONE = new ClientMetrics() {};

  /** A request was answered, {@code nanos} nanoseconds after it was sent. */
  default void answered(String dc, long nanos) {}

  /** A request failed. */
  default void failed(String dc, ErrorCode code) {}

  /** A session moved to another datacenter. */
  default void moved(String from, String to) {}

  /** A read was served from the cache. */
  default void cacheHit() {}
}
