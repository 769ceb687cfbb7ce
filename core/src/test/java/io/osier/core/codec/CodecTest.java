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
