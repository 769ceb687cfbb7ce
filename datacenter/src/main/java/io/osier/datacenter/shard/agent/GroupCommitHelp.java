package io.osier.datacenter.shard.agent;

/**
 * Lets a thread that runs a partition in front of the partition's own write the resulting records
 * itself, if that needs no waiting. Thread-safe.
 */
public interface GroupCommitHelp {
  /** Help where nothing is written. */
  GroupCommitHelp NONE =
      new GroupCommitHelp() {
        @Override
        public boolean begin() {
          return true;
        }

        @Override
        public void end() {}
      };

  /**
   * Asks whether this thread may run partitions now; if so, {@link #end} must follow. In between,
   * the thread may ask again for other partitions; the records of all are then written at the last
   * end.
   *
   * @return false if it might have to wait for the disk, or writes at this moment
   */
  boolean begin();

  /** Runs work that may run partitions, so that their records are written together. */
  default void together(Runnable follows) {
    boolean helping = begin();
    try {
      follows.run();
    } finally {
      if (helping) {
        end();
      }
    }
  }

  /**
   * Writes the records made since the begin, or leaves them to others. Called with no lock held.
   */
  void end();
}
