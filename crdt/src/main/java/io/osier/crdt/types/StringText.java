package io.osier.crdt.types;

import io.osier.core.Value;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The forms of a string: bytes, as a client gives and gets them, and the value that is kept for
 * them, from which the same bytes come again. Static, for any thread.
 */
final class StringText {
  /**
   * A longer text is none that increments count on, nor one with more digits if it is written out.
   */
  static final int DIGITS_MAX = 40;

  private static final int LONG_DIGITS_MAX = 20;

  private StringText() {}

  static Value kept(byte[] bytes) {
    return kept(Value.ofText(bytes));
  }

  /** What is kept of a value that a client gives: of a number what it is written as. */
  static Value kept(Value given) {
    return switch (given) {
      case Value.Int number -> number;
      case Value.Real real ->
          Double.isFinite(real.content())
              ? number(BigDecimal.valueOf(real.content()))
                  .map(StringText::kept)
                  .orElse(Value.of(real.toString()))
              : Value.of(real.toString());
      case Value.Str text -> wholeNumber(text).orElse(text);
      case Value.Bytes bytes ->
          Value.ofText(bytes.content()) instanceof Value.Str text ? kept(text) : bytes;
    };
  }

  /** What is kept of a number: without zeros at its end. */
  static Value kept(BigDecimal number) {
    return kept(Value.of(plain(number)));
  }

  private static String plain(BigDecimal number) {
    return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
  }

  /** The long that is written as this text, if there is one. */
  private static Optional<Value> wholeNumber(Value.Str text) {
    String digits = text.content();
    if (digits.length() > LONG_DIGITS_MAX || !areDigits(digits, digits.startsWith("-") ? 1 : 0)) {
      return Optional.empty();
    }
    try {
      long number = Long.parseLong(digits);
      return Long.toString(number).equals(digits)
          ? Optional.of(Value.of(number))
          : Optional.empty();
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static boolean areDigits(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return from < text.length();
  }

  /** The number that something kept is written as, if it is one. */
  static Optional<BigDecimal> number(Value kept) {
    return switch (kept) {
      case Value.Int number -> Optional.of(BigDecimal.valueOf(number.content()));
      case Value.Str text -> number(text);
      default -> Optional.empty();
    };
  }

  private static Optional<BigDecimal> number(Value.Str text) {
    if (text.content().length() > DIGITS_MAX || !text.isAscii()) {
      return Optional.empty();
    }
    try {
      return number(new BigDecimal(text.content()));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** The number, if it has few digits. */
  private static Optional<BigDecimal> number(BigDecimal number) {
    long before = (long) number.precision() - number.scale();
    return Math.abs((long) number.scale()) <= DIGITS_MAX && before <= DIGITS_MAX
        ? Optional.of(number)
        : Optional.empty();
  }

  /** What a reader is given of something kept. */
  static Value shown(Value kept) {
    return kept instanceof Value.Int number ? Value.of(number.toString()) : kept;
  }

  /** How many bytes something kept has: at once, however many. */
  static int length(Value kept) {
    return kept instanceof Value.Int number
        ? number.toString().length()
        : kept.sizeBytes() - Value.BYTES_BESIDE;
  }

  /** The bytes of something kept; not to be changed. */
  static byte[] bytes(Value kept) {
    return kept instanceof Value.Bytes bytes
        ? bytes.content()
        : kept.toString().getBytes(StandardCharsets.UTF_8);
  }
}
