package io.osier.crdt.types;

import io.osier.core.Value;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The forms of a string: the bytes that a client writes and reads, and the value that is kept for
 * them, from which the same bytes can be made. Static and thread-safe.
 */
final class StringText {
  /**
   * A longer text is no number that increments are added to, nor is one that would have more digits
   * when written out.
   */
  static final int DIGITS_MAX = 40;

  private static final int LONG_DIGITS_MAX = 20;

  private StringText() {}

  static Value kept(byte[] bytes) {
    return kept(Value.ofText(bytes));
  }

  /** Returns the form to keep of a value that a client gives: numbers as they are written. */
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

  /** Returns the form to keep of a number: without trailing zeros. */
  static Value kept(BigDecimal number) {
    return kept(Value.of(plain(number)));
  }

  private static String plain(BigDecimal number) {
    return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
  }

  /** Returns the long that this text is the usual form of; empty if there is none. */
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

  /** Returns the number that a kept value is the text of; empty if it is none. */
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

  /** Returns the number; empty if it has too many digits. */
  private static Optional<BigDecimal> number(BigDecimal number) {
    long before = (long) number.precision() - number.scale();
    return Math.abs((long) number.scale()) <= DIGITS_MAX && before <= DIGITS_MAX
        ? Optional.of(number)
        : Optional.empty();
  }

  /** Returns a kept value as a reader gets it. */
  static Value shown(Value kept) {
    return kept instanceof Value.Int number ? Value.of(number.toString()) : kept;
  }

  /** Returns the length of a kept value in bytes; O(1). */
  static int length(Value kept) {
    return kept instanceof Value.Int number
        ? number.toString().length()
        : kept.sizeBytes() - Value.BYTES_BESIDE;
  }

  /** Returns the bytes of a kept value; not to be changed. */
  static byte[] bytes(Value kept) {
    return kept instanceof Value.Bytes bytes
        ? bytes.content()
        : kept.toString().getBytes(StandardCharsets.UTF_8);
  }
}
