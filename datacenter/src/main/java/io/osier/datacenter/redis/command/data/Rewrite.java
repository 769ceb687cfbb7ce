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
import org.jspecify.annotations.Nullable;

/**
 * Changes a string in ways that no operation has: reads it, and assigns what comes out if it still
 * is what was read; else it begins again. Its deadline stays. Static, for any thread.
 */
final class Rewrite {
  /** What to assign, null to leave all as it is, and what is answered. */
  record Outcome(byte @Nullable [] bytes, RespValue answer) {}

  private Rewrite() {}

  /** The same of a string, a register, or what is not there. */
  static Plan of(Scope scope, Key key, Function<Optional<byte[]>, Outcome> change) {
    return of(scope, key, change, 0);
  }

  /** Asks for an update of a string, or changes a register so, which has no such operation. */
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

  private static Plan of(
      Scope scope, Key key, Function<Optional<byte[]>, Outcome> change, int tries) {
    return Plans.ask(
        Plans.read(scope, key, Plans.WHOLE),
        reply -> {
          Reply.Answer answer = (Reply.Answer) reply;
          Outcome outcome = change.apply(Texts.string(answer));
          byte[] bytes = outcome.bytes();
          if (bytes == null) {
            return Plan.answer(outcome.answer());
          }
          Function<List<Reply>, Plan> then = parts -> Plan.answer(outcome.answer());
          Function<List<Reply>, Plan> again =
              parts -> Plans.retried(tries, n -> of(scope, key, change, n));
          if (!answer.exists()) {
            return Plans.run(
                scope,
                List.of(
                    Plans.testAbsent(key), Plans.update(key, CrdtType.STRING, Texts.assign(bytes))),
                then,
                again);
          }
          CrdtType type = answer.type().orElseThrow();
          Reading read = answer.reading().orElseThrow();
          return Plans.run(
              scope,
              List.of(
                  Plans.test(key, Optional.of(type), Plans.WHOLE, read),
                  Plans.update(key, type, assignment(type, read, bytes))),
              then,
              again);
        });
  }

  /** Registers that hold a number keep one, as whoever made them expects. */
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
