package io.osier.propagation.host;

/**
 * From how many of the other datacenters a partition has, since its start, got all that they had.
 */
public enum PeersHeard {
  NOBODY,
  /** From one at least. */
  SOME,
  /** From all, or there are no others. */
  ALL
}
