package io.osier.bench.client;

import io.osier.bench.cluster.Zipf;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;

/**
 * The numbers of keys, again and again in one order that was drawn beforehand: drawing must not be
 * what is measured. Each run has the same. Thread-safe.
 */
final class DrawnKeys implements IntSupplier {
  /** How uneven they are where they are skewed: YCSB's value. */
  static final double SKEW = 0.99;

  /** A power of two. */
  private static final int DRAWN = 1 << 16;

  private final int[] drawn = new int[DRAWN];
  private final AtomicInteger next = new AtomicInteger();

  private DrawnKeys(ToIntFunction<SplittableRandom> draw) {
    SplittableRandom random = new SplittableRandom(1);
    Arrays.setAll(drawn, i -> draw.applyAsInt(random));
  }

  /** Of so many keys, some much more often than others: zipfian, {@value #SKEW}. */
  static DrawnKeys skewed(int keys) {
    return new DrawnKeys(new Zipf(keys, SKEW)::next);
  }

  /** Of so many keys, all alike. */
  static DrawnKeys uniform(int keys) {
    return new DrawnKeys(random -> random.nextInt(keys));
  }

  @Override
  public int getAsInt() {
    return drawn[next.getAndIncrement() & (DRAWN - 1)];
  }
}
