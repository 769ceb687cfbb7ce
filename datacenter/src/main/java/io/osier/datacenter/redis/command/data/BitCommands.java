package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.datacenter.redis.command.data.StringRanges.Span;
import io.osier.protocol.Call;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Commands of strings' bits. Bit 0 is the highest bit of the first byte. Static, for any thread.
 */
final class BitCommands {

  private static final long OFFSET_MAX = (1L << 32) - 1;

  private BitCommands() {}

  static Plan getBit(Scope scope, byte[][] words) {
    long offset = Numbers.integer(words[2], 0, OFFSET_MAX, Bitfield.NO_OFFSET);
    return Plans.readString(
        scope, Key.of(words[1]), bytes -> new RespValue.Int(Bitfield.isSet(bytes, offset) ? 1 : 0));
  }

  static Plan setBit(Scope scope, byte[][] words) {
    Key key = Key.of(words[1]);
    long offset = Numbers.integer(words[2], 0, OFFSET_MAX, Bitfield.NO_OFFSET);
    boolean on = Numbers.integer(words[3], 0, 1, "ERR bit is not an integer or out of range") == 1;
    StringRanges.checkLength(offset >> 3, 1);
    return Rewrite.orElse(
        scope,
        key,
        Plans.write(
            scope, key, CrdtType.STRING, new Operation.SetBit(offset, on), true, Plans.WHOLE),
        reply -> {
          Optional<byte[]> old = Texts.string(CrdtType.STRING, Plans.asked(reply));
          return Plan.answer(Bitfield.isSet(old.orElse(Texts.NOTHING), offset) ? 1 : 0);
        },
        old -> {
          int at = (int) (offset >> 3);
          byte[] all = Arrays.copyOf(old, Math.max(old.length, at + 1));
          int bit = 0x80 >> (offset & 7);
          all[at] = (byte) (on ? all[at] | bit : all[at] & ~bit);
          return new Rewrite.Outcome(all, new RespValue.Int(Bitfield.isSet(old, offset) ? 1 : 0));
        });
  }

  private static boolean isInBits(byte[] word) {
    return switch (Words.option(word)) {
      case "BIT" -> true;
      case "BYTE" -> false;
      default -> throw RedisErrors.syntax();
    };
  }

  static Plan count(Scope scope, byte[][] words) {
    if (words.length == 3 || words.length > 5) {
      throw RedisErrors.syntax();
    }
    long start = words.length > 3 ? Numbers.integer(words[2]) : 0;
    long end = words.length > 3 ? Numbers.integer(words[3]) : -1;
    boolean inBits = words.length > 4 && isInBits(words[4]);
    return Plans.readString(
        scope,
        Key.of(words[1]),
        bytes ->
            new RespValue.Int(
                ones(bytes, bits(Span.of(start, end, length(bytes, inBits)), inBits))));
  }

  private static long length(byte[] bytes, boolean inBits) {
    return inBits ? bytes.length * 8L : bytes.length;
  }

  private static Span bits(Span span, boolean inBits) {
    return inBits || span.isEmpty() ? span : new Span(span.from() * 8, span.to() * 8 + 7);
  }

  private static long ones(byte[] bytes, Span bits) {
    long ones = 0;
    long at = bits.from();
    while (at <= bits.to()) {
      if ((at & 7) == 0 && at + 7 <= bits.to()) {
        ones += Integer.bitCount(bytes[(int) (at >> 3)] & 0xff);
        at += 8;
      } else {
        ones += Bitfield.isSet(bytes, at) ? 1 : 0;
        at++;
      }
    }
    return ones;
  }

  static Plan position(Scope scope, byte[][] words) {
    long bit = Numbers.integer(words[2]);
    if (bit != 0 && bit != 1) {
      throw new RedisException("ERR The bit argument must be 1 or 0.");
    }
    if (words.length > 6) {
      throw RedisErrors.syntax();
    }
    long start = words.length > 3 ? Numbers.integer(words[3]) : 0;
    boolean hasEnd = words.length > 4;
    long end = hasEnd ? Numbers.integer(words[4]) : -1;
    boolean inBits = words.length > 5 && isInBits(words[5]);
    return Plans.read(
        scope,
        Key.of(words[1]),
        Plans.WHOLE,
        answer -> {
          byte[] bytes = Texts.stringBytes(answer);
          if (!answer.exists()) { // an absent string has nothing but zeros
            return new RespValue.Int(bit == 0 ? 0 : -1);
          }
          Span span = bits(Span.clamped(start, end, length(bytes, inBits)), inBits);
          return new RespValue.Int(first(bytes, span, bit == 1, hasEnd));
        });
  }

  private static long first(byte[] bytes, Span bits, boolean wanted, boolean hasEnd) {
    if (bits.isEmpty()) {
      return -1;
    }
    int dull = wanted ? 0 : -1;
    long at = bits.from();
    while (at <= bits.to()) {
      if ((at & 7) == 0 && at + 7 <= bits.to() && bytes[(int) (at >> 3)] == dull) {
        at += 8;
      } else if (Bitfield.isSet(bytes, at) == wanted) {
        return at;
      } else {
        at++;
      }
    }
    // Zeros follow a string, unless the client has said where to stop.
    return wanted || hasEnd ? -1 : bits.to() + 1;
  }

  static Plan combine(Scope scope, byte[][] w) {
    Words words = new Words(w);
    String operator = words.option();
    Key to = words.key();
    List<Key> keys = words.keys();
    switch (operator) {
      case "AND", "OR", "XOR" -> {}
      case "NOT" -> {
        if (keys.size() != 1) {
          throw new RedisException("ERR BITOP NOT must be called with a single source key.");
        }
      }
      default -> throw RedisErrors.syntax();
    }
    return Derived.of(
        scope,
        to,
        keys,
        parts -> {
          List<byte[]> strings =
              parts.stream().map(Plans::answerOf).map(Texts::stringBytes).toList();
          byte[] bytes = combined(operator, strings);
          List<Call> calls =
              List.of(
                  bytes.length == 0
                      ? Plans.delete(to)
                      : new Call.Replace(
                          to, CrdtType.STRING, new Operation.Assign(Value.ofText(bytes)), false));
          return new Derived.Result(calls, new RespValue.Int(bytes.length));
        });
  }

  private static byte[] combined(String operator, List<byte[]> strings) {
    int length = strings.stream().mapToInt(s -> s.length).max().orElse(0);
    byte[] result = Arrays.copyOf(strings.getFirst(), length);
    if (operator.equals("NOT")) {
      for (int i = 0; i < length; i++) {
        result[i] = (byte) ~result[i];
      }
    }
    for (byte[] other : strings.subList(1, strings.size())) {
      for (int i = 0; i < length; i++) {
        byte b = i < other.length ? other[i] : 0;
        switch (operator) {
          case "AND" -> result[i] &= b;
          case "OR" -> result[i] |= b;
          default -> result[i] ^= b;
        }
      }
    }
    return result;
  }
}
