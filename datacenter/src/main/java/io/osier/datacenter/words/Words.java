package io.osier.datacenter.words;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.datacenter.config.ClosestName;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What words mean as arguments of a command: keys, values, numbers and times. Pure. */
public final class Words {
  /** In front of a value that is a string, whatever it looks like. */
  public static final String STRING = "str:";

  /** In front of one that is a whole number. */
  public static final String INTEGER = "int:";

  /** In front of one that is a double. */
  public static final String REAL = "real:";

  /** In front of hexadecimal digits. */
  public static final String BYTES = "bytes:";

  private static final Pattern HEX = Pattern.compile("0x((?:[0-9a-fA-F]{2})*)");
  private static final Pattern KEY_BYTES = Pattern.compile(BYTES + "0x((?:[0-9a-fA-F]{2})+)");
  private static final Pattern WHOLE = Pattern.compile("-?(0|[1-9]\\d*)");
  private static final Pattern POINT = Pattern.compile("-?\\d+\\.\\d+([eE][-+]?\\d+)?");
  private static final Pattern DECIMAL =
      Pattern.compile("[-+]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][-+]?\\d+)?");
  private static final Pattern NO_NUMBER = Pattern.compile("NaN|[-+]?Infinity");

  private Words() {}

  public static void arguments(List<Word> words, int min, int max, String usage) {
    if (words.size() < min || words.size() > max) {
      throw bad("usage: " + usage);
    }
  }

  public static Word only(List<Word> rest, String usage) {
    if (rest.size() != 1) {
      throw bad("usage: " + usage);
    }
    return rest.getFirst();
  }

  public static List<Value> values(List<Word> rest, String usage) {
    if (rest.isEmpty()) {
      throw bad("usage: " + usage);
    }
    return rest.stream().map(Words::value).toList();
  }

  /** A text, or {@code bytes:0x…}; what stands in quotes is a text. */
  public static Key key(Word word) {
    Matcher bytes = KEY_BYTES.matcher(word.text());
    return !word.literal() && bytes.matches()
        ? Key.of(HexFormat.of().parseHex(bytes.group(1)))
        : Key.of(word.text());
  }

  /** A key where only texts are taken. */
  public static String textKey(Word word) {
    if (!word.literal() && KEY_BYTES.matcher(word.text()).matches()) {
      throw bad("a key that is no text can be read and updated, but not so: " + word.text());
    }
    return word.text();
  }

  public static List<String> texts(List<Word> words) {
    return words.stream().map(Word::text).toList();
  }

  public static long number(Word word) {
    try {
      return Long.parseLong(word.text());
    } catch (NumberFormatException e) {
      boolean isWhole = WHOLE.matcher(word.text()).matches();
      throw bad(
          "'%s' must be a whole number%s"
              .formatted(word.text(), isWhole ? " that has room in 64 bits" : ""));
    }
  }

  public static Duration seconds(Word word) {
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
  public static Operation.Expire after(Word word) {
    return after(seconds(word));
  }

  /** A deadline after a time. */
  public static Operation.Expire after(Duration left) {
    if (left.isNegative()) {
      return new Operation.Expire(0, true);
    }
    if (left.compareTo(Duration.ofMillis(Operation.Expire.MILLIS_MAX)) > 0) {
      throw bad("a time to live ends before the year 10000, unlike " + left.toSeconds() + " s");
    }
    return new Operation.Expire(left.plusNanos(999_999).toMillis(), true);
  }

  /** Seconds since 1970, or as ISO 8601 writes it. */
  public static Instant time(Word word) {
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
  public static int amount(Word word) {
    long number = number(word);
    if (number < 0 || number > Integer.MAX_VALUE) {
      throw bad("'" + word.text() + "' must be a number from 0 to " + Integer.MAX_VALUE);
    }
    return (int) number;
  }

  /** How many things to show, or to wait for. */
  public static int count(Word word) {
    int count = amount(word);
    if (count == 0) {
      throw bad("'" + word.text() + "' must be a number from 1 to " + Integer.MAX_VALUE);
    }
    return count;
  }

  /**
   * What to throw where something cannot be done.
   *
   * @param what with which it cannot
   * @param verbs what can be
   */
  public static OsierException noVerb(String what, String verb, List<String> verbs) {
    return bad(
        what
            + " has no '"
            + verb
            + "'"
            + ClosestName.near(verb, verbs).map(v -> "; did you mean '" + v + "'?").orElse("")
            + "; it has "
            + String.join(", ", verbs));
  }

  /**
   * What a word is: of the type before its colon, or else a long or a double that is written as
   * numbers are, bytes (0x…), or a string; what stands in single quotes is a string.
   */
  public static Value value(Word from) {
    String word = from.text();
    if (from.literal()) {
      return Value.of(word);
    }
    if (word.startsWith(STRING)) {
      return Value.of(word.substring(STRING.length()));
    }
    if (word.startsWith(INTEGER)) {
      return integer(word.substring(INTEGER.length()))
          .orElseThrow(() -> notOfType(word, "a whole number of 64 bits, for example int:42"));
    }
    if (word.startsWith(REAL)) {
      return real(word.substring(REAL.length()))
          .orElseThrow(
              () -> notOfType(word, "a double, for example real:1e3, real:NaN or real:-Infinity"));
    }
    if (word.startsWith(BYTES)) {
      Matcher bytes = HEX.matcher(word.substring(BYTES.length()));
      if (!bytes.matches()) {
        throw notOfType(word, "hexadecimal digits, two a byte, for example bytes:0xcafe");
      }
      return Value.of(HexFormat.of().parseHex(bytes.group(1)));
    }
    Matcher bytes = HEX.matcher(word);
    if (bytes.matches()) {
      return Value.of(HexFormat.of().parseHex(bytes.group(1)));
    }
    // A zero in front, or too many digits: what is kept is what was written, not another number.
    Optional<Value> number = Optional.empty();
    if (WHOLE.matcher(word).matches() && !word.equals("-0")) {
      number = integer(word);
    } else if (POINT.matcher(word).matches()) {
      number = real(word);
    }
    return number.orElseGet(() -> Value.of(word));
  }

  private static Optional<Value> integer(String digits) {
    try {
      return Optional.of(Value.of(Long.parseLong(digits)));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** Empty also for one that a double takes for infinite, or for zero. */
  private static Optional<Value> real(String text) {
    if (NO_NUMBER.matcher(text).matches()) {
      return Optional.of(Value.of(Double.parseDouble(text)));
    }
    if (!DECIMAL.matcher(text).matches()) {
      return Optional.empty();
    }
    double number = Double.parseDouble(text);
    boolean isZero = text.toLowerCase(Locale.ROOT).split("e", 2)[0].matches("[-+.0]*");
    return Double.isInfinite(number) || (number == 0 && !isZero)
        ? Optional.empty()
        : Optional.of(Value.of(number));
  }

  private static OsierException notOfType(String word, String what) {
    return bad("'" + word + "' must be " + what + "; str:" + word + " is the string");
  }

  public static OsierException bad(String message) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, message);
  }
}
