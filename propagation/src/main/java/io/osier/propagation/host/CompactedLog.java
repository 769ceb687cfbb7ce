package io.osier.propagation.host;

import java.util.Arrays;

/**
 * A list of elements in the order in which each was last changed. Each change gives the element the
 * next number, its tick; a reader that has followed the log up to a tick goes on from there.
 *
 * <p>Ticks only grow, so they lie sorted in an array: adding costs no search and no allocation, and
 * finding a tick costs a binary search. A removed element leaves a gap. Gaps are closed before they
 * are three quarters of the array, so its size follows the number of elements, however many ticks
 * were given. Not thread-safe.
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

  /** Adds an element at the end; returns its tick. */
  public long add(T thing) {
    if (tail == ticks.length) {
      resize(Math.max(CAPACITY_MIN, 2 * size));
    }
    ticks[tail] = ++last;
    things[tail++] = thing;
    size++;
    return last;
  }

  /**
   * Uses up a tick for no element, so that readers that have followed the log so far are before it.
   */
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

  /** Copies the elements to arrays of another capacity, without the gaps. */
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

  /** Returns the first tick after this one at which there is an element; 0 if there is none. */
  public long next(long after) {
    int found = Arrays.binarySearch(ticks, head, tail, after);
    int i = found < 0 ? -found - 1 : found + 1;
    while (i < tail && things[i] == null) {
      i++;
    }
    return i < tail ? ticks[i] : 0;
  }

  /** Returns the element at a tick that {@link #next} has returned. */
  @SuppressWarnings("unchecked")
  public T get(long tick) {
    return (T) things[Arrays.binarySearch(ticks, head, tail, tick)];
  }

  /** Returns the last tick that was given. */
  public long last() {
    return last;
  }

  public int size() {
    return size;
  }

  /** Returns for how many elements there is room. */
  int capacity() {
    return ticks.length;
  }
}
