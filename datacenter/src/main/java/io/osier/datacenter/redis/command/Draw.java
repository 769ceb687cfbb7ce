package io.osier.datacenter.redis.command;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/** Draws elements at random, by a given seed. Static, for any thread. */
public final class Draw {
  /** Most elements that are drawn if each may come several times. */
  private static final long REPEATED_MAX = 1 << 20;

  private Draw() {}

  /**
   * Reads a command's count. A negative count lets elements come several times.
   *
   * @throws RedisException if the count is no number, or below the negative limit
   */
  public static long count(byte[] word) {
    long count = Numbers.integer(word);
    if (count < -REPEATED_MAX) {
      throw new RedisException(RedisErrors.OUT_OF_RANGE);
    }
    return count;
  }

  public static <T> List<T> of(List<T> all, long count, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<T> drawn = new ArrayList<>();
    if (count < 0) {
      for (long i = count; i < 0 && !all.isEmpty(); i++) {
        drawn.add(all.get(random.nextInt(all.size())));
      }
      return drawn;
    }
    if (count >= all.size()) {
      return all;
    }
    List<T> left = new ArrayList<>(all);
    for (int i = 0; i < count; i++) {
      Collections.swap(left, i, i + random.nextInt(left.size() - i));
    }
    return left.subList(0, (int) count);
  }
}
