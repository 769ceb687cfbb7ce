package io.osier.datacenter.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands among bytes, wherever the bytes are cut. */
final class RespDecoderTest {
  private static final RespDecoder.Limits LIMITS =
      new RespDecoder.Limits(RespDecoder.WORDS_MAX, 1 << 20, 1 << 21);

  private static final int FUZZED = Integer.getInteger("osier.redis.fuzzed", 100_000);

  private static final List<String> STRANGE =
      List.of(
          "*",
          "$",
          "\r",
          "\n",
          "\r\n",
          "-1",
          "0",
          "\0",
          "\"",
          "'",
          "\\",
          "\\x4g",
          "9223372036854775807",
          "9223372036854775808",
          "4294967297",
          "+1",
          " ",
          "*3\r\n",
          "$-1\r\n",
          "$5\r\n",
          "*1048577\r\n",
          "\u00ff");

  /** What a decoder makes of bytes that come in pieces, each time in another place. */
  private static SimpleDecoder.Outcome decode(
      byte[] all, RespDecoder.Limits limits, List<Integer> ends) {
    RespDecoder decoder = new RespDecoder(limits);
    List<List<String>> commands = new ArrayList<>();
    int from = 0;
    try {
      for (int end : ends) {
        int margin = end % 5;
        while (true) {
          byte[] bytes = new byte[margin + end - from + 3];
          System.arraycopy(all, from, bytes, margin, end - from);
          int length = decoder.decode(bytes, margin, margin + end - from);
          if (length < 0) {
            break;
          }
          List<String> words = new ArrayList<>();
          for (byte[] word : decoder.take(bytes, margin)) {
            words.add(new String(word, ISO_8859_1));
          }
          commands.add(words);
          from += length;
        }
      }
      return new SimpleDecoder.Outcome(commands, "");
    } catch (ProtocolError e) {
      return new SimpleDecoder.Outcome(commands, String.valueOf(e.getMessage()));
    }
  }

  private static SimpleDecoder.Outcome decode(String all) {
    return decode(all.getBytes(ISO_8859_1), LIMITS, List.of(all.length()));
  }

  private static String encoded(List<String> words) {
    StringBuilder text = new StringBuilder("*" + words.size() + "\r\n");
    words.forEach(w -> text.append('$').append(w.length()).append("\r\n").append(w).append("\r\n"));
    return text.toString();
  }

  private static List<String> drawWords(Random random) {
    List<String> words = new ArrayList<>();
    int count = random.nextInt(random.nextInt(10) == 0 ? 60 : 5) + 1;
    for (int i = 0; i < count; i++) {
      byte[] word = new byte[random.nextInt(random.nextInt(10) == 0 ? 300 : 8)];
      random.nextBytes(word);
      words.add(new String(word, ISO_8859_1));
    }
    return words;
  }

  @Test
  void decode_pipelineCutAtEachByte_givesTheSameCommands() {
    String all =
        encoded(List.of("SET", "k\r\n", ""))
            + "PING \"a\\x41\\n\" 'b'\r\n\r\n*0\r\n*-1\r\n"
            + encoded(List.of("GET", "\0$5\r\n"));
    SimpleDecoder.Outcome whole = SimpleDecoder.decode(all, LIMITS);
    assertThat(whole.error()).isEmpty();
    assertThat(whole.commands())
        .containsExactly(
            List.of("SET", "k\r\n", ""),
            List.of("PING", "aA\n", "b"),
            List.of(),
            List.of(),
            List.of(),
            List.of("GET", "\0$5\r\n"));
    byte[] bytes = all.getBytes(ISO_8859_1);
    List<Integer> single = new ArrayList<>();
    for (int cut = 0; cut <= bytes.length; cut++) {
      single.add(cut);
      assertThat(decode(bytes, LIMITS, List.of(cut, bytes.length)))
          .as("cut at " + cut)
          .isEqualTo(whole);
    }
    assertThat(decode(bytes, LIMITS, single)).isEqualTo(whole);
  }

  @Test
  void decode_everyPrefix_givesTheCommandsThatAreWhole() {
    String all =
        encoded(List.of("SET", "key", "value")) + "PING\r\n" + encoded(List.of("GET", "k"));
    for (int end = 0; end <= all.length(); end++) {
      String prefix = all.substring(0, end);
      assertThat(decode(prefix)).as(prefix).isEqualTo(SimpleDecoder.decode(prefix, LIMITS));
      assertThat(decode(prefix).error()).isEmpty();
    }
  }

  @Test
  void decode_fuzzedBytesInAnyPieces_isAsTheSimpleDecoderSays() {
    long seed = Long.getLong("osier.seed", System.nanoTime());
    Random random = new Random(seed);
    int errors = 0;
    for (int n = 0; n < FUZZED; n++) {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(3); i >= 0; i--) {
        List<String> words = drawWords(random);
        text.append(random.nextInt(4) == 0 ? String.join(" ", words) + "\r\n" : encoded(words));
      }
      for (int i = random.nextInt(4); i > 0; i--) {
        int at = random.nextInt(text.length() + 1);
        switch (random.nextInt(3)) {
          case 0 -> text.insert(at, STRANGE.get(random.nextInt(STRANGE.size())));
          case 1 -> text.delete(at, Math.min(text.length(), at + 1 + random.nextInt(3)));
          default -> text.setLength(random.nextInt(8) == 0 ? at : text.length());
        }
      }
      byte[] bytes = text.toString().getBytes(ISO_8859_1);
      RespDecoder.Limits limits =
          random.nextInt(5) == 0 ? new RespDecoder.Limits(4, 100, 400) : LIMITS;
      List<Integer> ends = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        ends.add(random.nextInt(bytes.length + 1));
      }
      ends.add(bytes.length);
      ends.sort(null);
      SimpleDecoder.Outcome expected = SimpleDecoder.decode(text.toString(), limits);
      errors += expected.error().isEmpty() ? 0 : 1;
      SimpleDecoder.Outcome outcome = decode(bytes, limits, ends);
      if (!outcome.equals(expected)) {
        assertThat(outcome).as("seed %d, input %d: %s", seed, n, text).isEqualTo(expected);
      }
    }
    assertThat(errors).as("inputs with an error").isBetween(FUZZED / 20, FUZZED * 19 / 20);
  }

  @ParameterizedTest
  @CsvSource({
    "*9223372036854775808, invalid multibulk length",
    "*9223372036854775807, invalid multibulk length",
    "*1048577, invalid multibulk length",
    "*+1, invalid multibulk length",
    "*, invalid multibulk length",
    "'*1 x', invalid multibulk length",
    "*0x1, invalid multibulk length",
    "'*1\r\n$9223372036854775808', invalid bulk length",
    "'*1\r\n$-1', invalid bulk length",
    "'*1\r\n$1048577', invalid bulk length",
    "'*1\r\n$ 1', invalid bulk length",
    "'*1\r\nx', 'expected ''$'', got ''x'''",
    "'PING \"a', unbalanced quotes in request",
    "'PING \"a\"b', unbalanced quotes in request",
    "'PING ''a', unbalanced quotes in request",
  })
  void decode_wrongLine_isRedisError(String line, String error) {
    assertThat(decode(line + "\r\n").error()).isEqualTo("Protocol error: " + error);
  }

  @ParameterizedTest
  @ValueSource(strings = {"*1\n$4\r\nPING\r\n", "*1\r\n$4\nPING\r\n"})
  void decode_lineFeedAlone_isAnErrorInLengths(String sent) {
    assertThat(decode(sent).error()).startsWith("Protocol error: invalid ");
  }

  @Test
  void decode_carriageReturnWithoutLineFeed_waitsUntilItIsTooLong() {
    assertThat(decode("*1\r")).isEqualTo(new SimpleDecoder.Outcome(List.of(), ""));
    assertThat(decode("*1\r" + "1".repeat(62)).error())
        .isEqualTo("Protocol error: too big mbulk count string");
    assertThat(decode("*1\r\n$4\r" + "1".repeat(64)).error())
        .isEqualTo("Protocol error: too big bulk count string");
  }

  @Test
  void decode_lineOverAMebibyte_isAnErrorBeforeItEnds() {
    String word = "x".repeat(RespDecoder.LINE_BYTES_MAX);
    assertThat(decode(word + "\n").commands()).hasSize(1);
    assertThat(decode(word + "x").error()).isEqualTo("Protocol error: too big inline request");
  }

  @Test
  void decode_requestOverItsLimit_isAnErrorBeforeItsBytesHaveCome() {
    String half = "$1048576\r\n" + "x".repeat(1 << 20) + "\r\n";
    assertThat(decode("*2\r\n" + half + "$1048576\r\n").error())
        .isEqualTo("Protocol error: too big request");
  }

  @Test
  void decode_unknownUser_hasTenWordsOf16KiB() {
    List<String> ten = Arrays.asList(new String[10]);
    ten.replaceAll(w -> "x");
    RespDecoder.Limits limits = RespDecoder.Limits.UNKNOWN_USER;
    for (String sent : List.of(encoded(ten), String.join(" ", ten) + "\n")) {
      byte[] bytes = sent.getBytes(ISO_8859_1);
      assertThat(decode(bytes, limits, List.of(bytes.length)).commands()).containsExactly(ten);
    }
    for (String sent : List.of("*11\r\n", String.join(" ", ten) + " x\n")) {
      byte[] bytes = sent.getBytes(ISO_8859_1);
      assertThat(decode(bytes, limits, List.of(bytes.length)).error())
          .isEqualTo("Protocol error: unauthenticated multibulk length");
    }
    byte[] word = "*1\r\n$16385\r\n".getBytes(ISO_8859_1);
    assertThat(decode(word, limits, List.of(word.length)).error())
        .isEqualTo("Protocol error: unauthenticated bulk length");
  }

  @Test
  void setLimits_betweenCommands_holdsFromTheNextOn() {
    RespDecoder decoder = new RespDecoder(new RespDecoder.Limits(1, 4, 100));
    byte[] two = encoded(List.of("GET", "k")).getBytes(ISO_8859_1);
    assertThatThrownBy(() -> decoder.decode(two, 0, two.length)).isInstanceOf(ProtocolError.class);
    RespDecoder other = new RespDecoder(new RespDecoder.Limits(1, 4, 100));
    other.setLimits(LIMITS);
    assertThat(other.decode(two, 0, two.length)).isEqualTo(two.length);
    assertThat(other.take(two, 0).length).isEqualTo(2);
  }

  /** What is kept grows with what has come, not with what was promised. */
  @Test
  void decode_millionWordsPromised_takesNoRoomForThem() {
    RespDecoder decoder = new RespDecoder(LIMITS);
    byte[] head = "*1048576\r\n$1\r\nx\r\n".getBytes(ISO_8859_1);
    assertThat(decoder.decode(head, 0, head.length)).isEqualTo(-1);
    assertThat(decoder.room()).isLessThanOrEqualTo(16);
  }

  @Test
  void decode_lineOfAnUnknownUser_isNoLongerThanItsCommandMayBe() {
    RespDecoder.Limits limits = RespDecoder.Limits.UNKNOWN_USER;
    assertThat(ofUnknownUser("x".repeat(limits.bytes() + 1)).error())
        .isEqualTo("Protocol error: too big inline request");
    assertThat(ofUnknownUser("AUTH " + "x".repeat(limits.wordBytes() + 1) + "\r\n").error())
        .isEqualTo("Protocol error: unauthenticated bulk length");
    String longest = "x".repeat(limits.wordBytes());
    assertThat(ofUnknownUser("AUTH " + longest + " " + longest + "\r\n").commands()).hasSize(1);
  }

  private static SimpleDecoder.Outcome ofUnknownUser(String sent) {
    byte[] bytes = sent.getBytes(ISO_8859_1);
    return decode(bytes, RespDecoder.Limits.UNKNOWN_USER, List.of(bytes.length));
  }
}
