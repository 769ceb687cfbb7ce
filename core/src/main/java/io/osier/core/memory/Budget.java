package io.osier.core.memory;

/**
 * A budget of heap bytes: a limit, how much of it is used, and how often it was spent.
 *
 * <p>A user of a budget takes the bytes of what it keeps, and gives them back when that goes. There
 * are two ways: {@link #tryTake} for things that can be refused, and {@link #take} with {@link
 * #isOver} for things that have come already and make others go. A thing larger than the limit is
 * let in alone, so that a budget never blocks for good what the settings allow.
 *
 * <p>Pure, and not thread-safe: it belongs to the object that it bounds. {@link #usage} returns a
 * copy for other threads.
 */
public final class Budget {
  private final String name;
  private long limit;
  private long used;
  private long spent;

  /**
   * @param limit in bytes, 0 or more
   */
  public Budget(String name, long limit) {
    this.name = name;
    setLimit(limit);
  }

  /**
   * Changes the limit. If it is lower, bytes that are taken stay taken, and their owner drops
   * things as if it had taken too much.
   *
   * @param bytes 0 or more
   */
  public void setLimit(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a budget must not be negative: " + bytes);
    }
    limit = bytes;
  }

  /** Takes bytes; returns false without taking any if they do not fit. */
  public boolean tryTake(long bytes) {
    if (used > 0 && used + bytes > limit) {
      spent++;
      return false;
    }
    used += bytes;
    return true;
  }

  /** Takes bytes, or gives them back if negative, whether they fit or not. */
  public void take(long bytes) {
    used += bytes;
  }

  /** Gives bytes back. */
  public void give(long bytes) {
    used -= bytes;
  }

  /** Whether more is taken than the limit. */
  public boolean isOver() {
    return used > limit;
  }

  /** Counts that something was dropped or had to wait because the limit was exceeded. */
  public void noteSpent() {
    spent++;
  }

  /** Returns the limit, in bytes. */
  public long limit() {
    return limit;
  }

  /** Returns how many bytes are taken. */
  public long used() {
    return used;
  }

  /** Returns a copy of the present state. */
  public Usage usage() {
    return new Usage(name, limit, used, spent);
  }

  /**
   * The state of a budget at one moment.
   *
   * @param limit in bytes
   * @param used in bytes; may exceed the limit for a moment, or because of a single thing
   * @param spent how often something was refused, dropped or had to wait because of the limit
   */
  public record Usage(String name, long limit, long used, long spent) {
    /** Returns the sum of both, under this one's name. */
    public Usage plus(Usage other) {
      return new Usage(name, limit + other.limit, used + other.used, spent + other.spent);
    }
  }

  @Override
  public String toString() {
    return name + ": " + used + " of " + limit + " bytes";
  }
}
