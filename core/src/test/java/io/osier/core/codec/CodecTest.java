package io.osier.core.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class CodecTest {
  private static final Codec CODEC = new Codec(CoreRegistrations.ALL);
  private static final ReplicaId EU = new ReplicaId("eu", 7);

  /** The encoded form of each type: what is stored today must be read for ever. */
  private static Map<Object, String> golden() {
    Map<Object, String> golden = new LinkedHashMap<>();
    golden.put(EU, "011600026575" + "07");
    golden.put(new Dot(EU, 300), "01170002657507ac02");
    golden.put(
        VersionVector.of(EU, 5).with(new ReplicaId("us", 1), 9),
        "0118020002657507050002757301" + "09");
    golden.put(
        CausalContext.range(EU, 0, 5).withRange(EU, 7, 9), "0119010002657507020005" + "0202");
    golden.put(Key.of("k"), "011a016b");
    golden.put(Value.of(new byte[] {1, 2}), "011b00020102");
    golden.put(Value.of("hé"), "011c010368c3a9");
    golden.put(Value.of(-3), "011d0205");
    golden.put(Value.of(1.5), "011e03000000000000f83f");
    return golden;
  }

  @Test
  void everyType_keepsItsForm() {
    golden()
        .forEach(
            (value, hex) -> {
              assertThat(HexFormat.of().formatHex(CODEC.encode(value)))
                  .as("form of %s", value)
                  .isEqualTo(hex);
              assertThat(CODEC.decode(HexFormat.of().parseHex(hex))).isEqualTo(value);
            });
    assertThat(golden().keySet().stream().map(Object::getClass))
        .as("every registered type has a golden form")
        .containsAll(
            CODEC.registrations().stream().<Class<?>>map(Codec.Registration::type).toList());
  }

  @Test
  void unregisteredType_isRefused() {
    assertThatThrownBy(() -> CODEC.encode(new java.util.BitSet()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void otherVersion_isNamed() {
    byte[] bytes = CODEC.encode(EU);
    bytes[0] = 2;
    assertThatThrownBy(() -> CODEC.decode(bytes))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("format version 2 is not 1");
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
        out.writeNumber(99); // what stands before the record
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
      plain.writeBlob(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
      assertThat(out.toBytes()).isEqualTo(plain.toBytes());
      assertThat(new WireInput(out.toBytes()).readText(1_000)).isEqualTo(text);
    }
    assertThatThrownBy(() -> new WireInput(new byte[] {1, (byte) 0xff}).readText(10))
        .hasMessageContaining("not UTF-8");
  }

  @Property(tries = 5_000)
  void hostileBytes_areMalformedAndNothingElse(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] bytes;
    if (random.nextBoolean()) {
      Object[] values = golden().keySet().toArray();
      bytes = CODEC.encode(values[random.nextInt(values.length)]);
      for (int i = 0; i <= random.nextInt(3); i++) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
    } else {
      bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
    }
    try {
      CODEC.decode(bytes);
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
