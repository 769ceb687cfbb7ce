package io.osier.datacenter.store;

import java.util.List;

/**
 * Writes the groups of all partitions: the groups that have gathered are one write, and those that
 * gather meanwhile the next, so that a slow disk confirms more with each write. It works in steps
 * and has no thread, clock or disk of its own. {@link #step} does a whole write; or {@link #begin},
 * the write, and {@link #confirm} follow each other, and a crash in between leaves a prefix of the
 * groups.
 *
 * <p>For one thread at a time, the leader; groups come through its {@link GroupQueue} from any
 * thread.
 */
public final class GroupCommit<R> {
  /** A disk. */
  @FunctionalInterface
  public interface Disk<R> {
    /**
     * Writes groups, all or none, in this order; returns when they are as durable as configured.
     */
    void write(List<R> groups);
  }

  /** The groups that are being written. */
  public static final class Batch<R> {
    private final List<GroupQueue.Item<R>> items;

    private Batch(List<GroupQueue.Item<R>> items) {
      this.items = items;
    }

    /** Returns the groups, in order; empty if there is nothing to write. */
    public List<R> groups() {
      return items.stream().map(GroupQueue.Item::records).toList();
    }

    /** Returns whether there is nothing to write. */
    public boolean isEmpty() {
      return items.isEmpty();
    }
  }

  private final GroupQueue<R> queue;
  private boolean writing;

  /** A writer of the groups that come through a queue. */
  public GroupCommit(GroupQueue<R> queue) {
    this.queue = queue;
  }

  /**
   * Takes the gathered groups, to be written now.
   *
   * @throws IllegalStateException if the last batch is not yet confirmed
   */
  public Batch<R> begin() {
    if (writing) {
      throw new IllegalStateException("a batch is being written");
    }
    Batch<R> batch = new Batch<>(queue.poll());
    writing = !batch.isEmpty();
    return batch;
  }

  /**
   * Notes that a batch is durable: in the groups' order, threads that wait for that, or for room,
   * go on.
   */
  public void confirm(Batch<R> batch) {
    writing = false;
    queue.release(batch.items);
    batch.items.forEach(item -> item.written().run());
  }

  /**
   * Writes the gathered groups.
   *
   * @return how many groups were written; 0 if there were none
   */
  public int step(Disk<R> disk) {
    Batch<R> batch = begin();
    if (!batch.isEmpty()) {
      disk.write(batch.groups());
      confirm(batch);
    }
    return batch.items.size();
  }
}
