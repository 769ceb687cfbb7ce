package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.datacenter.redis.command.data.Deadlines.Unit;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Commands that read and assign whole strings. Static, for any thread. */
final class StringCommands {
  private StringCommands() {}

  private static Call replace(Key key, Operation operation, boolean keepsDeadline) {
    return new Call.Replace(key, CrdtType.STRING, operation, keepsDeadline);
  }

  static Plan get(Scope scope, byte[][] words) {
    return get(scope, Key.of(words[1]));
  }

  private static Plan get(Scope scope, Key key) {
    return Plans.read(scope, key, Plans.WHOLE, Texts::shown);
  }

  static Plan set(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    Operation assigned = Texts.assign(words.next());
    @Nullable Unit unit = null;
    byte[] time = {};
    boolean isNew = false;
    boolean isThere = false;
    boolean gets = false;
    boolean keeps = false;
    while (words.hasNext()) {
      String option = words.option();
      Unit given = Deadlines.unit(option);
      if (given != null && unit == null && !keeps) {
        unit = given;
        time = words.next();
      } else if (option.equals("NX") && !isThere) {
        isNew = true;
      } else if (option.equals("XX") && !isNew) {
        isThere = true;
      } else if (option.equals("GET")) {
        gets = true;
      } else if (option.equals("KEEPTTL") && unit == null) {
        keeps = true;
      } else {
        throw RedisErrors.syntax();
      }
    }
    Operation operation =
        unit == null
            ? assigned
            : new Operation.WithDeadline(assigned, Deadlines.positive(scope, time, unit, w[0]));
    if (isNew) {
      return setNew(scope, key, operation, gets);
    }
    if (gets) {
      return isThere
          ? getAnd(scope, key, replace(key, operation, keeps))
          : setAndGet(scope, key, operation, keeps);
    }
    Call replace = replace(key, operation, keeps);
    return isThere
        ? Plans.run(
            scope,
            List.of(
                Plans.test(key, Optional.empty(), Plans.EXISTS, new Reading.Flag(true)), replace),
            parts -> Plan.ok(),
            parts -> Plan.answer(RespValue.NULL))
        : Plans.run(scope, List.of(replace), parts -> Plan.ok());
  }

  private static Plan setNew(Scope scope, Key key, Operation operation, boolean gets) {
    return Plans.run(
        scope,
        List.of(
            Plans.testAbsent(key),
            Plans.readCall(key, gets ? Plans.WHOLE : Plans.EXISTS),
            replace(key, operation, false)),
        parts -> gets ? Plan.answer(RespValue.NULL) : Plan.ok(),
        parts ->
            Plan.answer(
                gets ? Texts.bulk(Texts.string(Plans.answerOf(parts.get(1)))) : RespValue.NULL));
  }

  static Plan getset(Scope scope, byte[][] words) {
    return setAndGet(scope, Key.of(words[1]), Texts.assign(words[2]), false);
  }

  private static Plan setAndGet(Scope scope, Key key, Operation operation, boolean keepsDeadline) {
    return getAnd(
        scope,
        key,
        replace(key, operation, keepsDeadline),
        again ->
            Plans.run(
                scope,
                List.of(Plans.testAbsent(key), replace(key, operation, false)),
                parts -> Plan.answer(RespValue.NULL),
                parts -> again.get()));
  }

  /** Answers the string that the first call has read. */
  private static Plan former(List<Reply> parts) {
    return Plan.answer(Texts.bulk(Texts.string(Plans.answerOf(parts.getFirst()))));
  }

  static Plan setnx(Scope scope, byte[][] words) {
    Key key = Key.of(words[1]);
    return Plans.run(
        scope,
        List.of(Plans.testAbsent(key), replace(key, Texts.assign(words[2]), false)),
        parts -> Plan.answer(1),
        parts -> Plan.answer(0));
  }

  static Plan setFor(Scope scope, byte[][] words, Unit unit) {
    Operation.Expire deadline = Deadlines.positive(scope, words[2], unit, words[0]);
    Operation operation = new Operation.WithDeadline(Texts.assign(words[3]), deadline);
    return Plans.run(
        scope, List.of(replace(Key.of(words[1]), operation, false)), parts -> Plan.ok());
  }

  static Plan getdel(Scope scope, byte[][] words) {
    Key key = Key.of(words[1]);
    return getAnd(scope, key, Plans.delete(key));
  }

  static Plan getex(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    if (!words.hasNext()) {
      return get(scope, key);
    }
    String option = words.option();
    Unit unit = Deadlines.unit(option);
    Operation operation;
    if (unit != null) {
      operation = Deadlines.positive(scope, words.next(), unit, w[0]);
    } else if (option.equals("PERSIST")) {
      operation = new Operation.Persist();
    } else {
      throw RedisErrors.syntax();
    }
    if (words.hasNext()) {
      throw RedisErrors.syntax();
    }
    return getAnd(scope, key, Plans.update(key, Operation.ANY_TYPE, operation));
  }

  /** Reads a string and runs another call on its key, if the string exists. */
  private static Plan getAnd(Scope scope, Key key, Call call) {
    return getAnd(scope, key, call, again -> Plan.answer(RespValue.NULL));
  }

  private static Plan getAnd(
      Scope scope, Key key, Call call, Function<Supplier<Plan>, Plan> absent) {
    return Plans.present(
        scope,
        key,
        CrdtType.STRING,
        Texts::isString,
        type -> List.of(Plans.readCall(key, Plans.WHOLE), call),
        StringCommands::former,
        absent);
  }

  static Plan mget(Scope scope, byte[][] words) {
    return Split.of(
        scope,
        new Words(words).keys(),
        key -> Plans.readCall(key, Plans.WHOLE),
        parts -> {
          List<RespValue> values = new ArrayList<>(parts.size());
          for (Reply part : parts) {
            Reply.Answer answer = Plans.answerOf(part);
            boolean isString = answer.exists() && Texts.isString(answer.type().orElseThrow());
            values.add(isString ? Texts.shown(answer) : RespValue.NULL);
          }
          return Plan.answer(new RespValue.Array(values));
        });
  }

  static Plan mset(Scope scope, byte[][] words) {
    List<Call> calls = pairs(words);
    return Split.of(scope, calls, parts -> Plan.ok());
  }

  static Plan msetnx(Scope scope, byte[][] words) {
    List<Call> replaced = pairs(words);
    List<Key> keys = replaced.stream().map(Call::key).toList();
    Plans.checkOnePartition(scope, keys);
    List<Call> calls = new ArrayList<>(2 * keys.size());
    keys.forEach(key -> calls.add(Plans.testAbsent(key)));
    calls.addAll(replaced);
    return Plans.run(scope, calls, parts -> Plan.answer(1), parts -> Plan.answer(0));
  }

  private static List<Call> pairs(byte[][] words) {
    if (words.length % 2 == 0) {
      throw RedisErrors.arity(RespDecoder.text(words[0]));
    }
    List<Call> calls = new ArrayList<>(words.length / 2);
    for (int i = 1; i < words.length; i += 2) {
      calls.add(replace(Key.of(words[i]), Texts.assign(words[i + 1]), false));
    }
    return calls;
  }
}
