package io.osier.bench.jmh;

import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import java.util.Random;
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
 * Two replicas of an add-wins set differ by 400 operations that one of them has made, three adds to
 * one removal, on elements drawn evenly. How does the other catch up at least cost: by the
 * operations one by one, by their joined delta, or by the whole state? Figure 3.3 of the thesis
 * asks that of its own types.
 *
 * <p>Command: {@code ./osier jmh DivergenceBenchmark}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class DivergenceBenchmark {
  private static final int OPERATIONS = 400;
  private static final ReplicaId ELSEWHERE = Objects.REPLICAS.get(1);

  /** Elements of the set. */
  @Param({"300", "10000"})
  public int size;

  private CrdtState here;
  private CrdtState there;
  private CrdtState joined;
  private final CrdtState[] deltas = new CrdtState[OPERATIONS];

  /** For JMH. */
  public DivergenceBenchmark() {}

  /** Lets the replicas diverge. */
  @Setup
  public void diverge() {
    Random random = new Random(1);
    here = Objects.of(CrdtType.AW_SET, size);
    there = here;
    for (int i = 0; i < OPERATIONS; i++) {
      var element = Objects.element(random.nextInt(size + size / 4));
      Operation operation =
          random.nextInt(4) == 0 ? new Operation.Remove(element) : new Operation.Add(element);
      deltas[i] = Objects.delta(there, operation, ELSEWHERE);
      there = there.join(deltas[i]);
    }
    joined = joinDeltas();
    if (!here.join(joined).equals(there) || !here.join(there).equals(there)) {
      throw new IllegalStateException("the ways do not lead to the same state");
    }
  }

  /** Applies the operations one by one. */
  @Benchmark
  public Object operations() {
    CrdtState state = here;
    for (CrdtState delta : deltas) {
      state = state.join(delta);
    }
    return state;
  }

  /** Joins their delta. */
  @Benchmark
  public Object delta() {
    return here.join(joined);
  }

  /** Joins the other replica's whole state. */
  @Benchmark
  public Object state() {
    return here.join(there);
  }

  /** What the sender pays for the delta: joins the operations to one. */
  @Benchmark
  public CrdtState joinDeltas() {
    CrdtState all = deltas[0];
    for (int i = 1; i < OPERATIONS; i++) {
      all = all.join(deltas[i]);
    }
    return all;
  }
}
