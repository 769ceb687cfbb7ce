package io.osier.bench.cluster;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Draws from 0 to n − 1, k with a probability in proportion to 1 / (k + 1)^0.99. Thread-safe. */
public final class Zipf {
  private static final double EXPONENT = 0.99;

  private final double[] sums;

  public Zipf(int n) {
    sums = new double[n];
    double sum = 0;
    for (int i = 0; i < n; i++) {
      sum += 1 / Math.pow(i + 1, EXPONENT);
      sums[i] = sum;
    }
  }

  public int next(SplittableRandom random) {
    int at = Arrays.binarySearch(sums, random.nextDouble() * sums[sums.length - 1]);
    return at < 0 ? -at - 1 : at;
  }
}
