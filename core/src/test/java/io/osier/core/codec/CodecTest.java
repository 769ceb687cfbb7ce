package io.osier.core.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.KryoException;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.ByteRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class CodecTest {
  private static final ReplicaId EU = new ReplicaId("eu", 7);

  /** A value with its encoded form: records that are stored today must be readable for ever. */
  private record Golden<T>(
      T value, BiConsumer<WireOutput, T> writer, Function<WireInput, T> reader, String hex) {
    byte[] encoded() {
      return WireOutput.bytesOf(out -> writer.accept(out, value));
    }

    T decode(byte[] bytes) {
      return Codec.readAll(new WireInput(bytes), "a value", reader);
    }
  }

  private static Golden<Value> value(Value value, String hex) {
    return new Golden<>(value, WireOutput::writeValue, WireInput::readValue, hex);
  }

  /**
   * A count for which the bytes would have room, and no entries in order: it made a reader reserve
   * twelve bytes for each byte of a frame that anybody may send.
   */
  @Test
  void vectorThatLiesAboutItsLength_takesNoMoreThanIsThere() {
    int entries = 1 << 22;
    byte[] hostile =
        WireOutput.bytesOf(
            out -> {
              out.writeCount(entries);
              out.writeReplica(EU);
              out.writeNumber(1);
              for (int i = 0; i < entries; i++) {
                out.writeByte(1); // the same replica again and again
                out.writeByte(1);
              }
            });
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    WireInput in = new WireInput(hostile);
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThatThrownBy(in::readVector).isInstanceOf(MalformedException.class);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(100_000);
  }

  /** Few numbers: counts of ranges, and ranges in order and out of order. */
  @Property(tries = 3_000)
  void lastsOfRanges_areThoseOfTheirContext(
      @ForAll @Size(max = 12) List<@ByteRange(max = 3) Byte> numbers) {
    List<ReplicaId> replicas = List.of(EU, new ReplicaId("us", 1));
    byte[] bytes = WireOutput.bytesOf(out -> numbers.forEach(out::writeByte));
    WireInput in = new WireInput(bytes);
    WireInput lasts = new WireInput(bytes);
    CausalContext context;
    try {
      context = in.readRanges(replicas);
    } catch (MalformedException | KryoException e) {
      assertThatThrownBy(() -> lasts.readLasts(replicas)).hasSameClassAs(e);
      return;
    }
    assertThat(lasts.readLasts(replicas)).isEqualTo(context.toVersionVector());
    assertThat(lasts.position()).isEqualTo(in.position());
  }

  /** More entries than a vector has room for at first. */
  @Test
  void longVector_isReadBack() {
    VersionVector vector = VersionVector.EMPTY;
    for (int i = 0; i < 37; i++) {
      vector = vector.with(new ReplicaId("dc" + i, 1), i + 1);
    }
    VersionVector written = vector;
    byte[] bytes = WireOutput.bytesOf(out -> out.writeVector(written));
    assertThat(new WireInput(bytes).readVector()).isEqualTo(vector);
  }

  private static List<Golden<?>> golden() {
    return List.of(
        new Golden<>(EU, WireOutput::writeReplica, WireInput::readReplica, "00026575" + "07"),
        new Golden<>(new Dot(EU, 300), WireOutput::writeDot, WireInput::readDot, "0002657507ac02"),
        new Golden<>(
            VersionVector.of(EU, 5).with(new ReplicaId("us", 1), 9),
            WireOutput::writeVector,
            WireInput::readVector,
            "02" + "0002657507" + "05" + "0002757301" + "09"),
        new Golden<>(
            CausalContext.range(EU, 0, 5).withRange(EU, 7, 9),
            WireOutput::writeContext,
            WireInput::readContext,
            "01" + "0002657507" + "02" + "0005" + "0202"),
        new Golden<>(Key.of("k"), WireOutput::writeKey, WireInput::readKey, "016b"),
        value(Value.of(new byte[] {1, 2}), "00020102"),
        value(Value.of("hé"), "010368c3a9"),
        value(Value.of(-3), "0205"),
        value(Value.of(1.5), "03000000000000f83f"));
  }

  @Test
  void everyType_keepsItsForm() {
    for (Golden<?> g : golden()) {
      assertThat(HexFormat.of().formatHex(g.encoded())).as("%s", g.value()).isEqualTo(g.hex());
      assertThat(g.decode(HexFormat.of().parseHex(g.hex()))).isEqualTo(g.value());
    }
  }

  @Test
  void otherVersion_isNamed() {
    Codec.expectVersion(new WireInput(WireOutput.bytesOf(Codec::writeVersion)));
    assertThatThrownBy(() -> Codec.expectVersion(new WireInput(new byte[] {2})))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("format version 2 is not 1");
    assertThatThrownBy(() -> Codec.expectVersion(new WireInput()))
        .isInstanceOf(MalformedException.class);
  }

  @Test
  void whatIsLeft_isMalformed() {
    assertThatThrownBy(() -> golden().get(4).decode(new byte[] {1, 'k', 0}))
        .isInstanceOf(MalformedException.class);
  }

  @Test
  void replica_isWrittenOnceARecord() {
    WireOutput out = new WireOutput();
    out.writeReplica(EU);
    int first = out.position();
    out.writeReplica(EU);
    assertThat(out.position() - first).isEqualTo(1);
  }

  @Test
  void inputOfManyRecords_readsEachAsIfItWereTheFirst() {
    WireInput in = new WireInput();
    String[] names = {"shop", "shop", "shot", "sho", "shöp", "shöp", "", "shop2", "shop"};
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 40; i++) {
        // More replicas than are kept, names that begin alike, incarnations that differ.
        ReplicaId replica = new ReplicaId("eu" + (i % 5 == 0 ? "" : i % 20), 1 + i % 3);
        String name = names[i % names.length];
        WireOutput out = new WireOutput();
        out.writeNumber(99); // bytes before the record
        int start = out.position();
        out.startRecord();
        out.writeText(name);
        out.writeReplica(replica);
        out.writeReplica(replica);
        in.set(out.getBuffer(), start, out.position() - start);
        assertThat(in.readName(64)).isEqualTo(name);
        assertThat(in.readReplica()).isEqualTo(replica);
        assertThat(in.readReplica()).isEqualTo(replica);
        in.expectEnd();
      }
    }
    in.set(new byte[] {1}, 0, 1);
    assertThatThrownBy(in::readReplica)
        .as("a replica's number of the record before")
        .isInstanceOf(MalformedException.class);
    in.set(new byte[] {5, 's', 'h', 'o', 'p'}, 0, 5);
    assertThatThrownBy(() -> in.readName(64)).isInstanceOf(MalformedException.class);
    in.set(new byte[] {4, 's', 'h', 'o', 'p'}, 0, 5);
    assertThatThrownBy(() -> in.readName(3)).hasMessageContaining("over the limit 3");
  }

  @Test
  void texts_haveTheSameFormByEitherWay() {
    for (String text :
        new String[] {"", "a", "hé", "x".repeat(127), "x".repeat(128), "x".repeat(126) + "é"}) {
      WireOutput out = new WireOutput();
      out.writeText(text);
      WireOutput plain = new WireOutput();
      plain.writeBlob(text.getBytes(StandardCharsets.UTF_8));
      assertThat(out.toBytes()).isEqualTo(plain.toBytes());
      assertThat(new WireInput(out.toBytes()).readText(1_000)).isEqualTo(text);
    }
    assertThatThrownBy(() -> new WireInput(new byte[] {1, (byte) 0xff}).readText(10))
        .hasMessageContaining("not UTF-8");
  }

  /**
   * Compared by their bytes as by the values: characters are not ordered as their bytes in UTF-8
   * are.
   */
  @Test
  void values_areComparedWithoutBeingMade() {
    List<Value> values = new ArrayList<>();
    for (String text :
        List.of("", "a", "ab", "b", "a\u007f", "a\u0080", "aé", "a\uffee", "a\ud83d\ude00", "ж")) {
      values.add(Value.of(text));
      values.add(Value.of(text + "z"));
      values.add(Value.of(text.getBytes(StandardCharsets.UTF_8)));
    }
    values.addAll(List.of(Value.of(-3), Value.of(300), Value.of(-0.0), Value.of(Double.NaN)));
    for (Value one : values) {
      byte[] bytes = WireOutput.bytesOf(out -> out.writeValue(one));
      for (Value other : values) {
        WireInput in = new WireInput(bytes);
        assertThat(Integer.signum(in.compareValue(other)))
            .as("%s and %s", one, other)
            .isEqualTo(Integer.signum(one.compareTo(other)));
        in.expectEnd();
      }
      WireInput in = new WireInput(bytes);
      in.skipValue();
      in.expectEnd();
    }
  }

  @Test
  void knownReplicas_haveNumbers() {
    List<ReplicaId> known = List.of(new ReplicaId("us", 1), EU);
    WireInput in = new WireInput(new byte[] {2, 1, 0, 1, 'x', 1, 3}, known);
    assertThat(in.readReplica()).isEqualTo(EU);
    assertThat(in.readReplica()).isEqualTo(known.getFirst());
    assertThat(in.readReplica()).isEqualTo(in.readReplica()).isEqualTo(new ReplicaId("x", 1));
  }

  @Property(tries = 5_000)
  void hostileBytes_areMalformedAndNothingElse(
      @ForAll("forms") Golden<?> form, @ForAll("damage") Map<Integer, Byte> damage) {
    byte[] bytes = form.encoded();
    damage.forEach((place, b) -> bytes[place % bytes.length] = b);
    isReadOrMalformed(form, bytes);
  }

  @Property(tries = 5_000)
  void anyBytes_areMalformedAndNothingElse(
      @ForAll("forms") Golden<?> form, @ForAll @Size(max = 40) byte[] bytes) {
    isReadOrMalformed(form, bytes);
  }

  @Provide
  Arbitrary<Golden<?>> forms() {
    return Arbitraries.of(golden());
  }

  @Provide
  Arbitrary<Map<Integer, Byte>> damage() {
    return Arbitraries.maps(Arbitraries.integers().between(0, 40), Arbitraries.bytes())
        .ofMinSize(1)
        .ofMaxSize(3);
  }

  private static void isReadOrMalformed(Golden<?> form, byte[] bytes) {
    try {
      form.decode(bytes);
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
