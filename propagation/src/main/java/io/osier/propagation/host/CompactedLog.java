package io.osier.propagation.host;

import java.util.Arrays;

/**
 * Things in the order in which each was last touched. A touch gives the thing the next tick, and
 * whoever has followed the log up to a tick goes on from there.
 *
 * <p>Ticks only grow, so they lie sorted in an array: adding costs no search and no allocation, and
 * finding one a binary search. What was removed leaves a gap, and gaps are closed before they are
 * three quarters of the array, so its size follows what is in it, however many ticks were given.
 * Not thread-safe.
 */
public final class CompactedLog<T> {
  private static final int CAPACITY_MIN = 16;
  private static final int GAPS_SHARE = 4;

  private long[] ticks = new long[CAPACITY_MIN];
  private Object[] things = new Object[CAPACITY_MIN];
  private int head;
  private int tail;
  private int size;
  private long last;

  /**
   * @param last the tick before the first one
   */
  public CompactedLog(long last) {
    this.last = last;
  }

  /** Adds a thing at the end; returns its tick. */
  public long add(T thing) {
    if (tail == ticks.length) {
      resize(Math.max(CAPACITY_MIN, 2 * size));
    }
    ticks[tail] = ++last;
    things[tail++] = thing;
    size++;
    return last;
  }

  /** Gives nobody the next tick: whoever has followed the log so far is before it. */
  public long skip() {
    return ++last;
  }

  public void remove(long tick) {
    int i = Arrays.binarySearch(ticks, head, tail, tick);
    if (i < 0 || things[i] == null) {
      return;
    }
    things[i] = null;
    size--;
    while (head < tail && things[head] == null) {
      head++;
    }
    if (tail - head > CAPACITY_MIN && size < (tail - head) / GAPS_SHARE) {
      resize(Math.max(CAPACITY_MIN, 2 * size));
    }
  }

  /** Closes the gaps. */
  private void resize(int capacity) {
    long[] newTicks = new long[capacity];
    Object[] newThings = new Object[capacity];
    int n = 0;
    for (int i = head; i < tail; i++) {
      if (things[i] != null) {
        newTicks[n] = ticks[i];
        newThings[n++] = things[i];
      }
    }
    ticks = newTicks;
    things = newThings;
    head = 0;
    tail = n;
  }

  /** The first tick after one at which there is a thing; 0 if there is none. */
  public long next(long after) {
    int found = Arrays.binarySearch(ticks, head, tail, after);
    int i = found < 0 ? -found - 1 : found + 1;
    while (i < tail && things[i] == null) {
      i++;
    }
    return i < tail ? ticks[i] : 0;
  }

  /** The thing at a tick that {@link #next} has told. */
  @SuppressWarnings("unchecked")
  public T get(long tick) {
    return (T) things[Arrays.binarySearch(ticks, head, tail, tick)];
  }

  /** The last tick that was given. */
  public long last() {
    return last;
  }

  public int size() {
    return size;
  }

  /** Room for how many things is taken. */
  int capacity() {
    return ticks.length;
  }
}
