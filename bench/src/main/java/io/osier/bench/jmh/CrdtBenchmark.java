package io.osier.bench.jmh;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
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
 * Measures the data types, by type and size ({@link Objects}): an update at its origin, joining a
 * delta and a state of another datacenter, encoding and decoding.
 *
 * <p>Command: {@code ./osier jmh CrdtBenchmark}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class CrdtBenchmark {
  private static final ReplicaId HERE = Objects.REPLICAS.get(0);
  private static final ReplicaId ELSEWHERE = Objects.REPLICAS.get(1);

  @Param public CrdtType type;

  @Param({"1", "100", "10000"})
  public int size;

  private CrdtState object;
  private CrdtState remoteDelta;
  private CrdtState remoteState;
  private byte[] encoded;
  private Operation[] updates;
  private int next;

  @Setup
  public void fill() {
    object = Objects.of(type, size);
    // Elements that are there and others, as many of each.
    updates = new Operation[128];
    for (int i = 0; i < updates.length; i++) {
      int number = i % 2 == 0 ? i * size / updates.length : size + i;
      updates[i] = Objects.update(type, number, size);
    }
    remoteDelta = Objects.delta(object, Objects.update(type, size / 2, size), ELSEWHERE);
    remoteState = object.join(remoteDelta);
    encoded = WireOutput.bytesOf(out -> StateCodec.write(out, object));
  }

  /** Prepares an update and joins it. */
  @Benchmark
  public Object update() {
    next = (next + 1) % updates.length;
    return object.join(Objects.delta(object, updates[next], HERE));
  }

  /** Joins the delta of one update of another datacenter. */
  @Benchmark
  public Object joinDelta() {
    return object.join(remoteDelta);
  }

  /** Joins the whole state of another datacenter, which differs by one update. */
  @Benchmark
  public Object joinState() {
    return object.join(remoteState);
  }

  @Benchmark
  public byte[] encode() {
    return WireOutput.bytesOf(out -> StateCodec.write(out, object));
  }

  @Benchmark
  public Object decode() {
    return StateCodec.read(object.form(), true, new WireInput(encoded));
  }
}
