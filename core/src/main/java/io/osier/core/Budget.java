package io.osier.core;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Bytes of the heap that something may take: a limit, what is used of it, and how often it was
 * spent. A budget is divided into shares, which have names and limits of their own and together at
 * most its limit, and a share into equal parts; only what is not divided further is taken from.
 *
 * <p>Whoever keeps something takes its bytes and gives them back when it goes. Two ways: {@link
 * #tryTake} for what can be refused, and {@link #take} with {@link #isOver} for what has come
 * already and makes something else go. What is larger than the limit is let in alone, so that a
 * budget never stops for good what settings allow.
 *
 * <p>Thread-safe. One addition of an atomic number each time; a caller of {@link #tryTake} that
 * meets others may be refused what one of them is about to give back.
 */
public final class Budget {
  private final String name;
  private final long limit;
  private final AtomicLong used = new AtomicLong();
  private final LongAdder spent = new LongAdder();
  private final List<Budget> shares = new CopyOnWriteArrayList<>();

  /**
   * A budget.
   *
   * @param name what it is for, as statistics and errors call it
   * @param limit in bytes, 0 or more
   */
  public Budget(String name, long limit) {
    if (limit < 0) {
      throw new IllegalArgumentException("a budget must not be negative: " + limit);
    }
    this.name = name;
    this.limit = limit;
  }

  /** A budget that is never spent. */
  public static Budget unlimited(String name) {
    return new Budget(name, Long.MAX_VALUE / 2);
  }

  /**
   * A part of this for one purpose.
   *
   * @throws IllegalArgumentException if that is more than is left
   */
  public synchronized Budget share(String purpose, long bytes) {
    long divided = shares.stream().mapToLong(Budget::limit).sum();
    if (bytes > limit - divided) {
      throw new IllegalArgumentException(
          "of " + name + ", " + limit + " bytes, " + divided + " are shared out: no " + bytes);
    }
    Budget share = new Budget(purpose, bytes);
    shares.add(share);
    return share;
  }

  /** This in so many equal parts, of the same name. */
  public List<Budget> divided(int parts) {
    List<Budget> equal = new ArrayList<>();
    for (int i = 0; i < parts; i++) {
      equal.add(share(name, limit / parts));
    }
    return equal;
  }

  /** Takes bytes; false, and none are taken, if they do not fit. */
  public boolean tryTake(long bytes) {
    long now = used.addAndGet(bytes);
    if (now > limit && now > bytes) {
      used.addAndGet(-bytes);
      spent.increment();
      return false;
    }
    return true;
  }

  /** Takes bytes, or gives back if it is negative, whether they fit or not. */
  public void take(long bytes) {
    used.addAndGet(bytes);
  }

  /** Gives bytes back. */
  public void give(long bytes) {
    used.addAndGet(-bytes);
  }

  /** Whether more is taken than there is. */
  public boolean isOver() {
    return used.get() > limit;
  }

  /** Counts that something had to go, or was not kept, because the budget is spent. */
  public void noteSpent() {
    spent.increment();
  }

  /** What it is for. */
  public String name() {
    return name;
  }

  /** How many bytes there are. */
  public long limit() {
    return limit;
  }

  /** How many are taken, by all shares. */
  public long used() {
    long sum = used.get();
    for (Budget share : shares) {
      sum += share.used();
    }
    return sum;
  }

  /** How often this or a share was spent, since it was made. */
  public long spent() {
    long sum = spent.sum();
    for (Budget share : shares) {
      sum += share.spent();
    }
    return sum;
  }

  /** Into what this is divided, in the order in which it was. */
  public List<Budget> shares() {
    return List.copyOf(shares);
  }

  @Override
  public String toString() {
    return name + ": " + used() + " of " + limit + " bytes";
  }
}
