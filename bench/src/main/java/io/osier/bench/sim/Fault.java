package io.osier.bench.sim;

/** What may go wrong in a simulation. */
public enum Fault {
  /** Frames vanish inside a connection. */
  LOSS,
  /** Frames come twice. */
  DUPLICATES,
  /** Frames of one link overtake each other. */
  REORDER,
  /** Links are cut, one way or both, noticed at once or late. */
  PARTITIONS,
  /** Datacenters crash, lose their memory and start again. */
  CRASHES,
  /** Datacenters handle their inputs late. */
  SLOW,
  /** Wall clocks jump and drift. */
  CLOCKS
}
