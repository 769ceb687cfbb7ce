package io.osier.datacenter.redis.command.data;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Reply;
import java.math.BigDecimal;
import java.util.Optional;

/** Commands that count on strings. Static, for any thread. */
final class Increments {
  private Increments() {}

  static Plan decrement(Scope scope, byte[][] words) {
    long amount = Numbers.integer(words[2]);
    if (amount == Long.MIN_VALUE) {
      throw new RedisException("ERR decrement would overflow");
    }
    return increment(scope, Key.of(words[1]), -amount);
  }

  static Plan increment(Scope scope, byte[][] words, long amount) {
    return increment(scope, Key.of(words[1]), amount);
  }

  private static Plan increment(Scope scope, Key key, long amount) {
    return Plans.ask(
        Plans.write(
            scope, key, CrdtType.STRING, new Operation.Increment(amount), false, Plans.WHOLE),
        reply -> counted(CrdtType.STRING, reply),
        failure ->
            switch (failure.code()) {
              case WRONG_TYPE ->
                  Plans.ofType(
                      scope, key, Texts::isString, type -> increment(scope, key, type, amount));
              case INVALID_ARGUMENT -> Plans.error(RedisErrors.NO_INTEGER);
              // All that was ever added may be too much, though the sum is not.
              case OVERFLOW -> rewrite(scope, key, amount);
              default -> new Plan.Answer(RedisErrors.of(failure));
            });
  }

  private static Plan increment(Scope scope, Key key, CrdtType type, long amount) {
    return switch (type) {
      case PN_COUNTER, G_COUNTER, STRING ->
          Plans.ask(
              Plans.write(scope, key, type, new Operation.Increment(amount), false, Plans.WHOLE),
              reply -> counted(type, reply));
      case BOUNDED_COUNTER ->
          Plans.ask(
              Plans.write(
                  scope, key, type, new Operation.IncrementWithin(amount, 0), false, Plans.WHOLE),
              reply -> counted(type, reply));
      default -> rewrite(scope, key, amount);
    };
  }

  private static Plan rewrite(Scope scope, Key key, long amount) {
    return Rewrite.of(
        scope,
        key,
        bytes -> {
          long sum = plus(bytes, amount, RedisErrors.NO_INTEGER);
          return new Rewrite.Outcome(Numbers.text(sum), new RespValue.Int(sum));
        });
  }

  static long plus(Optional<byte[]> bytes, long amount, String error) {
    try {
      return Math.addExact(bytes.isEmpty() ? 0 : Numbers.integer(bytes.get(), error), amount);
    } catch (ArithmeticException e) {
      throw new RedisException(RedisErrors.OVERFLOW);
    }
  }

  private static Plan counted(CrdtType type, Reply reply) {
    byte[] text = Texts.string(type, Plans.asked(reply)).orElseGet(() -> new byte[] {'0'});
    // Sums of several datacenters may be larger than a long.
    return Plan.answer(Numbers.integer(text, RedisErrors.OVERFLOW));
  }

  static Plan incrementFloat(Scope scope, byte[][] words) {
    Key key = Key.of(words[1]);
    BigDecimal amount = decimal(words[2]);
    Operation operation;
    try {
      operation = new Operation.IncrementDecimal(amount);
    } catch (OsierException e) { // larger or finer than what adds up: then the later one wins
      return rewriteFloat(scope, key, amount);
    }
    return Plans.ask(
        Plans.write(scope, key, CrdtType.STRING, operation, false, Plans.WHOLE),
        reply -> {
          byte[] text =
              Texts.string(CrdtType.STRING, Plans.asked(reply)).orElseGet(() -> new byte[] {'0'});
          return Plan.answer(new RespValue.Bulk(text)); // exactly, as it reads from now on
        },
        failure ->
            failure.code() == ErrorCode.WRONG_TYPE
                    || failure.code() == ErrorCode.INVALID_ARGUMENT
                    || failure.code() == ErrorCode.OVERFLOW
                ? rewriteFloat(scope, key, amount)
                : new Plan.Answer(RedisErrors.of(failure)));
  }

  private static BigDecimal decimal(byte[] word) {
    return Numbers.decimal(word, RedisErrors.NO_FLOAT, RedisErrors.INFINITE);
  }

  private static Plan rewriteFloat(Scope scope, Key key, BigDecimal amount) {
    return Rewrite.of(
        scope,
        key,
        bytes -> {
          BigDecimal number = bytes.isEmpty() ? BigDecimal.ZERO : decimal(bytes.get());
          byte[] sum = Numbers.text(Numbers.sum(number, amount));
          return new Rewrite.Outcome(sum, new RespValue.Bulk(sum));
        });
  }
}
