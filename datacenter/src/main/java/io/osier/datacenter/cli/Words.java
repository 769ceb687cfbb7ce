package io.osier.datacenter.cli;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.Operation;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;

/** What words mean as arguments of a command: keys, values, numbers and times. Pure. */
final class Words {
  private Words() {}

  static void arguments(List<Word> words, int min, int max, String usage) {
    if (words.size() < min || words.size() > max) {
      throw bad("usage: " + usage);
    }
  }

  static Word only(List<Word> rest, String usage) {
    if (rest.size() != 1) {
      throw bad("usage: " + usage);
    }
    return rest.getFirst();
  }

  static List<Value> values(List<Word> rest, String usage) {
    if (rest.isEmpty()) {
      throw bad("usage: " + usage);
    }
    return rest.stream().map(Words::value).toList();
  }

  static Key key(Word word) {
    return Key.of(word.text());
  }

  static List<String> texts(List<Word> words) {
    return words.stream().map(Word::text).toList();
  }

  static long number(Word word) {
    try {
      return Long.parseLong(word.text());
    } catch (NumberFormatException e) {
      throw bad("'" + word.text() + "' must be a whole number");
    }
  }

  static Duration seconds(Word word) {
    try {
      BigDecimal seconds = new BigDecimal(word.text());
      if (Math.abs((long) seconds.scale()) > 19) {
        throw new NumberFormatException("of no use, and slow to round");
      }
      BigDecimal whole = seconds.setScale(0, RoundingMode.FLOOR);
      long nanos = seconds.subtract(whole).movePointRight(9).longValueExact();
      return Duration.ofSeconds(whole.longValueExact(), nanos);
    } catch (ArithmeticException | NumberFormatException e) {
      throw bad("'" + word.text() + "' must be a number of seconds, for example 90 or 0.5");
    }
  }

  /** A deadline after some seconds. */
  static Operation.Expire after(Word word) {
    Duration left = seconds(word);
    if (left.isNegative()) {
      return new Operation.Expire(0, true);
    }
    if (left.compareTo(Duration.ofMillis(Operation.Expire.MILLIS_MAX)) > 0) {
      throw bad("a time to live ends before the year 10000, unlike " + word.text() + " seconds");
    }
    return new Operation.Expire(left.plusNanos(999_999).toMillis(), true);
  }

  /** Seconds since 1970, or as ISO 8601 writes it. */
  static Instant time(Word word) {
    try {
      return word.text().matches("-?\\d+")
          ? Instant.ofEpochSecond(Long.parseLong(word.text()))
          : Instant.parse(word.text());
    } catch (DateTimeException | NumberFormatException e) {
      throw bad(
          "'"
              + word.text()
              + "' must be a time: seconds since 1970, or for example 2030-01-31T12:00:00Z");
    }
  }

  /** A number of things, of milliseconds or of seconds. */
  static int amount(Word word) {
    long number = number(word);
    if (number < 0 || number > Integer.MAX_VALUE) {
      throw bad("'" + word.text() + "' must be between 0 and " + Integer.MAX_VALUE);
    }
    return (int) number;
  }

  /** A long, a double, bytes, or else a string; what stands in single quotes is a string. */
  static Value value(Word from) {
    String word = from.text();
    if (from.literal()) {
      return Value.of(word);
    }
    if (word.matches("-?\\d{1,18}")) {
      return Value.of(Long.parseLong(word));
    }
    if (word.matches("-?\\d+\\.\\d+([eE][-+]?\\d+)?")) {
      return Value.of(Double.parseDouble(word));
    }
    if (word.matches("0x([0-9a-fA-F]{2})*")) {
      return Value.of(HexFormat.of().parseHex(word.substring(2)));
    }
    return Value.of(word);
  }

  static OsierException bad(String message) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, message);
  }
}
