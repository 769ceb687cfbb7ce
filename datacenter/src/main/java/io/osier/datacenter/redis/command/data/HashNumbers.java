package io.osier.datacenter.redis.command.data;

import static java.util.Objects.requireNonNull;

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
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Reply;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Commands that count on hashes' fields. Static, for any thread. */
final class HashNumbers {
  private static final String NO_INTEGER = "ERR hash value is not an integer";
  private static final String NO_FLOAT = "ERR hash value is not a float";

  private HashNumbers() {}

  private static Operation update(String name, Operation operation) {
    return new Operation.UpdateFields(
        List.of(new Operation.FieldUpdate(Texts.stringField(name), operation)));
  }

  private static byte[] value(String name, Reply reply) {
    byte[] value = Texts.fields(Plans.asked(reply)).get(name);
    return value == null ? new byte[] {'0'} : value;
  }

  static Plan increment(Scope scope, byte[][] words) {
    String name = Texts.name(words[2]);
    long amount = Numbers.integer(words[3]);
    Operation operation = new Operation.Increment(amount);
    return Plans.ask(
        Plans.write(
            scope,
            Key.of(words[1]),
            CrdtType.OR_MAP,
            update(name, operation),
            false,
            new Query.Select(List.of(name))),
        reply -> Plan.answer(Numbers.integer(value(name, reply), RedisErrors.OVERFLOW)),
        failure -> {
          if (failure.code() == ErrorCode.OVERFLOW) {
            // All that was ever added may be too much, though the sum is not.
            return rewrite(
                scope,
                Key.of(words[1]),
                name,
                value -> {
                  long sum = Increments.plus(value, amount, NO_INTEGER);
                  return new Rewrite.Outcome(Numbers.text(sum), new RespValue.Int(sum));
                },
                0);
          }
          return failure.code() == ErrorCode.INVALID_ARGUMENT
              ? Plans.error(NO_INTEGER)
              : new Plan.Answer(RedisErrors.of(failure));
        });
  }

  static Plan incrementFloat(Scope scope, byte[][] words) {
    Key key = Key.of(words[1]);
    String name = Texts.name(words[2]);
    BigDecimal amount =
        Numbers.decimal(words[3], RedisErrors.NO_FLOAT, "ERR value is NaN or Infinity");
    Operation operation;
    try {
      operation = new Operation.IncrementDecimal(amount);
    } catch (OsierException e) { // larger or finer than what adds up: then the later one wins
      return rewrite(scope, key, name, value -> plus(value, amount), 0);
    }
    return Plans.ask(
        Plans.write(
            scope,
            key,
            CrdtType.OR_MAP,
            update(name, operation),
            false,
            new Query.Select(List.of(name))),
        reply -> Plan.answer(new RespValue.Bulk(value(name, reply))),
        failure ->
            failure.code() == ErrorCode.INVALID_ARGUMENT || failure.code() == ErrorCode.OVERFLOW
                ? rewrite(scope, key, name, value -> plus(value, amount), 0)
                : new Plan.Answer(RedisErrors.of(failure)));
  }

  private static BigDecimal decimal(byte[] value) {
    return Numbers.decimal(value, NO_FLOAT, RedisErrors.INFINITE);
  }

  private static Rewrite.Outcome plus(Optional<byte[]> value, BigDecimal amount) {
    BigDecimal number = value.isEmpty() ? BigDecimal.ZERO : decimal(value.get());
    byte[] sum = Numbers.text(Numbers.sum(number, amount));
    return new Rewrite.Outcome(sum, new RespValue.Bulk(sum));
  }

  /** Assigns what comes out, if the field is still what was read. */
  private static Plan rewrite(
      Scope scope,
      Key key,
      String name,
      Function<Optional<byte[]>, Rewrite.Outcome> change,
      int tries) {
    Query query = new Query.Select(List.of(name));
    return Plans.ask(
        Plans.read(scope, key, query),
        reply -> {
          Reply.Answer answer = (Reply.Answer) reply;
          Rewrite.Outcome outcome =
              change.apply(Optional.ofNullable(Texts.fields(answer).get(name)));
          return Plans.ask(
              Plans.writeIf(
                  scope,
                  key,
                  CrdtType.OR_MAP,
                  update(name, Texts.assign(requireNonNull(outcome.bytes()))),
                  query,
                  answer.exists()
                      ? answer.reading().orElseThrow()
                      : new Reading.Fields(new TreeMap<>())),
              done ->
                  done instanceof Reply.Done
                      ? Plan.answer(outcome.answer())
                      : Plans.retried(tries, n -> rewrite(scope, key, name, change, n)));
        });
  }
}
