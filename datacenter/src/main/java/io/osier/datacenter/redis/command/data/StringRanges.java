package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import java.util.Arrays;
import java.util.function.Function;

/** Commands that read and change parts of strings. Static, for any thread. */
final class StringRanges {
  /**
   * Longest string that any keyspace takes, in bytes: nothing longer is made only to be refused.
   */
  static final int LENGTH_MAX = KeyspacePolicy.Limits.VALUE_BYTES_CAP;

  private StringRanges() {}

  static Plan append(Scope scope, byte[][] words) {
    byte[] more = words[2];
    return change(
        scope,
        Key.of(words[1]),
        new Operation.Append(Value.ofText(more)),
        bytes -> {
          byte[] all = Arrays.copyOf(bytes, bytes.length + more.length);
          System.arraycopy(more, 0, all, bytes.length, more.length);
          return all;
        });
  }

  static Plan length(Scope scope, byte[][] words) {
    return Plans.readString(scope, Key.of(words[1]), bytes -> new RespValue.Int(bytes.length));
  }

  static Plan setRange(Scope scope, byte[][] words) {
    Key key = Key.of(words[1]);
    long offset = Numbers.integer(words[2]);
    byte[] part = words[3];
    if (offset < 0) {
      throw new RedisException("ERR offset is out of range");
    }
    if (part.length == 0) {
      return length(scope, words);
    }
    checkLength(offset, part.length);
    return change(
        scope,
        key,
        new Operation.SetRange(offset, Value.ofText(part)),
        bytes -> {
          byte[] all = Arrays.copyOf(bytes, Math.max(bytes.length, (int) offset + part.length));
          System.arraycopy(part, 0, all, (int) offset, part.length);
          return all;
        });
  }

  /**
   * Runs an operation and answers the string's length after it.
   *
   * @param rewrite returns the new bytes of a register, which has no such operation
   */
  private static Plan change(
      Scope scope, Key key, Operation operation, Function<byte[], byte[]> rewrite) {
    return Rewrite.orElse(
        scope,
        key,
        Plans.write(scope, key, CrdtType.STRING, operation, false, Plans.SIZE),
        reply -> Plan.answer(Plans.asked(reply).asLong()),
        bytes -> {
          byte[] all = rewrite.apply(bytes);
          return new Rewrite.Outcome(all, new RespValue.Int(all.length));
        });
  }

  /** Refuses a part that would end behind the longest string. */
  static void checkLength(long offset, int length) {
    if (offset > LENGTH_MAX - length) {
      throw new RedisException(RedisErrors.TOO_LONG);
    }
  }

  static Plan range(Scope scope, byte[][] words) {
    long start = Numbers.integer(words[2]);
    long end = Numbers.integer(words[3]);
    return Plans.readString(
        scope,
        Key.of(words[1]),
        bytes -> {
          Span span = Span.of(start, end, bytes.length);
          return new RespValue.Bulk(
              span.isEmpty()
                  ? Texts.NOTHING
                  : Arrays.copyOfRange(bytes, (int) span.from(), (int) span.to() + 1));
        });
  }

  /** A range of places, both ends included. Empty if {@code from} is behind {@code to}. */
  record Span(long from, long to) {
    static Span of(long start, long end, long length) {
      return start < 0 && end < 0 && start > end ? new Span(1, 0) : clamped(start, end, length);
    }

    /**
     * Returns a range whose ends, if negative, are counted from the end; an end before the first
     * place is moved to it.
     */
    static Span clamped(long start, long end, long length) {
      return new Span(
          Math.max(0, start < 0 ? length + start : start),
          Math.min(length - 1, Math.max(0, end < 0 ? length + end : end)));
    }

    boolean isEmpty() {
      return from > to;
    }
  }
}
