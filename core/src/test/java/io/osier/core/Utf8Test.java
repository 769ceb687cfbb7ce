package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

final class Utf8Test {
  @Property
  void texts_areRead_andKnowTheirLength(@ForAll String text) throws CharacterCodingException {
    byte[] bytes = (" " + text + " ").getBytes(StandardCharsets.UTF_8);
    String valid = new String(bytes, 1, bytes.length - 2, StandardCharsets.UTF_8);
    Value.Str read = Value.Str.ofUtf8(bytes, 1, bytes.length - 2);
    assertThat(read.content()).isEqualTo(valid);
    assertThat(read.sizeBytes()).isEqualTo(new Value.Str(valid).sizeBytes());
  }

  @Property
  void bytesThatAreNoText_areRefused(@ForAll byte[] bytes) {
    String expected;
    try {
      expected = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      assertThatThrownBy(() -> Utf8.decode(bytes, 0, bytes.length))
          .isInstanceOf(CharacterCodingException.class);
      return;
    }
    assertThat(decoded(bytes)).isEqualTo(expected);
  }

  @Example
  void aByteThatIsNoText_isNotTakenForOneCharacter() {
    assertThatThrownBy(() -> Utf8.decode(new byte[] {'a', (byte) 0xFF, 'b'}, 0, 3))
        .isInstanceOf(CharacterCodingException.class);
    assertThat(decoded("a\uFFFDb".getBytes(StandardCharsets.UTF_8))).isEqualTo("a\uFFFDb");
  }

  private static String decoded(byte[] bytes) {
    try {
      return Utf8.decode(bytes, 0, bytes.length);
    } catch (CharacterCodingException e) {
      throw new AssertionError(e);
    }
  }
}
