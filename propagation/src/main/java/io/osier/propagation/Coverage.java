package io.osier.propagation;

/** Whether this partition has everything that a vector names. */
public enum Coverage {
  /** Everything that was asked for is here. */
  HERE,
  /** Something has not come yet. */
  NOT_YET,
  /** Something was lost with the memory of a former incarnation: no datacenter has it. */
  LOST
}
