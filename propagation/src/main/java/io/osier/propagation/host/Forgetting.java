package io.osier.propagation.host;

/** Whether removals may be forgotten: here, or by the others before they came here. */
public enum Forgetting {
  /** All that was removed is remembered. */
  NOTHING,
  /** Something may be forgotten, which was removed by updates that are here. */
  SOMETHING,
  /** The others may have forgotten what never came here. */
  UNKNOWN
}
