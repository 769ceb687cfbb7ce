package io.osier.datacenter.server;

/**
 * How one who runs a partition in front of its thread sees to it that what this makes is written: by
 * itself, if that needs no waiting. Thread-safe.
 */
interface WriteHelp {
  /** Where nothing is written. */
  WriteHelp NONE =
      new WriteHelp() {
        @Override
        public boolean begin() {
          return true;
        }

        @Override
        public void end() {}
      };

  /**
   * Asks whether this thread may run a partition now; {@link #end} must follow if it may.
   *
   * @return false if it might have to wait for the disk, or writes at this moment
   */
  boolean begin();

  /** Writes what this thread has made, or leaves it to others. With no lock held. */
  void end();
}
