package io.osier.datacenter.store;

import java.util.List;

/** Writes a partition's groups, in their order. */
public interface GroupWriter {
  /**
   * A group of a partition's changes.
   *
   * @param heldBytes the memory that is held until the group is written, besides the group itself,
   *     about, in bytes
   * @param written runs once the group is durable, after those of earlier groups
   */
  record Group(List<Change> changes, long heldBytes, Runnable written) {}

  /** Takes a group; may wait while too much is in flight. */
  void write(Group group);

  /**
   * Prepares the writing of an object's snapshot at a later time. For any thread.
   *
   * @return hands the snapshot over, or drops it, as nothing depends on it; neither waits nor calls
   *     foreign code
   */
  Runnable someTime(List<Change> changes);
}
