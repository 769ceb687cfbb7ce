package io.osier.datacenter.redis.command;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class GlobTest {
  private static boolean matches(String pattern, String text) {
    return Glob.matches(pattern.getBytes(ISO_8859_1), text.getBytes(ISO_8859_1));
  }

  @ParameterizedTest
  @CsvSource({
    "h?llo, hello, true",
    "h*llo, heeello, true",
    "h[ae]llo, hallo, true",
    "h[^e]llo, hello, false",
    "h[a-c]llo, hbllo, true",
    "h\\*llo, h*llo, true",
    "h\\*llo, hxllo, false",
    "*a*b*, xxaxxbxx, true",
    "[, [, false"
  })
  void matches_asRedisDoes(String pattern, String text, boolean does) {
    assertThat(matches(pattern, text)).isEqualTo(does);
  }

  @Test
  void matches_ofALongText_isNoMatterOfItsLength() {
    String text = "x".repeat(1 << 20);
    assertThat(matches("*y*", text + "y")).isTrue();
    assertThat(matches("*[0-9a-f]z*", text)).isFalse();
    assertThat(matches("*" + "[abcdefghij]".repeat(3) + "*", text)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 1_000})
  void matches_whatBeginsAgainAtEachByte_isRefused(int classLength) {
    String part = classLength == 1 ? "a" : "[" + "b".repeat(300) + "a]";
    String pattern = "*" + part.repeat(classLength == 1 ? 1_000 : 3) + "c";
    String text = "a".repeat(1 << 20);
    assertThatThrownBy(() -> matches(pattern, text))
        .isInstanceOf(RedisException.class)
        .hasMessageContaining("the pattern takes too long");
    assertThat(matches(pattern, "a".repeat(10))).isFalse();
  }
}
