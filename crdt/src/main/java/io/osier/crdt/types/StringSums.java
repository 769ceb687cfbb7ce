package io.osier.crdt.types;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.DecimalAmount;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.types.CounterSlots.Slot;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * The sums that were added to a string, exact: a slot's first sum is the whole part, which may be
 * negative; the second one is the fraction, in units of 10^-18, at least 0 and less than one.
 * Static and thread-safe.
 */
final class StringSums {
  private StringSums() {}

  /** Whether no sum has a fraction. */
  static boolean areWhole(CounterSlots sums) {
    for (Slot s : sums.slots) {
      if (!s.isReset() && s.down() != s.baseDown()) {
        return false;
      }
    }
    return true;
  }

  /** Returns a number plus the whole parts; empty if that leaves the range of a long. */
  static Optional<Long> wholePlus(CounterSlots sums, long number) {
    try {
      long sum = number;
      for (Slot s : sums.slots) {
        sum = s.isReset() ? sum : Math.addExact(sum, Math.subtractExact(s.up(), s.baseUp()));
      }
      return Optional.of(sum);
    } catch (ArithmeticException e) {
      return Optional.empty();
    }
  }

  /** Returns the sum with its fraction. */
  static BigDecimal decimal(CounterSlots sums) {
    BigDecimal sum = BigDecimal.ZERO;
    for (Slot s : sums.slots) {
      if (!s.isReset()) {
        sum =
            sum.add(BigDecimal.valueOf(s.up()))
                .subtract(BigDecimal.valueOf(s.baseUp()))
                .add(BigDecimal.valueOf(s.down() - s.baseDown(), DecimalAmount.PLACES_MAX));
      }
    }
    return sum;
  }

  /**
   * Returns the delta of an addition.
   *
   * @param fraction in units of 10^-18, less than one whole
   */
  static CounterSlots add(CounterSlots sums, long whole, long fraction, UpdateContext preparation) {
    Slot own = sums.own(preparation, true);
    long parts = own.down() + fraction;
    try {
      long up = Math.addExact(Math.addExact(own.up(), whole), parts / DecimalAmount.ONE);
      return CounterSlots.of(
          own.with(preparation.nextDot().number(), up, parts % DecimalAmount.ONE));
    } catch (ArithmeticException e) {
      throw OsierException.of(
          ErrorCode.OVERFLOW,
          "adding "
              + whole
              + " is too much: all that was added here since the last assignment is "
              + own.up()
              + ", and must stay in the range of a long, too; assign the sum instead");
    }
  }

  static void write(CounterSlots sums, WireOutput out) {
    out.writeCount(sums.slots.length);
    for (Slot s : sums.slots) {
      out.writeReplica(s.replica());
      out.writeNumber(s.last());
      write(out, s.up(), s.down());
      out.writeNumber(s.base());
      if (s.base() != 0) {
        write(out, s.baseUp(), s.baseDown());
      }
    }
  }

  private static void write(WireOutput out, long whole, long fraction) {
    out.writeNumber(fraction);
    out.writeSigned(whole);
  }

  /** Reads the form that {@link #write} produces. */
  static CounterSlots read(WireInput in) {
    return CounterSlots.read(in, 5, StringSums::readSlot);
  }

  private static Slot readSlot(WireInput in) {
    ReplicaId replica = in.readReplica();
    long last = in.readNumber();
    long fraction = readFraction(in);
    long whole = in.readSigned();
    long base = in.readNumber();
    long baseFraction = base == 0 ? 0 : readFraction(in);
    long baseWhole = base == 0 ? 0 : in.readSigned();
    return new Slot(replica, last, whole, fraction, base, baseWhole, baseFraction);
  }

  private static long readFraction(WireInput in) {
    long fraction = in.readNumber();
    if (fraction >= DecimalAmount.ONE) {
      throw new MalformedException(
          "a fraction of " + fraction + " is not below " + DecimalAmount.ONE + "");
    }
    return fraction;
  }
}
