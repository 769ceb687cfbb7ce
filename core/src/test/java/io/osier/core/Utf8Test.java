package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

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
      assertThat(Utf8.decodeIfValid(bytes, 0, bytes.length)).isNull();
      assertThat(Value.ofText(bytes)).isEqualTo(Value.of(bytes));
      return;
    }
    assertThat(decoded(bytes)).isEqualTo(expected);
    assertThat(Value.ofText(bytes)).isEqualTo(Value.of(expected));
  }

  @Example
  void aByteThatIsNoText_isNotTakenForOneCharacter() {
    assertThatThrownBy(() -> Utf8.decode(new byte[] {'a', (byte) 0xFF, 'b'}, 0, 3))
        .isInstanceOf(CharacterCodingException.class);
    assertThat(decoded("a\uFFFDb".getBytes(StandardCharsets.UTF_8))).isEqualTo("a\uFFFDb");
  }

  /** The decoder replaces invalid bytes by a character that may also be a text's own. */
  @Property
  void theSignForWhatIsNoText_isTold_fromTheSameInAText(
      @ForAll List<@IntRange(min = 0, max = 5) Integer> parts) {
    byte[][] some = {
      "\uFFFD".getBytes(StandardCharsets.UTF_8),
      {'a'},
      "\u00e9\ud83d\ude00".getBytes(StandardCharsets.UTF_8),
      {(byte) 0xEF, (byte) 0xBF},
      {(byte) 0xBD},
      {(byte) 0xED, (byte) 0xA0, (byte) 0x80}
    };
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    parts.forEach(part -> all.writeBytes(some[part]));
    bytesThatAreNoText_areRefused(all.toByteArray());
  }

  private static String decoded(byte[] bytes) {
    try {
      return Utf8.decode(bytes, 0, bytes.length);
    } catch (CharacterCodingException e) {
      throw new AssertionError(e);
    }
  }
}
