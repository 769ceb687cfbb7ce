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
 * Hands groups over from those who make them to the one who writes them, within a budget of bytes:
 * a group takes its bytes when it comes and gives them back when it is written, or lost. When the
 * budget is spent, groups wait outside in the order in which they came, or are refused.
 *
 * <p>Who writes has the turn, one at a time: a thread of its own, which sleeps until something has
 * gathered ({@link #await}), or one that has just put something in and is quicker than waking that
 * thread would be ({@link #beginHelping}).
 *
 * <p>A monitor: everything happens under one lock, which is held for no write and for nobody else's
 * code, and nobody waits without being woken by what ends the wait. There are no time-outs, so a
 * wake-up that was lost would be seen ({@code GroupQueueLincheckTest}). Thread-safe.
 *
 * @param <R> a group's records
 */
public final class GroupQueue<R> {
  /** Fewer and smaller writes than this keep a disk from being used well; larger ones delay all. */
  private static final long BYTES_AT_ONCE_MAX = 16L << 20;

  /** A group under way. */
  static final class Item<R> {
    private final R records;
    private final long bytes;
    private final Runnable written;

    /** Whether it stands outside, for lack of room. Under the lock. */
    private boolean outside;

    private Item(R records, long bytes, Runnable written) {
      this.records = records;
      this.bytes = bytes;
      this.written = written;
    }

    R records() {
      return records;
    }

    /** What it takes of the budget. */
    long bytes() {
      return bytes;
    }

    /** Is run when it is durable. */
    Runnable written() {
      return written;
    }
  }

  /** Nobody else takes from it: who gives back must wake those who wait. */
  private final Budget budget;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition gathered = lock.newCondition();
  private final Condition room = lock.newCondition();

  // What follows is read and changed under the lock alone.
  private final Deque<Item<R>> items = new ArrayDeque<>();
  private final Deque<Item<R>> outside = new ArrayDeque<>();
  private boolean closed;

  /** Who has the turn to write; null if nobody has. */
  private @Nullable Thread writing;

  /** How many see to it that what gathers is written. */
  private int helpers;

  /**
   * @param budget for this queue alone
   */
  public GroupQueue(Budget budget) {
    this.budget = budget;
  }

  /**
   * Puts a group into the queue if there is room now.
   *
   * @return false if there is none, or nobody writes any more
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
   * Puts a group into the queue, and waits until there is room. Does nothing once nobody writes any
   * more: the group is not confirmed.
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
   * As {@link #put}, for one who waits in a way of its own: the group goes in by itself when there
   * is room.
   *
   * @return whether the wait is over; for any thread
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
        wakeWriter(); // who waits here may be the one who was going to write
      }
    }
    return item;
  }

  /** Lets in those for whom there is room, in the order in which they came. */
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

  /** Wakes the thread that writes, if what it waits for is there and nobody else does it. */
  private void wakeWriter() {
    wakeWriter(helpers > 0 && outside.isEmpty());
  }

  private void wakeWriter(boolean helped) {
    if (writing == null && (closed || (!items.isEmpty() && !helped))) {
      gathered.signal();
    }
  }

  /** Takes what has gathered, in its order, as much as one write should have; empty if nothing. */
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

  /** Gives back what groups that {@link #poll} returned have taken. */
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
   * Waits until something has gathered that nobody else writes, and takes the turn. For one thread
   * alone.
   *
   * @return false if the queue is closed and empty, and nobody writes any more; there is no turn to
   *     end then
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

  /** Ends the turn: all that was taken is confirmed, or lost. For who has it. */
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
   * Announces that this thread will see to it that what gathers from now on is written: nobody else
   * is woken for it.
   *
   * @return false if it must not, and nothing is to be ended: it has the turn already, so that it
   *     would wait for room that it makes itself; or half of the budget is spent, and it might have
   *     to wait
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

  /** Takes the turn if something has gathered and nobody has it. */
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
   * Ends what {@link #beginHelping} began: what has gathered is the business of others again.
   *
   * @param leaves whether it has not written all that it could. The thread that writes is then
   *     woken whoever else helps: they may leave it, too, and come one after the other for ever
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

  /** Takes no group any more; those that are in it are still written. */
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

  /** As {@link #close}, and forgets what is in it: it cannot be written. */
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
