package io.osier.core.net;

import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Open requests by the number that their answer will name. Not thread-safe.
 *
 * <p>Consecutive numbers would lie side by side in a table with linear probing, and each removal of
 * the oldest would walk over all behind it: with 256 open requests that took a fifth of a client's
 * time. So the table's keys are the numbers times an odd constant (Knuth's multiplicative hashing):
 * no two of them collide, and neighbours are spread.
 */
public final class InFlight<V> {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** The constant's inverse modulo 2^64. */
  private static final long GATHER = 0xF1DE83E19937733DL;

  private final LongObjectHashMap<V> bySpread = new LongObjectHashMap<>();

  public InFlight() {}

  /** Adds a value under a number, which must be free. */
  public void put(long number, V value) {
    bySpread.put(number * SPREAD, value);
  }

  /** Removes and returns the value under a number; null if there is none. */
  public @Nullable V remove(long number) {
    return bySpread.remove(number * SPREAD);
  }

  /** Returns the value under a number; null if there is none. */
  public @Nullable V get(long number) {
    return bySpread.get(number * SPREAD);
  }

  /** Whether there are no open requests. */
  public boolean isEmpty() {
    return bySpread.isEmpty();
  }

  /** Returns the number of open requests. */
  public int size() {
    return bySpread.size();
  }

  /**
   * Calls {@code consumer} with each value and number, in no order; it must not change this table.
   */
  public void forEach(ObjLongConsumer<V> consumer) {
    for (LongObjectMap.PrimitiveEntry<V> entry : bySpread.entries()) {
      consumer.accept(entry.value(), entry.key() * GATHER);
    }
  }

  /** Removes and returns all values, in no order. */
  public List<V> removeAll() {
    List<V> all = new ArrayList<>(bySpread.values());
    bySpread.clear();
    return all;
  }
}
