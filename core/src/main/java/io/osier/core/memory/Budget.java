package io.osier.core.memory;

/**
 * Bytes of the heap that something may take: a limit, what is used of it, and how often it was
 * spent.
 *
 * <p>Whoever keeps something takes its bytes and gives them back when it goes. Two ways: {@link
 * #tryTake} for what can be refused, and {@link #take} with {@link #isOver} for what has come
 * already and makes something else go. What is larger than the limit is let in alone, so that a
 * budget never stops for good what the settings allow.
 *
 * <p>Pure, and not thread-safe: it belongs to what it bounds. {@link #usage} is a copy for others.
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
   * There is more from now on, or less: then what is taken stays, and whoever keeps it lets go of
   * it as when more has come.
   *
   * @param bytes 0 or more
   */
  public void setLimit(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a budget must not be negative: " + bytes);
    }
    limit = bytes;
  }

  /** Takes bytes; false, and none are taken, if they do not fit. */
  public boolean tryTake(long bytes) {
    if (used > 0 && used + bytes > limit) {
      spent++;
      return false;
    }
    used += bytes;
    return true;
  }

  /** Takes bytes, or gives back where it is negative, whether they fit or not. */
  public void take(long bytes) {
    used += bytes;
  }

  /** Gives bytes back. */
  public void give(long bytes) {
    used -= bytes;
  }

  /** Whether more is taken than there is. */
  public boolean isOver() {
    return used > limit;
  }

  /** Counts that something had to go, or to wait, because more was taken than there is. */
  public void noteSpent() {
    spent++;
  }

  /** How many bytes there are. */
  public long limit() {
    return limit;
  }

  /** How many are taken. */
  public long used() {
    return used;
  }

  /** What is used now. */
  public Usage usage() {
    return new Usage(name, limit, used, spent);
  }

  /**
   * What was used of a budget at one moment.
   *
   * @param limit in bytes
   * @param used in bytes; may be more than the limit for a moment, or by one thing alone
   * @param spent how often something was refused, dropped or had to wait because of it
   */
  public record Usage(String name, long limit, long used, long spent) {
    /** Both together, under this one's name. */
    public Usage plus(Usage other) {
      return new Usage(name, limit + other.limit, used + other.used, spent + other.spent);
    }
  }

  @Override
  public String toString() {
    return name + ": " + used + " of " + limit + " bytes";
  }
}
