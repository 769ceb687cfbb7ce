package io.osier.datacenter.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.testing.HeapSize;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Budgets are in bytes of the heap, by estimates: each agrees with what many of a kind really take,
 * within a quarter.
 */
final class HeapEstimatesTest {
  private static final double QUARTER = 0.25;
  private static final int SAMPLES_MAX = 200;
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 7);

  /**
   * A kind of thing.
   *
   * @param count of how many different ones the samples are
   */
  private record Kind<T>(String name, int count, IntFunction<T> make, ToLongFunction<T> estimate) {
    @Override
    public String toString() {
      return name;
    }

    /** Samples from all over the kind. */
    private List<T> samples() {
      int samples = Math.min(count, SAMPLES_MAX);
      return IntStream.range(0, samples).map(k -> k * (count / samples)).mapToObj(make).toList();
    }

    /** By four fifths of the samples, after others, whose are the constants that all share. */
    private double measured(List<T> samples) {
      HeapSize heap = new HeapSize();
      int from = samples.size() / 5;
      samples.subList(0, from).forEach(heap::add);
      return samples.stream().skip(from).mapToLong(heap::add).average().orElseThrow();
    }

    private double estimated(List<T> samples) {
      return samples.stream().mapToLong(estimate).average().orElseThrow();
    }
  }

  // ---------------------------------------------------------------- the kinds

  private static Key key(int i) {
    return Key.of("user:" + (1_000_000 + i));
  }

  private static Value text(int i, int length) {
    return Value.of("v".repeat(length - 7) + (1_000_000 + i));
  }

  private static List<Value> texts(int i, int count, int length) {
    return IntStream.range(0, count).mapToObj(k -> text(i + k, length)).toList();
  }

  private static CrdtState delta(CrdtType type, Operation operation, int i) {
    CrdtState delta = CrdtState.bottom(type).prepare(operation, EU, 1 + i, 0, 1_000 + i, 0);
    assertThat(StateCodec.pack(delta))
        .isNotEmpty(); // as it is journalled and shipped, and it keeps that
    return delta;
  }

  private static CrdtState state(CrdtType type, Operation operation, int i) {
    CrdtState bottom = CrdtState.bottom(type);
    CrdtState first = bottom.join(bottom.prepare(operation, EU, 1 + i, 0, 1_000 + i, 0));
    return first.join(first.prepare(operation, US, 1 + i, 0, 2_000 + i, 0));
  }

  private static Operation fields(int i) {
    return new Operation.UpdateFields(
        List.of(
            new Operation.FieldUpdate(
                new FieldId("name" + i, CrdtType.LWW_REGISTER), new Operation.Assign(text(i, 20))),
            new Operation.FieldUpdate(
                new FieldId("friends" + i, CrdtType.AW_SET), new Operation.Add(texts(i, 5, 12))),
            new Operation.FieldUpdate(
                new FieldId("visits" + i, CrdtType.PN_COUNTER), new Operation.Increment(i))));
  }

  /** As it comes from a store. */
  private static CrdtState read(CrdtState state) {
    return StateCodec.unpack(
        state.form(), true, state.context().replicas(), new WireInput(StateCodec.pack(state)));
  }

  private static CrdtState updated(CrdtState state, Operation operation, int i) {
    return state.join(state.prepare(operation, US, 100_000 + i, 50_000, 3_000 + i, 0));
  }

  private static CrdtState manyFields(int i, int fields, int elements) {
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    for (int k = 0; k < fields; k++) {
      updates.add(
          new Operation.FieldUpdate(
              new FieldId("field" + (i + k), CrdtType.AW_SET),
              new Operation.Add(texts(100 * (i + k), elements, 12))));
    }
    return state(CrdtType.OR_MAP, new Operation.UpdateFields(updates), i);
  }

  private static Shipment shipment(int i, CrdtState content) {
    return new Shipment(
        new ObjectId(key(i), content.type()),
        EU,
        i,
        VersionVector.of(US, 1 + i),
        1 + i,
        1,
        3,
        content);
  }

  private static Request write(int i, CrdtType type, Operation operation) {
    return new Request.Write("shop", key(i), type, operation, VersionVector.of(EU, 1 + i), 500);
  }

  private static Kind<CrdtState> content(String name, int count, IntFunction<CrdtState> make) {
    return new Kind<>(name, count, make, CrdtState::heapBytes);
  }

  private static Kind<Shipment> shipped(String name, int count, IntFunction<Shipment> make) {
    return new Kind<>(name, count, make, Shipment::heapBytes);
  }

  private static Kind<Request> request(String name, int count, IntFunction<Request> make) {
    return new Kind<>(name, count, make, MessageHeap::bytes);
  }

  private static Kind<Reply> reply(String name, int count, IntFunction<Reply> make) {
    return new Kind<>(name, count, make, MessageHeap::bytes);
  }

  static List<Kind<?>> kinds() {
    List<Kind<?>> kinds = new ArrayList<>();
    kinds.add(new Kind<>("key", 50_000, HeapEstimatesTest::key, Key::heapBytes));
    kinds.add(new Kind<Value>("text", 50_000, i -> text(i, 20), Value::heapBytes));
    kinds.add(
        new Kind<Value>("wide text", 20_000, i -> Value.of("ж".repeat(50) + i), Value::heapBytes));
    kinds.add(new Kind<Value>("number", 100_000, i -> Value.of(5_000L + i), Value::heapBytes));
    kinds.add(
        new Kind<Value>("bytes", 20_000, i -> Value.of(new byte[100 + i % 50]), Value::heapBytes));
    for (CrdtType type : List.of(CrdtType.PN_COUNTER, CrdtType.G_COUNTER)) {
      Operation one = new Operation.Increment(1);
      kinds.add(content("delta of " + type, 30_000, i -> delta(type, one, i)));
      kinds.add(content("state of " + type, 30_000, i -> state(type, one, i)));
    }
    for (CrdtType type : List.of(CrdtType.EW_FLAG, CrdtType.DW_FLAG)) {
      Operation on = new Operation.SetFlag(true);
      kinds.add(content("state of " + type, 30_000, i -> state(type, on, i)));
    }
    for (CrdtType type : List.of(CrdtType.LWW_REGISTER, CrdtType.MV_REGISTER)) {
      kinds.add(
          content(
              "state of " + type, 30_000, i -> state(type, new Operation.Assign(text(i, 30)), i)));
    }
    for (CrdtType type :
        List.of(CrdtType.AW_SET, CrdtType.RW_SET, CrdtType.G_SET, CrdtType.LWW_SET_ADD_BIAS)) {
      kinds.add(
          content("delta of " + type, 20_000, i -> delta(type, new Operation.Add(text(i, 16)), i)));
      kinds.add(
          content(
              "small state of " + type,
              3_000,
              i -> state(type, new Operation.Add(texts(i, 20, 16)), i)));
      kinds.add(
          content(
              "large state of " + type,
              10,
              i -> state(type, new Operation.Add(texts(10_000 * i, 3_000, 16)), i)));
      IntFunction<CrdtState> large =
          i -> read(state(type, new Operation.Add(texts(10_000 * i, 3_000, 16)), i));
      kinds.add(content("large " + type + " that was read", 10, large));
      kinds.add(
          content(
              "large " + type + " that was read and changed",
              10,
              i ->
                  updated(large.apply(i), new Operation.Add(texts(10_000 * i - 700, 701, 16)), i)));
      kinds.add(
          content(
              "large " + type + " that was packed",
              10,
              i ->
                  updated(large.apply(i), new Operation.Add(texts(10_000 * i - 700, 701, 16)), i)
                      .packLeaves()));
    }
    kinds.add(content("large map that was read", 10, i -> read(manyFields(i, 3_000, 1))));
    kinds.add(
        content("map of large sets that was packed", 10, i -> manyFields(i, 10, 500).packLeaves()));
    kinds.add(content("state of a map", 5_000, i -> state(CrdtType.OR_MAP, fields(i), i)));
    kinds.add(
        content(
            "state of a bounded counter",
            10_000,
            i ->
                state(
                    CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 10, List.of("eu", "us")), i)));
    kinds.add(
        shipped(
            "shipment of a counter",
            20_000,
            i -> shipment(i, delta(CrdtType.PN_COUNTER, new Operation.Increment(i), i))));
    kinds.add(
        shipped(
            "shipment of an element",
            20_000,
            i -> shipment(i, delta(CrdtType.AW_SET, new Operation.Add(text(i, 16)), i))));
    kinds.add(
        request(
            "increment", 20_000, i -> write(i, CrdtType.PN_COUNTER, new Operation.Increment(i))));
    kinds.add(
        request(
            "addition of elements",
            10_000,
            i -> write(i, CrdtType.AW_SET, new Operation.Add(texts(i, 10, 20)))));
    kinds.add(request("update of fields", 10_000, i -> write(i, CrdtType.OR_MAP, fields(i))));
    kinds.add(
        request(
            "read",
            20_000,
            i ->
                new Request.Read(
                    "shop",
                    key(i),
                    Optional.of(CrdtType.AW_SET),
                    new Query.Contains(text(i, 20)),
                    VersionVector.of(EU, 1 + i),
                    true,
                    100)));
    kinds.add(
        request(
            "step of a transaction",
            10_000,
            i ->
                new Request.Transact(
                    "shop",
                    new TransactionId(i, i),
                    1,
                    Optional.of(new Request.Begin(VersionVector.of(EU, 1 + i), false, 0, 1_000)),
                    List.of(
                        new Request.Update(
                            key(i), CrdtType.LWW_REGISTER, new Operation.Assign(text(i, 20))),
                        new Request.Update(
                            key(-i), CrdtType.PN_COUNTER, new Operation.Increment(i))),
                    List.of(new Request.Fetch(key(i), Optional.empty(), new Query.Whole())),
                    Request.End.COMMIT)));
    kinds.add(
        reply(
            "answer with a set",
            2_000,
            i ->
                new Reply.Answer(
                    CrdtType.AW_SET,
                    state(CrdtType.AW_SET, new Operation.Add(texts(i, 20, 16)), i)
                        .read(new Query.Whole()),
                    VersionVector.of(EU, 1 + i))));
    kinds.add(
        reply(
            "end of a transaction",
            20_000,
            i ->
                new Reply.Transacted(
                    VersionVector.of(EU, 1 + i).with(US, 1 + i),
                    Optional.of(new Dot(EU, 1 + i)),
                    List.of())));
    return kinds;
  }

  @ParameterizedTest
  @MethodSource("kinds")
  <T> void anEstimateAgreesWithTheHeap_withinAQuarter(Kind<T> kind) {
    List<T> samples = kind.samples();
    double measured = kind.measured(samples);
    double estimated = kind.estimated(samples);
    assertThat(estimated).as(kind.name).isCloseTo(measured, within(QUARTER * measured));
  }
}
