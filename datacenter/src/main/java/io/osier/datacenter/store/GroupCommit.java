package io.osier.datacenter.store;

import java.util.List;

/**
 * Writes the groups of all partitions: what has gathered is one write, and what gathers meanwhile
 * is the next, so that a slow disk confirms more with each. An agent of steps without a thread,
 * clock or disk of its own. Where writing takes no turn of somebody else {@link #step} does all;
 * otherwise {@link #begin}, the write, and {@link #confirm} follow each other, and a crash in
 * between leaves a prefix of what was handed over.
 *
 * <p>For one thread at a time, who has the turn; groups come through its {@link GroupQueue} from
 * any.
 */
public final class GroupCommit<R> {
  /** A disk. */
  @FunctionalInterface
  public interface Disk<R> {
    /**
     * Writes groups, altogether or not at all, in this order; returns when they are as durable as
     * configured.
     */
    void write(List<R> groups);
  }

  /** What is being written. */
  public static final class Batch<R> {
    private final List<GroupQueue.Item<R>> items;

    private Batch(List<GroupQueue.Item<R>> items) {
      this.items = items;
    }

    /** The groups, in their order; empty if there is nothing to write. */
    public List<R> groups() {
      return items.stream().map(GroupQueue.Item::records).toList();
    }

    /** Whether nothing has gathered. */
    public boolean isEmpty() {
      return items.isEmpty();
    }
  }

  private final GroupQueue<R> queue;
  private boolean writing;

  /** A writer of what comes through a queue. */
  public GroupCommit(GroupQueue<R> queue) {
    this.queue = queue;
  }

  /**
   * Takes what has gathered, to be written now.
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

  /** A batch is durable: those who wait for that, or for room, go on, in the groups' order. */
  public void confirm(Batch<R> batch) {
    writing = false;
    queue.release(batch.items);
    batch.items.forEach(item -> item.written().run());
  }

  /**
   * Writes what has gathered.
   *
   * @return how many groups; 0 if there were none
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
