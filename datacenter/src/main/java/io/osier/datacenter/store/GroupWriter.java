package io.osier.datacenter.store;

import java.util.List;

/** Takes a partition's groups to be written, in their order. */
public interface GroupWriter {
  /**
   * A partition's group.
   *
   * @param heldBytes roughly how much memory is held until it is written, beside the group itself
   * @param written is run once it is durable, after those of the partition's earlier groups
   */
  record Group(List<Change> changes, long heldBytes, Runnable written) {}

  /** Takes a group; may wait while too much is under way. */
  void write(Group group);

  /**
   * Makes ready to write a snapshot of an object some time. For any thread.
   *
   * @return hands it over, or lets it be: whether it is written makes no difference; neither waits
   *     nor runs others' code
   */
  Runnable someTime(List<Change> changes);
}
