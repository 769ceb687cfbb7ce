package io.osier.crdt.types;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Encoded;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.crdt.Part;
import io.osier.crdt.state.CrdtState;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/**
 * The encoded form of every type, as it is stored and sent. The file is written anew by {@code
 * -Dosier.golden.update=true}; only on purpose, since stored bytes must be readable for ever.
 */
final class GoldenTest {
  private static final ReplicaId EU = new ReplicaId("eu", 7);
  private static final ReplicaId US = new ReplicaId("us", 3);
  private static final String FILE = "golden/crdt.txt";

  private static List<Operation> operations(CrdtType type) {
    return switch (type) {
      case PN_COUNTER -> List.of(new Operation.Increment(5), new Operation.Increment(-2));
      case G_COUNTER -> List.of(new Operation.Increment(5), new Operation.Increment(300));
      case LWW_REGISTER, MV_REGISTER ->
          List.of(new Operation.Assign(Value.of("a")), new Operation.Assign(Value.of(-7)));
      case MIN_REGISTER, MAX_REGISTER ->
          List.of(new Operation.Assign(Value.of(5)), new Operation.Assign(Value.of(7)));
      case STRING ->
          List.of(
              new Operation.IncrementDecimal(new BigDecimal("-0.25")),
              new Operation.Assign(Value.of("12")));
      case EW_FLAG, DW_FLAG -> List.of(new Operation.SetFlag(true), new Operation.SetFlag(false));
      case G_SET ->
          List.of(new Operation.Add(Value.of("a")), new Operation.Add(Value.of(new byte[] {1})));
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          List.of(
              new Operation.Add(List.of(Value.of("a"), Value.of(1.5))),
              new Operation.Remove(Value.of("a")));
      case BOUNDED_COUNTER ->
          List.of(
              new Operation.Bound(-10, BoundedCounter.NO_UPPER, List.of("eu", "us")),
              new Operation.Transfer("eu", 2, false));
      case OR_MAP ->
          List.of(
              new Operation.UpdateFields(
                  List.of(
                      new Operation.FieldUpdate(
                          new FieldId("n", CrdtType.PN_COUNTER), new Operation.Increment(4)),
                      new Operation.FieldUpdate(
                          new FieldId("s", CrdtType.AW_SET), new Operation.Add(Value.of("x"))))),
              new Operation.RemoveFields(List.of("n")));
    };
  }

  /** For each type: a delta, the state after it, and the state after a second update elsewhere. */
  private static Map<String, CrdtState> values() {
    Map<String, CrdtState> values = new TreeMap<>();
    for (CrdtType type : CrdtType.values()) {
      List<Operation> operations = operations(type);
      CrdtState delta = CrdtState.bottom(type).prepare(operations.get(0), EU, 5, 0, 1_000, 0);
      CrdtState state = CrdtState.bottom(type).join(delta);
      CrdtState second = state.prepare(operations.get(1), US, 9, 0, 2_000, 0);
      values.put(type.label() + " delta", delta);
      values.put(type.label() + " state", state);
      values.put(type.label() + " second", state.join(second));
      Operation last =
          type == CrdtType.BOUNDED_COUNTER ? new Operation.Increment(3) : new Operation.Clear();
      CrdtState third = state.join(second).prepare(last, EU, 20, 6, 3_000, 0);
      values.put(type.label() + " cleared", state.join(second).join(third));
      if (type == CrdtType.STRING) {
        Operation more = new Operation.Increment(300);
        CrdtState added = state.join(second).prepare(more, EU, 20, 6, 3_000, 0);
        values.put(type.label() + " added to", state.join(second).join(added));
      }
      if (type == CrdtType.BOUNDED_COUNTER) {
        Operation from = new Operation.Bound(-10, 500, List.of("eu", "us"), 300);
        values.put(
            type.label() + " from", CrdtState.bottom(type).prepare(from, EU, 5, 0, 1_000, 0));
      } else {
        Operation until = new Operation.Expire(1L << 40, false);
        CrdtState expire = state.prepare(until, EU, 30, 6, 4_000, 0);
        CrdtState persist = state.prepare(new Operation.Persist(), US, 12, 0, 4_000, 0);
        values.put(type.label() + " until", state.join(expire).join(persist));
        values.put(type.label() + " until delta", expire);
      }
      if (TypeRegistry.empty(type) instanceof EntryStore) {
        putParts(values, type, state);
      }
    }
    return values;
  }

  /** Adds the same with deadlines of parts, with and without one of the object. */
  private static void putParts(Map<String, CrdtState> values, CrdtType type, CrdtState state) {
    List<Part> parts =
        type == CrdtType.OR_MAP
            ? List.of(new Part.Field("n"), new Part.Field("s"))
            : List.of(new Part.Element(Value.of("a")));
    Operation until = new Operation.ExpireParts(parts, new Operation.Expire(1L << 40, false));
    CrdtState expire = state.prepare(until, EU, 30, 6, 4_000, 0);
    CrdtState expiring = state.join(expire);
    CrdtState cleared = expiring.prepare(new Operation.Clear(), US, 12, 0, 4_000, 0);
    CrdtState whole = expiring.prepare(new Operation.Expire(1L << 41, false), US, 12, 0, 4_000, 0);
    values.put(type.label() + " parts", expiring);
    values.put(type.label() + " parts delta", expire);
    values.put(type.label() + " parts and whole", expiring.join(whole));
    values.put(type.label() + " parts cleared delta", cleared);
  }

  @Test
  void everyType_keepsItsForm() throws IOException {
    StringBuilder actual = new StringBuilder();
    values()
        .forEach(
            (name, value) ->
                actual
                    .append(name)
                    .append(": ")
                    .append(HexFormat.of().formatHex(Encoded.encode(value)))
                    .append('\n'));
    if (Boolean.getBoolean("osier.golden.update")) {
      Path file = Path.of("src/test/resources", FILE);
      Files.createDirectories(file.getParent());
      Files.writeString(file, actual.toString());
    }
    try (InputStream in = GoldenTest.class.getResourceAsStream("/" + FILE)) {
      assertThat(actual.toString())
          .as("the encoded forms")
          .isEqualTo(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
    values()
        .forEach((name, v) -> assertThat(Encoded.decode(Encoded.encode(v))).as(name).isEqualTo(v));
  }

  @Provide
  Arbitrary<byte[]> forms() {
    return Arbitraries.of(values().values().stream().map(Encoded::encode).toList());
  }

  /** Bytes at some positions are replaced, and some at the end are missing. */
  @Property(tries = 20_000)
  void damagedForms_areReadOrMalformed_andNothingElse(
      @ForAll("forms") byte[] form,
      @ForAll @Size(max = 4) Map<@IntRange(max = 60) Integer, Byte> damage,
      @ForAll @IntRange(max = 30) int missing) {
    byte[] bytes = Arrays.copyOf(form, Math.max(1, form.length - missing));
    damage.forEach((at, value) -> bytes[at % bytes.length] = value);
    try {
      Encoded.decode(bytes);
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }

  @Test
  void limits_areNamed() {
    var limits = new io.osier.core.KeyspacePolicy.Limits(10, 20, 100);
    org.assertj.core.api.Assertions.assertThatThrownBy(
            () ->
                OperationLimits.check(
                    new Operation.Add(List.of(Value.of("x"), Value.of("y".repeat(30)))), limits))
        .hasMessageContaining("32")
        .hasMessageContaining("20");
    org.assertj.core.api.Assertions.assertThatThrownBy(
            () -> OperationLimits.check(new Operation.Remove(List.of()), limits))
        .hasMessageContaining("at least one element");
    Operation nested = new Operation.Increment(1);
    CrdtType type = CrdtType.PN_COUNTER;
    for (int i = 0; i < 13; i++) {
      nested = new Operation.UpdateFields(new FieldId("f", type), nested);
      type = CrdtType.OR_MAP;
    }
    Operation deep = nested;
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> OperationLimits.check(deep, limits))
        .hasMessageContaining("12 levels");
    org.assertj.core.api.Assertions.assertThatThrownBy(
            () -> OperationLimits.check(new Operation.RemoveFields(List.of("")), limits))
        .hasMessageContaining("1 to 1024");
  }
}
