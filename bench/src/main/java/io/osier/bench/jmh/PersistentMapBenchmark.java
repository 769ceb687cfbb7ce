package io.osier.bench.jmh;

import io.osier.core.Value;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
import org.openjdk.jmh.infra.Blackhole;
import org.pcollections.HashPMap;
import org.pcollections.HashTreePMap;

/**
 * Which persistent map should the sets and maps be made of? Elements are strings, as in most sets;
 * one operation each on a map of the given size. Beside the two libraries stands java.util.HashMap,
 * copied for each change, as the plain baseline.
 *
 * <p>Command: {@code ./osier jmh PersistentMapBenchmark}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class PersistentMapBenchmark {
  /** Size of the map. */
  @Param({"10", "1000", "10000"})
  public int size;

  private Value[] present;
  private Value[] absent;
  private io.vavr.collection.HashMap<Value, Integer> vavr = io.vavr.collection.HashMap.empty();
  private io.vavr.collection.TreeMap<Value, Integer> ordered = io.vavr.collection.TreeMap.empty();
  private HashPMap<Value, Integer> pcollections = HashTreePMap.empty();
  private java.util.HashMap<Value, Integer> copied = new java.util.HashMap<>();
  private int next;

  /** For JMH. */
  public PersistentMapBenchmark() {}

  /** Fills the maps. */
  @Setup
  public void fill() {
    present = new Value[size];
    absent = new Value[size];
    for (int i = 0; i < size; i++) {
      present[i] = Value.of("element-" + i);
      absent[i] = Value.of("other-" + i);
      vavr = vavr.put(present[i], i);
      ordered = ordered.put(present[i], i);
      pcollections = pcollections.plus(present[i], i);
      copied.put(present[i], i);
    }
  }

  private int next() {
    next = next + 1 == size ? 0 : next + 1;
    return next;
  }

  /** Inserts one element. */
  @Benchmark
  public Object insertVavr() {
    return vavr.put(absent[next()], 1);
  }

  /** Inserts one element. */
  @Benchmark
  public Object insertVavrOrdered() {
    return ordered.put(absent[next()], 1);
  }

  /** Inserts one element. */
  @Benchmark
  public Object insertPcollections() {
    return pcollections.plus(absent[next()], 1);
  }

  /** Inserts one element. */
  @Benchmark
  public Object insertCopied() {
    java.util.HashMap<Value, Integer> copy = new java.util.HashMap<>(copied);
    copy.put(absent[next()], 1);
    return copy;
  }

  /** Removes one element. */
  @Benchmark
  public Object removeVavr() {
    return vavr.remove(present[next()]);
  }

  /** Removes one element. */
  @Benchmark
  public Object removeVavrOrdered() {
    return ordered.remove(present[next()]);
  }

  /** Removes one element. */
  @Benchmark
  public Object removePcollections() {
    return pcollections.minus(present[next()]);
  }

  /** Finds one element. */
  @Benchmark
  public Object getVavr() {
    return vavr.getOrElse(present[next()], null);
  }

  /** Finds one element. */
  @Benchmark
  public Object getVavrOrdered() {
    return ordered.getOrElse(present[next()], null);
  }

  /** Finds one element. */
  @Benchmark
  public @Nullable Object getPcollections() {
    return pcollections.get(present[next()]);
  }

  /** Visits all elements. */
  @Benchmark
  public void iterateVavr(Blackhole hole) {
    for (io.vavr.Tuple2<Value, Integer> entry : vavr) {
      hole.consume(entry);
    }
  }

  /** Visits all elements, in their order. */
  @Benchmark
  public void iterateVavrOrdered(Blackhole hole) {
    for (io.vavr.Tuple2<Value, Integer> entry : ordered) {
      hole.consume(entry);
    }
  }

  /** Visits all elements. */
  @Benchmark
  public void iteratePcollections(Blackhole hole) {
    for (java.util.Map.Entry<Value, Integer> entry : pcollections.entrySet()) {
      hole.consume(entry);
    }
  }
}
