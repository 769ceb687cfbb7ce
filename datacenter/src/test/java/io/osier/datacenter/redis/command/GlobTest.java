package io.osier.datacenter.redis.command;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class GlobTest {
  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  /** As the definition has it: a star stands for nothing, or for one byte and itself. */
  private static boolean model(String pattern, String text) {
    if (pattern.isEmpty()) {
      return text.isEmpty();
    }
    if (pattern.charAt(0) == '*') {
      return model(pattern.substring(1), text)
          || (!text.isEmpty() && model(pattern, text.substring(1)));
    }
    if (text.isEmpty()) {
      return false;
    }
    char first = text.charAt(0);
    if (pattern.startsWith("[ab]")) {
      return (first == 'a' || first == 'b') && model(pattern.substring(4), text.substring(1));
    }
    boolean escapes = pattern.charAt(0) == '\\' && pattern.length() > 1;
    char wanted = pattern.charAt(escapes ? 1 : 0);
    boolean fits = (!escapes && wanted == '?') || wanted == first;
    return fits && model(pattern.substring(escapes ? 2 : 1), text.substring(1));
  }

  @Test
  void randomPatterns_matchAsTheDefinitionSays() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String[] parts = {"a", "b", "*", "*", "?", "[ab]", "\\*", "\\a", "**"};
    for (int i = 0; i < 100_000; i++) {
      StringBuilder pattern = new StringBuilder();
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(6); n > 0; n--) {
        pattern.append(parts[random.nextInt(parts.length)]);
      }
      for (int n = random.nextInt(7); n > 0; n--) {
        text.append("ab*c".charAt(random.nextInt(4)));
      }
      assertThat(Glob.matches(bytes(pattern.toString()), bytes(text.toString())))
          .as("'%s' and '%s', seed %d", pattern, text, seed)
          .isEqualTo(model(pattern.toString(), text.toString()));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', true, ''",
    "news, true, news",
    "news.*, true, news.",
    "*.log, true, ''",
    "a**b, true, a",
    "a*b*, false, a",
    "a\\*b*c, true, a*b",
    "a[*]b*, true, a",
    "a?*c*, false, a",
    "a*b*c, false, a",
  })
  void pattern_isQuickWithOneStar_andBeginsWithItsPrefix(
      String pattern, boolean quick, String prefix) {
    assertThat(Glob.isQuick(bytes(pattern))).isEqualTo(quick);
    assertThat(new String(Glob.prefix(bytes(pattern)), ISO_8859_1)).isEqualTo(prefix);
  }

  private static boolean matches(String pattern, String text) {
    return Glob.matches(bytes(pattern), bytes(text));
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
    String pattern = "*" + part.repeat(classLength == 1 ? 1_000 : 3) + "c*";
    String text = "a".repeat(1 << 20);
    assertThatThrownBy(() -> matches(pattern, text))
        .isInstanceOf(RedisException.class)
        .hasMessageContaining("the pattern takes too long");
    assertThat(matches(pattern, "a".repeat(10))).isFalse();
  }
}
