package io.osier.datacenter.redis.command.data;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * Changes a string in ways for which there is no operation: reads it, and assigns the changed bytes
 * if it is still what was read; else begins again. The key's deadline stays. Static, for any
 * thread.
 */
final class Rewrite {
  /** The string's new bytes, and the command's answer. */
  record Outcome(byte[] bytes, RespValue answer) {}

  private Rewrite() {}

  /**
   * Changes a string or register, or creates a string.
   *
   * @param change returns the new bytes for the present ones; they are empty if the key is absent
   */
  static Plan of(Scope scope, Key key, Function<Optional<byte[]>, Outcome> change) {
    return Derived.of(
        scope,
        Plans.read(scope, key, Plans.WHOLE),
        answer -> {
          Outcome outcome = change.apply(Texts.string(answer));
          if (!answer.exists()) {
            Operation assign = Texts.assign(outcome.bytes());
            return new Derived.Result(
                List.of(Plans.testAbsent(key), Plans.update(key, CrdtType.STRING, assign)),
                outcome.answer());
          }
          CrdtType type = answer.type().orElseThrow();
          Reading read = answer.reading().orElseThrow();
          return new Derived.Result(
              List.of(
                  Plans.test(key, Optional.of(type), Plans.WHOLE, read),
                  Plans.update(key, type, assignment(type, read, outcome.bytes()))),
              outcome.answer());
        });
  }

  /**
   * Sends an update of a string. If the key holds a register, which has no such operation, its
   * bytes are changed instead.
   */
  static Plan orElse(
      Scope scope,
      Key key,
      Request update,
      Function<Reply, Plan> then,
      Function<byte[], Outcome> change) {
    return Plans.ask(
        update,
        then,
        failure ->
            failure.code() == ErrorCode.WRONG_TYPE
                ? of(scope, key, bytes -> change.apply(bytes.orElse(Texts.NOTHING)))
                : new Plan.Answer(RedisErrors.of(failure)));
  }

  /**
   * Returns the assignment of new bytes. A register that holds a number keeps a number if the bytes
   * write one, as the program that made the register expects.
   */
  private static Operation assignment(CrdtType type, Reading read, byte[] bytes) {
    if (type != CrdtType.STRING && type != CrdtType.LWW_REGISTER && type != CrdtType.MV_REGISTER) {
      throw RedisErrors.wrongType();
    }
    OptionalLong number = Numbers.parse(bytes);
    boolean isNumber =
        read instanceof Reading.Single single && single.value().orElse(null) instanceof Value.Int;
    return new Operation.Assign(
        isNumber && number.isPresent() ? Value.of(number.getAsLong()) : Value.ofText(bytes));
  }
}
