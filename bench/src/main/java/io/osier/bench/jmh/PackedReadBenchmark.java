package io.osier.bench.jmh;

import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.PackedReader;
import io.osier.crdt.state.StateCodec;
import java.util.List;
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

/**
 * Measures common reads of a packed object, from its bytes and by decoding it. Three datacenters
 * have updated it.
 *
 * <p>Command: {@code ./osier jmh PackedReadBenchmark}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class PackedReadBenchmark {
  public enum Read {
    COUNTER(CrdtType.PN_COUNTER, 10),
    /** A register of 20 bytes. */
    REGISTER(CrdtType.LWW_REGISTER, 20),
    /** Whether an element in the middle of ten is there. */
    CONTAINS_10(CrdtType.AW_SET, 10),
    SIZE_10(CrdtType.AW_SET, 10),
    /** Whether an element in the middle of a thousand is there. */
    CONTAINS_1000(CrdtType.AW_SET, 1_000),
    FIELD_10(CrdtType.OR_MAP, 10);

    private final CrdtType type;
    private final int size;

    Read(CrdtType type, int size) {
      this.type = type;
      this.size = size;
    }

    private Query query() {
      return switch (this) {
        case COUNTER, REGISTER -> new Query.Whole();
        case CONTAINS_10, CONTAINS_1000 -> new Query.Contains(Objects.element(size / 2));
        case SIZE_10 -> new Query.Size();
        case FIELD_10 -> new Query.Select(List.of("name-" + (1_000 + size / 2)));
      };
    }
  }

  @Param public Read read;

  private Query query;
  private int form;
  private List<ReplicaId> replicas;
  private byte[] packed;

  @Setup
  public void pack() {
    CrdtState object = Objects.of(read.type, read.size);
    query = read.query();
    form = object.form();
    replicas = object.context().replicas();
    packed = StateCodec.pack(object);
    PackedReader answer = fromBytes();
    if (answer == null || !answer.reading().equals(decoded())) {
      throw new IllegalStateException("the two ways do not give the same answer");
    }
  }

  @Benchmark
  public @Nullable PackedReader fromBytes() {
    return PackedReader.of(form, replicas, query, new WireInput(packed));
  }

  @Benchmark
  public Reading decoded() {
    return StateCodec.unpack(form, true, replicas, new WireInput(packed)).read(query);
  }
}
