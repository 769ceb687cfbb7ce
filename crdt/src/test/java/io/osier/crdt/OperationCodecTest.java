package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.math.BigDecimal;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Operations, queries and readings, in the forms that clients of any version send. */
final class OperationCodecTest {
  private static final FieldId FIELD = new FieldId("f", CrdtType.AW_SET);

  private static Map<Object, String> golden() {
    Map<Object, String> golden = new LinkedHashMap<>();
    golden.put(new Operation.Increment(-3), "0105");
    golden.put(new Operation.Assign(Value.of("a")), "02010161");
    golden.put(new Operation.SetFlag(true), "0301");
    golden.put(new Operation.IncrementDecimal(new BigDecimal("3")), "140600");
    golden.put(
        new Operation.IncrementDecimal(new BigDecimal("-0.5")), "1401" + "8080c89d9deb96f806");
    golden.put(new Operation.Append(Value.of("a")), "15010161");
    golden.put(new Operation.SetRange(300, Value.of("a")), "16ac02010161");
    golden.put(new Operation.SetBit(300, true), "17ac0201");
    golden.put(new Operation.Add(List.of(Value.of("a"), Value.of(1))), "0402010161" + "0202");
    golden.put(new Operation.Remove(Value.of(new byte[] {7})), "0501" + "000107");
    golden.put(
        new Operation.UpdateFields(FIELD, new Operation.Add(Value.of("a"))),
        "0601" + "016608" + "0401010161");
    golden.put(new Operation.RemoveFields(List.of("f", "gé")), "0702" + "0166" + "0367c3a9");
    golden.put(new Operation.Clear(), "08");
    golden.put(new Operation.Delete(), "0d");
    golden.put(new Operation.Expire(300, true), "0ed80401");
    golden.put(new Operation.Expire(-1, false), "0e0100");
    golden.put(new Operation.Persist(), "0f");
    golden.put(
        new Operation.WithDeadline(new Operation.SetFlag(true), new Operation.Expire(300, true)),
        "10d804010301");
    golden.put(new Operation.Inherit("us"), "0c" + "027573");
    golden.put(new Operation.Bound(-1, 5, List.of("eu", "us")), "09010a02" + "02657502" + "7573");
    golden.put(new Operation.Bound(-1, 5, List.of("eu"), 3), "1806010a01" + "026575");
    golden.put(new Operation.IncrementWithin(-2, 300), "0a03ac02");
    golden.put(new Operation.Transfer("us", 3, true), "0b0275730601");
    golden.put(new Query.Whole(), "01");
    golden.put(new Query.Contains(Value.of(1)), "020202");
    golden.put(new Query.Among(List.of(Value.of("a"), Value.of(1))), "0602010161" + "0202");
    golden.put(new Query.Size(), "03");
    golden.put(new Query.Select(List.of("f")), "04010166");
    golden.put(new Query.Rights(), "05");
    golden.put(new Query.Exists(), "07");
    golden.put(new Query.TimeToLive(), "08");
    golden.put(new Query.PartTimeToLive(new Part.Element(Value.of("a"))), "0901010161");
    golden.put(new Query.PartTimeToLive(new Part.Field("f")), "09020166");
    golden.put(new Query.UntilExpiry(), "0a");
    golden.put(new Query.Range(Optional.empty(), Optional.empty(), false, 300), "0b00ac02");
    golden.put(
        new Query.Range(
            Optional.of(new Query.Bound(new Part.Element(Value.of("a")), true)),
            Optional.of(new Query.Bound(new Part.Field("f"), false)),
            true,
            1),
        "0b0f" + "01010161" + "020166" + "01");
    List<Part> parts = List.of(new Part.Element(Value.of("a")), new Part.Field("f"));
    Operation.Expire deadline = new Operation.Expire(5, true);
    golden.put(new Operation.ExpireParts(parts, deadline), "110a01" + "02" + "01010161" + "020166");
    golden.put(new Operation.PersistParts(parts), "12" + "02" + "01010161" + "020166");
    golden.put(
        new Operation.WithPartDeadlines(new Operation.Add(Value.of("a")), deadline),
        "130a01" + "0401010161");
    golden.put(new Reading.Count(-1), "0101");
    golden.put(new Reading.Flag(false), "0200");
    golden.put(new Reading.Single(Optional.empty()), "0300");
    golden.put(new Reading.Single(Optional.of(Value.of("a"))), "0301010161");
    golden.put(new Reading.Many(List.of(Value.of(0))), "04010200");
    golden.put(
        new Reading.Rights(2, -1, 5, new TreeMap<>(Map.of("eu", new Reading.Share(3, 4)))),
        "0604010a0102" + "65750608");
    golden.put(
        new Reading.Fields(new TreeMap<>(Map.of(FIELD, new Reading.Count(1)))),
        "0501016608" + "0102");
    return golden;
  }

  private static byte[] encode(Object value) {
    WireOutput out = new WireOutput();
    switch (value) {
      case Operation o -> OperationCodec.write(out, o);
      case Query q -> QueryCodec.write(out, q);
      case Reading r -> ReadingCodec.write(out, r);
      default -> throw new IllegalArgumentException(value.toString());
    }
    return out.toBytes();
  }

  private static Object decode(Class<?> kind, byte[] bytes) {
    WireInput in = new WireInput(bytes);
    Object value;
    if (kind == Operation.class) {
      value = OperationCodec.read(in);
    } else {
      value = kind == Query.class ? QueryCodec.read(in) : ReadingCodec.read(in);
    }
    in.expectEnd();
    return value;
  }

  private static Class<?> kind(Object value) {
    if (value instanceof Operation) {
      return Operation.class;
    }
    return value instanceof Query ? Query.class : Reading.class;
  }

  @Test
  void everyForm_isKept() {
    golden()
        .forEach(
            (value, hex) -> {
              assertThat(HexFormat.of().formatHex(encode(value))).as("%s", value).isEqualTo(hex);
              assertThat(decode(kind(value), HexFormat.of().parseHex(hex))).isEqualTo(value);
            });
    List.of(Operation.class, Query.class, Reading.class)
        .forEach(
            kind ->
                assertThat(golden().keySet().stream().map(Object::getClass).toList())
                    .as("every kind of %s has a golden form", kind.getSimpleName())
                    .containsAll(
                        Stream.of(kind.getPermittedSubclasses())
                            .filter(form -> form != Query.Deadline.class)
                            .toList()));
  }

  @Test
  void deadline_doesNotTravel() {
    assertThatThrownBy(() -> encode(new Query.Deadline(Optional.empty())))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("INVALID_ARGUMENT");
  }

  /**
   * Only exceptions that a record's reader turns into MalformedException: never an error, never a
   * hang.
   */
  @Property(tries = 10_000)
  void damagedForms_areReadOrRefused(
      @ForAll("values") Object value,
      @ForAll @Size(min = 1, max = 4) Map<@IntRange(max = 20) Integer, @From("bytes") Byte> damage) {
    byte[] bytes = encode(value);
    damage.forEach((at, b) -> bytes[at % bytes.length] = b);
    readOrRefused(kind(value), bytes);
  }

  @Property(tries = 10_000)
  void anyBytes_areReadOrRefused(
      @ForAll("kinds") Class<?> kind,
      @ForAll @Size(min = 1, max = 30) List<@From("bytes") Byte> list) {
    byte[] bytes = new byte[list.size()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = list.get(i);
    }
    readOrRefused(kind, bytes);
  }

  @Provide
  Arbitrary<Object> values() {
    return Arbitraries.of(golden().keySet());
  }

  @Provide
  Arbitrary<Class<?>> kinds() {
    return Arbitraries.of(Operation.class, Query.class, Reading.class);
  }

  /** Every second one is small: a tag, a count, or a type. */
  @Provide
  Arbitrary<Byte> bytes() {
    return Arbitraries.oneOf(Arbitraries.bytes(), Arbitraries.bytes().between((byte) 0, (byte) 12));
  }

  private static void readOrRefused(Class<?> kind, byte[] bytes) {
    Object decoded;
    try {
      decoded = decode(kind, bytes);
    } catch (RuntimeException e) {
      return;
    }
    assertThat(decode(kind, encode(decoded))).isEqualTo(decoded);
  }

  @Test
  void nesting_isBounded() {
    WireOutput operation = new WireOutput();
    WireOutput reading = new WireOutput();
    for (int i = 0; i < 100_000; i++) {
      operation.writeBytes(HexFormat.of().parseHex("060101660c"));
      reading.writeBytes(HexFormat.of().parseHex("050101660c"));
    }
    operation.writeBytes(new byte[16]);
    reading.writeBytes(new byte[16]);
    assertThatThrownBy(() -> OperationCodec.read(new WireInput(operation.toBytes())))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("16 levels");
    assertThatThrownBy(() -> ReadingCodec.read(new WireInput(reading.toBytes())))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("16 levels");
    WireOutput state = new WireOutput();
    state.writeByte((CrdtType.OR_MAP.number() << 1) | 1);
    state.writeCount(0);
    for (int i = 0; i < 100_000; i++) {
      state.writeBytes(HexFormat.of().parseHex("0101660c"));
    }
    state.writeBytes(new byte[16]);
    assertThatThrownBy(() -> Encoded.decode(state.toBytes()))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("16 levels");
  }
}
