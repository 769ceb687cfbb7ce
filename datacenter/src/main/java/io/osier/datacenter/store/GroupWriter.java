package io.osier.datacenter.store;

/** Takes a partition's groups to be written, in their order. */
public interface GroupWriter {
  /**
   * A partition's group.
   *
   * @param changes what to write
   * @param written is run once it is durable, after those of the partition's earlier groups
   */
  record Group(java.util.List<Change> changes, Runnable written) {}

  /** Takes a group; may wait while too much is under way. */
  void write(Group group);

  /** Writes a snapshot of an object some time; whether it is written makes no difference. */
  void writeSomeTime(java.util.List<Change> changes);
}
