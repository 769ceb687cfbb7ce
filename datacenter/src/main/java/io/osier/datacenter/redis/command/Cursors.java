package io.osier.datacenter.redis.command;

import java.util.Optional;

/**
 * Numbers that stand for the places at which walks such as SCAN go on. A number may be forgotten;
 * then the walk begins anew.
 */
public interface Cursors {
  /** Returns a new number for a place: an unsigned 64-bit number, not 0. */
  long put(byte[] place);

  /** Returns the place that a number stands for; empty if the number is not known. */
  Optional<byte[]> get(long cursor);
}
