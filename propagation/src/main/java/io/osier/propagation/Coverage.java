package io.osier.propagation;

/** Whether a session's demands are met here. */
public enum Coverage {
  /** Everything that was asked for is here. */
  HERE,
  /** Something has not come yet. */
  NOT_YET,
  /** Something was lost with the memory of a former incarnation: nobody has it. */
  LOST
}
