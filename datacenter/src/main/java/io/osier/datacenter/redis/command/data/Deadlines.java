package io.osier.datacenter.redis.command.data;

import io.osier.crdt.Operation;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads the times at which keys and fields expire from the words of commands. Static, for any
 * thread.
 */
final class Deadlines {
  enum Unit {
    SECONDS(1_000, true),
    MILLIS(1, true),
    /** Seconds since 1970. */
    AT_SECONDS(1_000, false),
    /** Milliseconds since 1970. */
    AT_MILLIS(1, false);

    private final int millis;
    private final boolean fromNow;

    Unit(int millis, boolean fromNow) {
      this.millis = millis;
      this.fromNow = fromNow;
    }
  }

  private Deadlines() {}

  /** Returns the unit that an option of SET or GETEX stands for; null for another word. */
  static @Nullable Unit unit(String option) {
    return switch (option) {
      case "EX" -> Unit.SECONDS;
      case "PX" -> Unit.MILLIS;
      case "EXAT" -> Unit.AT_SECONDS;
      case "PXAT" -> Unit.AT_MILLIS;
      default -> null;
    };
  }

  /**
   * Reads a deadline, which must be positive.
   *
   * @throws RedisException if it is not, or is out of range
   */
  static Operation.Expire positive(Scope scope, byte[] word, Unit unit, byte[] command) {
    long number = Numbers.integer(word);
    if (number <= 0) {
      throw invalid(command);
    }
    return of(scope, number, unit, command);
  }

  static Operation.Expire of(Scope scope, long number, Unit unit, byte[] command) {
    if (number > Long.MAX_VALUE / unit.millis || number < Long.MIN_VALUE / unit.millis) {
      throw invalid(command);
    }
    long millis = number * unit.millis;
    if (unit.fromNow && millis > Long.MAX_VALUE - scope.millis()) {
      throw invalid(command);
    }
    return new Operation.Expire(Math.clamp(millis, 0, Operation.Expire.MILLIS_MAX), unit.fromNow);
  }

  static boolean isOver(Scope scope, Operation.Expire deadline) {
    return deadline.from(scope.millis()).millis() <= scope.millis();
  }

  private static RedisException invalid(byte[] command) {
    String name = RespDecoder.text(command).toLowerCase(Locale.ROOT);
    return new RedisException("ERR invalid expire time in '" + name + "' command");
  }
}
