package io.osier.bench.cluster;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.crdt.Reading;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The sums of acknowledged increments, and of those of unknown outcome. Thread-safe. */
public final class Tally {
  private static final class Sum {
    final LongAdder acknowledged = new LongAdder();
    final LongAdder unknown = new LongAdder();
  }

  private final Map<String, Sum> sums = new ConcurrentHashMap<>();

  /** Returns a counter's value; 0 if the reading is not a counter's. */
  public static long count(@Nullable Reading reading) {
    return reading instanceof Reading.Count count ? count.value() : 0;
  }

  private Sum of(String counter) {
    return sums.computeIfAbsent(counter, c -> new Sum());
  }

  /** Returns the action that notes an increment as acknowledged. */
  public Runnable acknowledged(String counter, long by) {
    Sum sum = of(counter);
    return () -> sum.acknowledged.add(by);
  }

  /** Returns the action that notes an increment as failed and possibly done. */
  public Runnable unknown(String counter, long by) {
    Sum sum = of(counter);
    return () -> sum.unknown.add(by);
  }

  /**
   * Compares counters with the acknowledged increments; missing and surplus are sums.
   *
   * @param shown returns a counter's value; 0 if there is none
   * @param strangers the counters that are there, of which those never incremented are surplus
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
