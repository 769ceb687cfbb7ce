package io.osier.bench.jmh;

import io.osier.adaptation.SpaceSaving;
import io.osier.bench.cluster.Zipf;
import io.osier.core.Key;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures counting an update. The keys are drawn beforehand, of 100,000 and by a Zipfian
 * distribution, so that most updates of a small summary replace an entry.
 *
 * <p>Command: {@code ./osier jmh SpaceSavingBenchmark}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class SpaceSavingBenchmark {
  private static final int KEYS = 100_000;
  private static final int DRAWN = 1 << 18;

  /** The number of the summary's entries. */
  @Param({"100", "1000", "10000"})
  public int capacity;

  private final Key[] drawn = new Key[DRAWN];
  private SpaceSaving<Key, Object> summary;
  private int next;

  @Setup
  public void draw() {
    Key[] keys = new Key[KEYS];
    for (int i = 0; i < KEYS; i++) {
      keys[i] = Key.of("key-" + i);
    }
    Zipf zipf = new Zipf(KEYS);
    SplittableRandom random = new SplittableRandom(1);
    summary = new SpaceSaving<>(capacity, Object::new, (dropped, note) -> {});
    for (int i = 0; i < DRAWN; i++) {
      drawn[i] = keys[zipf.next(random)];
      summary.offer(drawn[i]);
    }
  }

  @Benchmark
  public Object offer() {
    next = (next + 1) & (DRAWN - 1);
    return summary.offer(drawn[next]);
  }
}
