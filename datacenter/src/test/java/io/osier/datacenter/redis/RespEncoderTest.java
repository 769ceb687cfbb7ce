package io.osier.datacenter.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Answers as bytes of both versions, read again by a reader that knows nothing of the encoder. */
final class RespEncoderTest {
  /** Reads an answer into a form that says what it is. */
  private static final class Reader {
    private final String in;
    private int at;

    Reader(String in) {
      this.in = in;
    }

    private String line() {
      int end = in.indexOf("\r\n", at);
      String line = in.substring(at, end);
      at = end + 2;
      return line;
    }

    String read() {
      char kind = in.charAt(at++);
      String head = line();
      return switch (kind) {
        case '+', '-', ':', '_' -> kind + head;
        case '$' -> {
          int length = Integer.parseInt(head);
          if (length < 0) {
            yield "$-1";
          }
          String content = in.substring(at, at + length);
          at += length;
          assertThat(in.substring(at, at + 2)).isEqualTo("\r\n");
          at += 2;
          yield "$" + content;
        }
        case '*', '~', '>', '%' -> {
          int count = Integer.parseInt(head) * (kind == '%' ? 2 : 1);
          if (count < 0) {
            yield "*-1";
          }
          List<String> parts = new ArrayList<>();
          for (int i = 0; i < count; i++) {
            parts.add(read());
          }
          yield kind + parts.toString();
        }
        default -> throw new AssertionError("no kind: " + kind);
      };
    }
  }

  private static String line(String text) {
    return new String(text.replace('\r', ' ').replace('\n', ' ').getBytes(UTF_8), ISO_8859_1);
  }

  private static String all(String kind, List<RespValue> values, boolean resp3) {
    return kind + values.stream().map(v -> expected(v, resp3)).collect(Collectors.toList());
  }

  private static String expected(RespValue value, boolean resp3) {
    return switch (value) {
      case RespValue.Simple v -> "+" + line(v.text());
      case RespValue.Err v -> "-" + line(v.text());
      case RespValue.Int v -> ":" + v.value();
      case RespValue.Bulk v -> "$" + new String(v.bytes(), ISO_8859_1);
      case RespValue.Text v -> "$" + new String(v.bytes(), ISO_8859_1);
      case RespValue.Null v -> resp3 ? "_" : "$-1";
      case RespValue.NullArray v -> resp3 ? "_" : "*-1";
      case RespValue.Encoded v -> new String(v.bytes(), ISO_8859_1);
      case RespValue.Array v -> all("*", v.values(), resp3);
      case RespValue.Pairs v -> all(resp3 ? "%" : "*", v.values(), resp3);
      case RespValue.Elements v -> all(resp3 ? "~" : "*", v.values(), resp3);
      case RespValue.Push v -> all(resp3 ? ">" : "*", v.values(), resp3);
    };
  }

  private static RespValue draw(Random random, int depth) {
    int kind = random.nextInt(depth > 3 ? 6 : 10);
    List<RespValue> values = new ArrayList<>();
    if (kind > 5) {
      for (int i = 2 * random.nextInt(4); i > 0; i--) {
        values.add(draw(random, depth + 1));
      }
    }
    byte[] bytes = new byte[random.nextInt(random.nextInt(20) == 0 ? 5_000 : 10)];
    random.nextBytes(bytes);
    long[] numbers = {0, -1, 9, 10, Long.MIN_VALUE, Long.MAX_VALUE, random.nextLong()};
    return switch (kind) {
      case 0 -> new RespValue.Simple("OK" + random.nextInt());
      case 1 -> new RespValue.Err("ERR two\r\nlines \u00e4");
      case 2 -> new RespValue.Int(numbers[random.nextInt(numbers.length)]);
      case 3 ->
          random.nextBoolean()
              ? new RespValue.Bulk(bytes)
              : new RespValue.Text(new Value.Str("\u00e4" + bytes.length));
      case 4 -> RespValue.NULL;
      case 5 -> new RespValue.NullArray();
      case 6 -> new RespValue.Array(values);
      case 7 -> new RespValue.Pairs(values);
      case 8 -> new RespValue.Elements(values);
      default -> new RespValue.Push(values);
    };
  }

  @Test
  void write_anyAnswers_areReadAgainInBothVersions() {
    long seed = Long.getLong("osier.seed", System.nanoTime());
    Random random = new Random(seed);
    RespEncoder encoder = new RespEncoder();
    for (int n = 0; n < 20_000; n++) {
      boolean resp3 = random.nextBoolean();
      List<RespValue> answers = new ArrayList<>();
      for (int i = random.nextInt(3); i >= 0; i--) {
        answers.add(draw(random, 0));
        if (random.nextBoolean()) {
          encoder.write(answers.getLast(), resp3);
          continue;
        }
        RespPieces pieces = new RespPieces(answers.getLast(), resp3);
        boolean isAll = false;
        while (!isAll) {
          isAll = pieces.writeTo(encoder, encoder.size() + 1 + random.nextInt(100));
        }
      }
      Reader reader = new Reader(new String(encoder.bytes(), 0, encoder.size(), ISO_8859_1));
      for (RespValue answer : answers) {
        assertThat(reader.read())
            .as("seed %d, answer %d", seed, n)
            .isEqualTo(expected(answer, resp3));
      }
      assertThat(reader.at).isEqualTo(encoder.size());
      encoder.clear(1 << 12);
      assertThat(encoder.size()).isZero();
    }
  }

  @Test
  void write_largeAnswer_isGivenUpWithItsBuffer() {
    RespEncoder encoder = new RespEncoder();
    encoder.write(new RespValue.Bulk(new byte[1 << 20]), false);
    assertThat(encoder.size()).isEqualTo((1 << 20) + "$1048576\r\n\r\n".length());
    encoder.clear(1 << 16);
    assertThat(encoder.bytes().length).isLessThan(1 << 16);
  }

  @Test
  void err_thatRepeatsMuchOfWhatCame_isCut() {
    assertThat(new RespValue.Err("ERR " + "x".repeat(1 << 20)).text())
        .hasSize(RespValue.Err.LENGTH_MAX + 3)
        .endsWith("xx...");
  }
}
