package io.osier.datacenter.store;

import io.osier.core.memory.Budget;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Passes groups from the threads that make them to the thread that writes them, within a budget of
 * bytes: a group takes its bytes when it comes and gives them back when it is written, or lost.
 * When the budget is spent, groups wait outside in the order in which they came, or are refused.
 *
 * <p>The thread that writes is the group-commit leader, one at a time: either the store's own
 * thread, which sleeps until groups have gathered ({@link #await}), or a thread that has just put a
 * group in and writes it sooner than the store's thread would wake ({@link #beginHelping}).
 *
 * <p>A monitor: everything happens under one lock, which is held neither during writes nor during
 * foreign code, and whatever ends a wait wakes the waiting thread. There are no time-outs, so a
 * lost wake-up would show ({@code GroupQueueLincheckTest}). Thread-safe.
 *
 * @param <R> a group's records
 */
public final class GroupQueue<R> {
  /**
   * The most bytes that one write takes: smaller writes use a disk badly, larger ones delay all
   * groups.
   */
  private static final long BYTES_AT_ONCE_MAX = 16L << 20;

  /** A group that is queued or being written. */
  static final class Item<R> {
    private final R records;
    private final long bytes;
    private final Runnable written;

    /** Whether the group waits outside for lack of room; guarded by the lock. */
    private boolean outside;

    private Item(R records, long bytes, Runnable written) {
      this.records = records;
      this.bytes = bytes;
      this.written = written;
    }

    R records() {
      return records;
    }

    /** Returns the bytes that the group takes of the budget. */
    long bytes() {
      return bytes;
    }

    /** Returns the action that runs when the group is durable. */
    Runnable written() {
      return written;
    }
  }

  /**
   * Only this queue takes from the budget, as giving bytes back must wake the threads that wait for
   * room.
   */
  private final Budget budget;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition gathered = lock.newCondition();
  private final Condition room = lock.newCondition();

  // The lock guards the following fields.
  private final Deque<Item<R>> items = new ArrayDeque<>();
  private final Deque<Item<R>> outside = new ArrayDeque<>();
  private boolean closed;

  /** The thread that is the leader; null if there is none. */
  private @Nullable Thread writing;

  /** How many threads have promised to write the groups that gather. */
  private int helpers;

  /**
   * @param budget used by this queue alone
   */
  public GroupQueue(Budget budget) {
    this.budget = budget;
  }

  /**
   * Puts a group into the queue if there is room now.
   *
   * @return false if there is no room, or writing has ended
   */
  public boolean offer(R records, long bytes, Runnable written) {
    lock.lock();
    try {
      if (closed || !outside.isEmpty() || !budget.tryTake(bytes)) {
        return false;
      }
      add(new Item<>(records, bytes, written));
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Puts a group into the queue, and waits until there is room. Does nothing once writing has
   * ended: the group is not confirmed then.
   */
  public void put(R records, long bytes, Runnable written) {
    lock.lock();
    try {
      Item<R> item = standInLine(records, bytes, written);
      while (item.outside) {
        room.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * As {@link #put}, for a caller that waits in its own way: the group enters by itself when there
   * is room.
   *
   * @return tells whether the wait is over; for any thread
   */
  public BooleanSupplier line(R records, long bytes, Runnable written) {
    lock.lock();
    try {
      Item<R> item = standInLine(records, bytes, written);
      return () -> !isOutside(item);
    } finally {
      lock.unlock();
    }
  }

  private boolean isOutside(Item<R> item) {
    lock.lock();
    try {
      return item.outside;
    } finally {
      lock.unlock();
    }
  }

  private Item<R> standInLine(R records, long bytes, Runnable written) {
    Item<R> item = new Item<>(records, bytes, written);
    if (!closed) {
      item.outside = true;
      outside.add(item);
      letIn();
      if (item.outside) {
        budget.noteSpent();
        wakeWriter(); // the thread that waits here may be the one that was going to write
      }
    }
    return item;
  }

  /** Lets groups in for which there is room, in the order in which they came. */
  private void letIn() {
    boolean any = false;
    while (!outside.isEmpty() && fits(outside.peek().bytes)) {
      Item<R> first = outside.remove();
      first.outside = false;
      budget.take(first.bytes);
      add(first);
      any = true;
    }
    if (any) {
      room.signalAll();
    }
  }

  private boolean fits(long bytes) {
    long used = budget.used();
    return used == 0 || used + bytes <= budget.limit();
  }

  private void add(Item<R> item) {
    items.add(item);
    wakeWriter();
  }

  /** Wakes the writing thread if there is work for it that no other thread does. */
  private void wakeWriter() {
    wakeWriter(helpers > 0 && outside.isEmpty());
  }

  private void wakeWriter(boolean helped) {
    if (writing == null && (closed || (!items.isEmpty() && !helped))) {
      gathered.signal();
    }
  }

  /**
   * Takes the gathered groups, in order, as many as one write should have; empty if there are none.
   */
  List<Item<R>> poll() {
    lock.lock();
    try {
      List<Item<R>> taken = new ArrayList<>();
      long bytes = 0;
      while (!items.isEmpty()
          && (taken.isEmpty() || bytes + items.peek().bytes <= BYTES_AT_ONCE_MAX)) {
        bytes += items.peek().bytes;
        taken.add(items.poll());
      }
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Gives back the bytes of groups that {@link #poll} returned. */
  void release(List<Item<R>> taken) {
    long bytes = taken.stream().mapToLong(Item::bytes).sum();
    lock.lock();
    try {
      budget.give(bytes);
      letIn();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until groups have gathered that no other thread writes, and becomes the leader. For one
   * thread alone.
   *
   * @return false if the queue is closed and empty, and no thread writes; the caller is not the
   *     leader then
   */
  public boolean await() {
    lock.lock();
    try {
      while (writing != null || (items.isEmpty() && !closed)) {
        gathered.awaitUninterruptibly();
      }
      if (items.isEmpty()) {
        return false;
      }
      writing = Thread.currentThread();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the leader's turn: the groups that it took are confirmed, or lost. Called by the leader.
   */
  public void endTurn() {
    lock.lock();
    try {
      writing = null;
      wakeWriter();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Promises that this thread will write the groups that gather from now on: no other thread is
   * woken for them.
   *
   * @return false if this thread must not help, and has nothing to end: it is the leader already,
   *     so that it would wait for room that only it can make; or half of the budget is spent, and
   *     it might have to wait
   */
  public boolean beginHelping() {
    lock.lock();
    try {
      boolean isRoomy = outside.isEmpty() && budget.used() <= budget.limit() / 2;
      if (closed || !isRoomy || writing == Thread.currentThread()) {
        return false;
      }
      helpers++;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Becomes the leader if groups have gathered and there is no leader. Returns whether it did. */
  public boolean tryTurn() {
    lock.lock();
    try {
      if (writing != null || items.isEmpty()) {
        return false;
      }
      writing = Thread.currentThread();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the promise of {@link #beginHelping}: other threads write the gathered groups again.
   *
   * @param leaves whether groups are left that it could have written. The store's thread is then
   *     woken even if other threads help: they may leave groups, too, one after the other for ever
   */
  public void endHelping(boolean leaves) {
    lock.lock();
    try {
      helpers--;
      if (leaves) {
        wakeWriter(false);
      } else {
        wakeWriter();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes no more groups; those in the queue are still written. */
  public void close() {
    lock.lock();
    try {
      closed = true;
      outside.forEach(item -> item.outside = false);
      outside.clear();
      gathered.signalAll();
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** As {@link #close}, and drops the groups in the queue: they cannot be written. */
  public void fail() {
    lock.lock();
    try {
      budget.give(items.stream().mapToLong(Item::bytes).sum());
      items.clear();
      close();
    } finally {
      lock.unlock();
    }
  }
}
