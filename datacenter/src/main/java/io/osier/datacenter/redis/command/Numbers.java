package io.osier.datacenter.redis.command;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** Numbers as Redis reads and writes them. Static, for any thread. */
public final class Numbers {
  /** Digits behind the point that Redis writes. */
  private static final int PLACES = 17;

  private static final int LONG_DIGITS_MAX = 20;

  /** Longest text of a number that Redis looks at. */
  private static final int FLOAT_TEXT_MAX = 5 * 1024;

  /** Largest decimal exponent of the numbers that Redis calculates with, which have 80 bits. */
  private static final int EXPONENT_MAX = 4932;

  private static final Pattern DECIMAL =
      Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
  private static final Pattern HEXADECIMAL = Pattern.compile("([+-]?)0[xX]([0-9a-fA-F]{1,32})");
  private static final Pattern INFINITE =
      Pattern.compile("[+-]?inf(inity)?", Pattern.CASE_INSENSITIVE);

  private Numbers() {}

  public static long integer(byte[] word) {
    return integer(word, RedisErrors.NO_INTEGER);
  }

  public static long integer(byte[] word, String error) {
    return parse(word).orElseThrow(() -> new RedisException(error));
  }

  public static long integer(byte[] word, long least, long most, String error) {
    long number = integer(word, error);
    if (number < least || number > most) {
      throw new RedisException(error);
    }
    return number;
  }

  /**
   * Returns the long that a word writes: without a plus, blanks or leading zeros. Empty if it is
   * none.
   */
  public static OptionalLong parse(byte[] word) {
    int length = word.length;
    boolean isNegative = length > 0 && word[0] == '-';
    int from = isNegative ? 1 : 0;
    if (length == from || length > LONG_DIGITS_MAX) {
      return OptionalLong.empty();
    }
    if (word[from] == '0') {
      return length == 1 ? OptionalLong.of(0) : OptionalLong.empty();
    }
    long negative = 0; // counted as negative, since the range of negative numbers is larger
    for (int i = from; i < length; i++) {
      int digit = word[i] - '0';
      if (digit < 0 || digit > 9 || negative < Long.MIN_VALUE / 10) {
        return OptionalLong.empty();
      }
      long next = negative * 10 - digit;
      if (next > 0 || (next == 0 && negative != 0)) {
        return OptionalLong.empty();
      }
      negative = next;
    }
    if (!isNegative && negative == Long.MIN_VALUE) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(isNegative ? negative : -negative);
  }

  public static byte[] text(long number) {
    return Long.toString(number).getBytes(StandardCharsets.ISO_8859_1);
  }

  /**
   * Returns a number with a fraction, exactly.
   *
   * @param error the message of the RedisException for a word that is no number
   * @param infinite the message of the RedisException for an infinite number
   */
  public static BigDecimal decimal(byte[] word, String error, String infinite) {
    if (word.length == 0 || word.length >= FLOAT_TEXT_MAX) {
      throw new RedisException(error);
    }
    String text = new String(word, StandardCharsets.ISO_8859_1);
    if (INFINITE.matcher(text).matches()) {
      throw new RedisException(infinite);
    }
    return finite(text).orElseThrow(() -> new RedisException(error));
  }

  private static Optional<BigDecimal> finite(String text) {
    var hexadecimal = HEXADECIMAL.matcher(text);
    if (hexadecimal.matches()) {
      BigDecimal size = new BigDecimal(new BigInteger(hexadecimal.group(2), 16));
      return Optional.of(hexadecimal.group(1).equals("-") ? size.negate() : size);
    }
    if (!DECIMAL.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      BigDecimal number = new BigDecimal(text);
      long exponent = (long) number.precision() - number.scale();
      if (number.signum() == 0 || exponent < -EXPONENT_MAX) {
        return Optional.of(BigDecimal.ZERO);
      }
      return exponent > EXPONENT_MAX ? Optional.empty() : Optional.of(number);
    } catch (NumberFormatException e) { // an exponent of many digits
      return Optional.empty();
    }
  }

  /**
   * Returns the sum of two numbers with fractions.
   *
   * @throws RedisException if it is beyond the numbers of Redis
   */
  public static BigDecimal sum(BigDecimal one, BigDecimal other) {
    BigDecimal sum = one.add(other);
    if ((long) sum.precision() - sum.scale() > EXPONENT_MAX) {
      throw new RedisException(RedisErrors.INFINITE);
    }
    return sum;
  }

  /**
   * Returns the number by which SORT orders an element; an empty word counts as 0.
   *
   * @param error the message of the RedisException for a word that is no number
   */
  public static double score(byte[] word, String error) {
    if (word.length == 0) {
      return 0;
    }
    if (word.length >= FLOAT_TEXT_MAX) {
      throw new RedisException(error);
    }
    String text = new String(word, StandardCharsets.ISO_8859_1);
    if (INFINITE.matcher(text).matches()) {
      return text.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
    }
    if (HEXADECIMAL.matcher(text).matches()) {
      return decimal(word, error, error).doubleValue();
    }
    double score = DECIMAL.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
    if (Double.isNaN(score) || Double.isInfinite(score)) {
      throw new RedisException(error);
    }
    return score;
  }

  /**
   * Returns the text that Redis writes for a number: without an exponent, and without zeros at its
   * end.
   */
  public static byte[] text(BigDecimal number) {
    return plain(number).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String plain(BigDecimal number) {
    BigDecimal rounded =
        number.scale() > PLACES ? number.setScale(PLACES, RoundingMode.HALF_EVEN) : number;
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }
}
