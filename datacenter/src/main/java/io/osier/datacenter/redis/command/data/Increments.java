package io.osier.datacenter.redis.command.data;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Commands that add to numbers in strings and in hashes' fields. Static, for any thread. */
final class Increments {
  private Increments() {}

  /**
   * The number that a command adds to.
   *
   * @param field the field of a hash; null where the key is a string
   */
  private record Target(Scope scope, Key key, @Nullable String field) {
    static Target string(Scope scope, byte[][] words) {
      return new Target(scope, Key.of(words[1]), null);
    }

    static Target field(Scope scope, byte[][] words) {
      return new Target(scope, Key.of(words[1]), Texts.name(words[2]));
    }

    String noInteger() {
      return field == null ? RedisErrors.NO_INTEGER : "ERR hash value is not an integer";
    }

    String noFloat() {
      return field == null ? RedisErrors.NO_FLOAT : "ERR hash value is not a float";
    }

    Request update(Operation operation) {
      return field == null
          ? Plans.write(scope, key, CrdtType.STRING, operation, false, Plans.WHOLE)
          : Plans.write(
              scope,
              key,
              CrdtType.OR_MAP,
              Texts.update(field, operation),
              false,
              new Query.Select(List.of(field)));
    }

    /** Returns the number after an update, as text. */
    byte[] text(Reply reply) {
      Reading reading = Plans.asked(reply);
      return (field == null
              ? Texts.string(CrdtType.STRING, reading)
              : Optional.ofNullable(Texts.fields(reading).get(field)))
          .orElseGet(() -> new byte[] {'0'});
    }

    /** Assigns a computed text, if the text from which it was computed is still there. */
    Plan rewrite(Function<Optional<byte[]>, Rewrite.Outcome> change) {
      String name = field;
      if (name == null) {
        return Rewrite.of(scope, key, change);
      }
      Query query = new Query.Select(List.of(name));
      return Derived.of(
          scope,
          Plans.read(scope, key, query),
          answer -> {
            Reading read =
                answer.exists()
                    ? answer.reading().orElseThrow()
                    : new Reading.Fields(new TreeMap<>());
            Rewrite.Outcome outcome =
                change.apply(Optional.ofNullable(Texts.fields(answer).get(name)));
            Operation assign = Texts.update(name, Texts.assign(outcome.bytes()));
            return new Derived.Result(
                List.of(
                    Plans.test(key, Optional.of(CrdtType.OR_MAP), query, read),
                    Plans.update(key, CrdtType.OR_MAP, assign)),
                outcome.answer());
          });
    }
  }

  static Plan increment(Scope scope, byte[][] words, long amount) {
    return increment(Target.string(scope, words), amount);
  }

  static Plan decrement(Scope scope, byte[][] words) {
    long amount = Numbers.integer(words[2]);
    if (amount == Long.MIN_VALUE) {
      throw new RedisException("ERR decrement would overflow");
    }
    return increment(scope, words, -amount);
  }

  /** HINCRBY. */
  static Plan incrementField(Scope scope, byte[][] words) {
    return increment(Target.field(scope, words), Numbers.integer(words[3]));
  }

  private static Plan increment(Target target, long amount) {
    return Plans.ask(
        target.update(new Operation.Increment(amount)),
        reply -> counted(target.text(reply)),
        failure ->
            switch (failure.code()) {
              case WRONG_TYPE ->
                  target.field == null
                      ? Plans.ofType(
                          target.scope,
                          target.key,
                          Texts::isString,
                          type -> increment(target, type, amount))
                      : new Plan.Answer(RedisErrors.of(failure));
              case INVALID_ARGUMENT -> Plans.error(target.noInteger());
              // The increments that were ever made may overflow, though the number does not.
              case OVERFLOW -> rewrite(target, amount);
              default -> new Plan.Answer(RedisErrors.of(failure));
            });
  }

  /** Adds to a key of a type that only Java programs make. */
  private static Plan increment(Target target, CrdtType type, long amount) {
    Operation operation;
    switch (type) {
      case PN_COUNTER, G_COUNTER, STRING -> operation = new Operation.Increment(amount);
      case BOUNDED_COUNTER -> operation = new Operation.IncrementWithin(amount, 0);
      default -> {
        return rewrite(target, amount);
      }
    }
    return Plans.ask(
        Plans.write(target.scope, target.key, type, operation, false, Plans.WHOLE),
        reply -> counted(Texts.string(type, Plans.asked(reply)).orElseGet(() -> new byte[] {'0'})));
  }

  private static Plan rewrite(Target target, long amount) {
    return target.rewrite(
        bytes -> {
          try {
            long former = bytes.isEmpty() ? 0 : Numbers.integer(bytes.get(), target.noInteger());
            long sum = Math.addExact(former, amount);
            return new Rewrite.Outcome(Numbers.text(sum), new RespValue.Int(sum));
          } catch (ArithmeticException e) {
            throw new RedisException(RedisErrors.OVERFLOW);
          }
        });
  }

  /** Answers a sum; an error if the increments of several datacenters exceed a long together. */
  private static Plan counted(byte[] text) {
    return Plan.answer(Numbers.integer(text, RedisErrors.OVERFLOW));
  }

  static Plan incrementFloat(Scope scope, byte[][] words) {
    return incrementFloat(
        Target.string(scope, words),
        Numbers.decimal(words[2], RedisErrors.NO_FLOAT, RedisErrors.INFINITE));
  }

  /** HINCRBYFLOAT. */
  static Plan incrementFieldFloat(Scope scope, byte[][] words) {
    Target target = Target.field(scope, words);
    return incrementFloat(
        target, Numbers.decimal(words[3], RedisErrors.NO_FLOAT, "ERR value is NaN or Infinity"));
  }

  private static Plan incrementFloat(Target target, BigDecimal amount) {
    Operation operation;
    try {
      operation = new Operation.IncrementDecimal(amount);
    } catch (OsierException e) {
      // Too large or too fine to be added: it is assigned, so a later assignment wins.
      return rewrite(target, amount);
    }
    return Plans.ask(
        target.update(operation),
        // The sum of what all datacenters have added.
        reply -> Plan.answer(new RespValue.Bulk(target.text(reply))),
        failure ->
            failure.code() == ErrorCode.INVALID_ARGUMENT
                    || failure.code() == ErrorCode.OVERFLOW
                    || (failure.code() == ErrorCode.WRONG_TYPE && target.field == null)
                ? rewrite(target, amount)
                : new Plan.Answer(RedisErrors.of(failure)));
  }

  private static Plan rewrite(Target target, BigDecimal amount) {
    return target.rewrite(
        bytes -> {
          BigDecimal number =
              bytes.isEmpty()
                  ? BigDecimal.ZERO
                  : Numbers.decimal(bytes.get(), target.noFloat(), RedisErrors.INFINITE);
          byte[] sum = Numbers.text(Numbers.sum(number, amount));
          return new Rewrite.Outcome(sum, new RespValue.Bulk(sum));
        });
  }
}
