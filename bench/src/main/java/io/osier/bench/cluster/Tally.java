package io.osier.bench.cluster;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.crdt.Reading;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** What was added to counters: what was acknowledged, and what may be done. Thread-safe. */
public final class Tally {
  private static final class Sum {
    final LongAdder acknowledged = new LongAdder();
    final LongAdder unknown = new LongAdder();
  }

  private final Map<String, Sum> sums = new ConcurrentHashMap<>();

  /** A counter's value; 0 if it is none. */
  public static long count(@Nullable Reading reading) {
    return reading instanceof Reading.Count count ? count.value() : 0;
  }

  private Sum of(String counter) {
    return sums.computeIfAbsent(counter, c -> new Sum());
  }

  /** What to do when an increment was acknowledged. */
  public Runnable acknowledged(String counter, long by) {
    Sum sum = of(counter);
    return () -> sum.acknowledged.add(by);
  }

  /** What to do when an increment has failed that may be done nevertheless. */
  public Runnable unknown(String counter, long by) {
    Sum sum = of(counter);
    return () -> sum.unknown.add(by);
  }

  /**
   * Holds the counters against what was acknowledged. Updates are counted by what they add.
   *
   * @param shown each counter's value, 0 where there is none
   * @param strangers counters that are there and were never incremented
   */
  public Audit audit(ToLongFunction<String> shown, Iterable<String> strangers) {
    long missing = 0;
    long surplus = 0;
    for (Map.Entry<String, Sum> each : sums.entrySet()) {
      Sum sum = each.getValue();
      long more = shown.applyAsLong(each.getKey()) - sum.acknowledged.sum();
      missing += Math.max(0, -more);
      surplus += Math.max(0, more - sum.unknown.sum());
    }
    return Audit.strangers(strangers, sums.keySet()).plus(new Audit(missing, surplus));
  }
}
