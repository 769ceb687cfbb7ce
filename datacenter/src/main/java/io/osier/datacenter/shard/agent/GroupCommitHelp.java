package io.osier.datacenter.shard.agent;

/**
 * How one who runs a partition in front of its thread sees to it that what this makes is written:
 * by itself, if that needs no waiting. Thread-safe.
 */
public interface GroupCommitHelp {
  /** Where nothing is written. */
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
   * Asks whether this thread may run partitions now; {@link #end} must follow if it may. Between
   * the two it may ask again, for each of them, and then what all have made is written at the last
   * end.
   *
   * @return false if it might have to wait for the disk, or writes at this moment
   */
  boolean begin();

  /** Runs what may run partitions, so that what they make is written together. */
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

  /** Writes what has been made since the begin, or leaves it to others. With no lock held. */
  void end();
}
