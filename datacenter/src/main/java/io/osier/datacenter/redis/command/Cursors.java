package io.osier.datacenter.redis.command;

import java.util.Optional;

/**
 * The numbers that clients get for places at which a walk goes on. A number may be forgotten: then
 * the walk begins anew.
 */
public interface Cursors {
  /** A number for a place, from 1 as an unsigned one. */
  long put(byte[] place);

  /** The place of a number; empty if it is not known. */
  Optional<byte[]> get(long cursor);
}
