package io.osier.propagation.host;

/** Of how many of the others a partition has had, since its start, what they had. */
public enum PeersHeard {
  NOBODY,
  /** Of one at least. */
  SOME,
  /** Of all, or there are no others. */
  ALL
}
