package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Present;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** Splits decimal numbers into a whole number and a rest in units of 10^-18. Thread-safe. */
public final class DecimalAmount {
  /** The most digits behind the point. */
  public static final int PLACES_MAX = 18;

  /** How many units make one. */
  public static final long ONE = 1_000_000_000_000_000_000L;

  private DecimalAmount() {}

  /**
   * Returns an amount in its shortest form; refuses one that is out of range or has too many
   * digits.
   */
  static BigDecimal checked(BigDecimal amount) {
    Present.present(amount, "an amount");
    // The size is checked before the number is expanded.
    if (amount.signum() != 0
        && (amount.precision() - (long) amount.scale() > PLACES_MAX + 1
            || amount.scale() > 4 * PLACES_MAX
            || amount.stripTrailingZeros().scale() > PLACES_MAX
            || !isInRange(amount))) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "an amount is in the range of a long, with at most "
              + PLACES_MAX
              + " digits behind the point; it has "
              + amount.precision()
              + " digits, "
              + amount.scale()
              + " of them behind the point");
    }
    return amount.signum() == 0 ? BigDecimal.ZERO : amount.stripTrailingZeros();
  }

  /** Returns the amount of a whole number and a rest in units of 10^-18. */
  static BigDecimal of(long whole, long fraction) {
    return BigDecimal.valueOf(whole).add(BigDecimal.valueOf(fraction, PLACES_MAX));
  }

  /** Whether the largest whole number that is not above it fits a long. */
  public static boolean isInRange(BigDecimal number) {
    BigDecimal whole = number.setScale(0, RoundingMode.FLOOR);
    return whole.compareTo(BigDecimal.valueOf(Long.MIN_VALUE)) >= 0
        && whole.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) <= 0;
  }

  /** Returns the largest whole number that is not above a number in range. */
  public static long whole(BigDecimal number) {
    return number.setScale(0, RoundingMode.FLOOR).longValueExact();
  }

  /** Returns the rest above that whole number, in units of 10^-18. */
  public static long fraction(BigDecimal number) {
    return number
        .subtract(BigDecimal.valueOf(whole(number)))
        .multiply(BigDecimal.valueOf(ONE))
        .longValueExact();
  }
}
