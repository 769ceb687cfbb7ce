package io.osier.bench.jmh;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
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
 * What do version vectors cost, with an entry for each of so many datacenters?
 *
 * <p>Command: {@code ./osier jmh VersionVectorBenchmark}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class VersionVectorBenchmark {
  /** Entries of the vectors. */
  @Param({"3", "10", "100"})
  public int entries;

  private VersionVector vector;
  private VersionVector larger;
  private VersionVector concurrent;
  private ReplicaId last = new ReplicaId("dc", 1);

  /** For JMH. */
  public VersionVectorBenchmark() {}

  /** Makes the vectors. */
  @Setup
  public void fill() {
    vector = VersionVector.EMPTY;
    larger = VersionVector.EMPTY;
    concurrent = VersionVector.EMPTY;
    for (int i = 0; i < entries; i++) {
      last = new ReplicaId("dc-" + (100 + i), 1);
      // Equal, but not the same: as they come out of two messages.
      ReplicaId again = new ReplicaId("dc-" + (100 + i), 1);
      vector = vector.with(last, 1_000 + i);
      larger = larger.with(again, 1_001 + i);
      concurrent = concurrent.with(again, i % 2 == 0 ? 1_001 + i : 999 + i);
    }
  }

  /** Compares, where all entries must be looked at. */
  @Benchmark
  public boolean compare() {
    return vector.isAtMost(larger);
  }

  /** Joins with one that is larger in every other entry. */
  @Benchmark
  public Object join() {
    return vector.join(concurrent);
  }

  /** Joins with one that covers it. */
  @Benchmark
  public Object joinCovered() {
    return larger.join(vector);
  }

  /** Raises one entry, as an update does. */
  @Benchmark
  public Object raise() {
    return vector.raised(last, 5_000);
  }
}
