package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

final class FieldNamesProperties {
  @Property
  void bytes_areTheirNamesBytes(@ForAll byte[] bytes, @ForAll @IntRange(max = 3) int times) {
    byte[] nested = bytes;
    for (int i = 0; i < times; i++) { // a text that looks like a name of other bytes
      nested = ("bytes:0x" + HexFormat.of().formatHex(nested)).getBytes(StandardCharsets.UTF_8);
    }
    String name = FieldNames.of(nested);
    assertThat(name).isNotEmpty();
    assertThat(FieldNames.bytes(name)).isEqualTo(nested);
  }

  @Property
  void names_areTheirBytesName(@ForAll byte[] bytes, @ForAll @IntRange(max = 3) int times) {
    String name = "é" + bytes.length;
    for (int i = 0; i < times; i++) {
      byte[] content = i == 0 ? bytes : name.getBytes(StandardCharsets.UTF_8);
      name = "bytes:0x" + HexFormat.of().formatHex(content);
    }
    assertThat(FieldNames.of(FieldNames.bytes(name))).isEqualTo(name);
  }

  @Test
  void text_isItsOwnName_andAllElseIsShownAsBytes() {
    assertThat(FieldNames.of("größe".getBytes(StandardCharsets.UTF_8))).isEqualTo("größe");
    assertThat(FieldNames.of(new byte[0])).isEqualTo("bytes:0x");
    assertThat(FieldNames.of(new byte[] {(byte) 0xff, 1})).isEqualTo("bytes:0xff01");
    assertThat(FieldNames.bytes("bytes:0xFF")).hasSize(10); // not the digits that this code writes
    assertThat(FieldNames.bytes("bytes:0x6161")).hasSize(12); // "aa" is its own name
  }
}
