package io.osier.crdt;

/**
 * Something written at a time.
 *
 * @param timestamp of the hybrid clock
 */
record Stamped<V>(long timestamp, V value) {
  /** A timestamp larger than everything that the update replaces: causality beats a slow clock. */
  static <V> long after(DotFun<Stamped<V>> seen, Preparation preparation) {
    long timestamp = preparation.timestamp();
    for (int i = 0; i < seen.size(); i++) {
      timestamp = Math.max(timestamp, seen.value(i).timestamp + 1);
    }
    return timestamp;
  }
}
