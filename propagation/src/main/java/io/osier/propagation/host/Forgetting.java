package io.osier.propagation.host;

/** Whether removals may be forgotten: here, or by the others before they came here. */
public enum Forgetting {
  /** Every removal is remembered. */
  NOTHING,
  /** Some removals may be forgotten, all of which were made by updates that are here. */
  SOMETHING,
  /** The others may have forgotten removals that never came here. */
  UNKNOWN
}
