package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** BITFIELD: reads and changes numbers of 1 to 64 bits within a string. Static, for any thread. */
final class Bitfield {
  private static final String NO_TYPE =
      "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but"
          + " i64 is.";
  static final String NO_OFFSET = "ERR bit offset is not an integer or out of range";
  private static final long BITS_MAX = 1L << 32;
  private static final BigInteger TWO = BigInteger.TWO;

  private enum Kind {
    GET,
    SET,
    INCRBY
  }

  private enum Overflow {
    WRAP,
    SAT,
    FAIL
  }

  private record Place(long offset, int bits, boolean signed) {
    long end() {
      return offset + bits;
    }
  }

  private record Step(Kind kind, Place place, long operand, Overflow overflow) {}

  private Bitfield() {}

  static Plan plan(Scope scope, byte[][] w, boolean readsOnly) {
    Words words = new Words(w);
    Key key = words.key();
    List<Step> steps = steps(words, readsOnly);
    if (steps.stream().allMatch(step -> step.kind == Kind.GET)) {
      return Plans.readString(
          scope,
          key,
          bytes -> new RespValue.Array(steps.stream().map(s -> done(bytes, s)).toList()));
    }
    long end =
        steps.stream()
            .filter(s -> s.kind != Kind.GET)
            .mapToLong(s -> s.place.end())
            .max()
            .orElse(0);
    StringRanges.checkLength((end + 7) / 8, 0);
    return Rewrite.of(
        scope,
        key,
        former -> {
          byte[] old = former.orElse(Texts.NOTHING);
          int length = (int) ((end + 7) / 8);
          byte[] bytes = Arrays.copyOf(old, Math.max(old.length, length));
          List<RespValue> answers = new ArrayList<>(steps.size());
          steps.forEach(step -> answers.add(done(bytes, step)));
          return new Rewrite.Outcome(bytes, new RespValue.Array(answers));
        });
  }

  private static List<Step> steps(Words words, boolean readsOnly) {
    List<Step> steps = new ArrayList<>();
    Overflow overflow = Overflow.WRAP;
    while (words.hasNext()) {
      String option = words.option();
      if (option.equals("OVERFLOW")) {
        overflow = overflow(words.option());
        continue;
      }
      Kind kind =
          Stream.of(Kind.values())
              .filter(each -> each.name().equals(option))
              .findFirst()
              .orElseThrow(RedisErrors::syntax);
      if (words.left() < (kind == Kind.GET ? 2 : 3)) {
        throw RedisErrors.syntax();
      }
      Place place = place(words.next(), words.next());
      if (readsOnly && kind != Kind.GET) {
        throw new RedisException("ERR BITFIELD_RO only supports the GET subcommand");
      }
      steps.add(new Step(kind, place, kind == Kind.GET ? 0 : words.integer(), overflow));
    }
    return steps;
  }

  private static Overflow overflow(String word) {
    return Stream.of(Overflow.values())
        .filter(each -> each.name().equals(word))
        .findFirst()
        .orElseThrow(() -> new RedisException("ERR Invalid OVERFLOW type specified"));
  }

  private static Place place(byte[] type, byte[] offset) {
    boolean signed = type.length > 0 && type[0] == 'i';
    if (!signed && (type.length == 0 || type[0] != 'u')) {
      throw new RedisException(NO_TYPE);
    }
    int bits =
        (int)
            Numbers.integer(Arrays.copyOfRange(type, 1, type.length), 1, signed ? 64 : 63, NO_TYPE);
    boolean counted = offset.length > 0 && offset[0] == '#';
    byte[] digits = counted ? Arrays.copyOfRange(offset, 1, offset.length) : offset;
    long number = Numbers.integer(digits, 0, (BITS_MAX - bits) / (counted ? bits : 1), NO_OFFSET);
    return new Place(counted ? number * bits : number, bits, signed);
  }

  private static RespValue done(byte[] bytes, Step step) {
    long old = read(bytes, step.place);
    if (step.kind == Kind.GET) {
      return new RespValue.Int(old);
    }
    BigInteger wanted = BigInteger.valueOf(step.operand);
    if (step.kind == Kind.INCRBY) {
      wanted = wanted.add(BigInteger.valueOf(old));
    } else if (!step.place.signed && wanted.signum() < 0) {
      wanted = wanted.add(TWO.pow(Long.SIZE)); // an unsigned number above the range of long
    }
    OptionalLong fitted = fitted(wanted, step);
    if (fitted.isEmpty()) {
      return RespValue.NULL;
    }
    write(bytes, step.place, fitted.getAsLong());
    return new RespValue.Int(step.kind == Kind.SET ? old : fitted.getAsLong());
  }

  /**
   * Returns the number that is written in place of a wanted one, by the step's rule for overflows;
   * empty if the step fails.
   */
  private static OptionalLong fitted(BigInteger wanted, Step step) {
    Place place = step.place;
    BigInteger least = place.signed ? TWO.pow(place.bits - 1).negate() : BigInteger.ZERO;
    BigInteger most = TWO.pow(place.signed ? place.bits - 1 : place.bits).subtract(BigInteger.ONE);
    if (wanted.compareTo(least) >= 0 && wanted.compareTo(most) <= 0) {
      return OptionalLong.of(wanted.longValueExact());
    }
    return switch (step.overflow) {
      case FAIL -> OptionalLong.empty();
      case SAT -> OptionalLong.of((wanted.signum() < 0 ? least : most).longValueExact());
      case WRAP -> {
        BigInteger low = wanted.mod(TWO.pow(place.bits));
        yield OptionalLong.of(
            (low.compareTo(most) > 0 ? low.subtract(TWO.pow(place.bits)) : low).longValueExact());
      }
    };
  }

  private static long read(byte[] bytes, Place place) {
    long number = 0;
    for (long at = place.offset; at < place.end(); at++) {
      number = number << 1 | (isSet(bytes, at) ? 1 : 0);
    }
    int unused = Long.SIZE - place.bits;
    return place.signed ? number << unused >> unused : number;
  }

  private static void write(byte[] bytes, Place place, long number) {
    for (int i = 0; i < place.bits; i++) {
      long at = place.offset + i;
      int bit = 0x80 >> (at & 7);
      boolean on = (number >> (place.bits - 1 - i) & 1) != 0;
      bytes[(int) (at >> 3)] =
          (byte) (on ? bytes[(int) (at >> 3)] | bit : bytes[(int) (at >> 3)] & ~bit);
    }
  }

  static boolean isSet(byte[] bytes, long offset) {
    long at = offset >> 3;
    return at < bytes.length && (bytes[(int) at] & (0x80 >> (offset & 7))) != 0;
  }
}
