package io.osier.propagation;

/** Whether this partition has everything that a vector names. */
public enum Coverage {
  /** Every named update is here. */
  HERE,
  /** Some named update has not arrived yet. */
  NOT_YET,
  /** Some named update was lost with the memory of a former incarnation: no datacenter has it. */
  LOST
}
