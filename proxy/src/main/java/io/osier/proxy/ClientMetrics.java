package io.osier.proxy;

import io.osier.core.ErrorCode;

/**
 * What a client tells about itself. Every method does nothing unless overridden; called often, by
 * threads that must not wait. The first exception that one throws is logged, and none harms a call.
 */
public interface ClientMetrics {
  /** Nothing is wanted. */
  ClientMetrics NONE = new ClientMetrics() {};

  /** A request was answered after so many nanoseconds. */
  default void answered(String dc, long nanos) {}

  /** A request failed. */
  default void failed(String dc, ErrorCode code) {}

  /** A session moved to another datacenter. */
  default void moved(String from, String to) {}

  /** A read was served from the cache. */
  default void cacheHit() {}
}
