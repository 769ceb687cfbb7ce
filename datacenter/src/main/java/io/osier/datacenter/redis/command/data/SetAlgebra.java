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
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/** Commands that combine several sets of one partition. Static, for any thread. */
final class SetAlgebra {
  enum Kind {
    INTER,
    UNION,
    DIFF
  }

  private SetAlgebra() {}

  static Plan read(Scope scope, byte[][] words, Kind kind) {
    List<Key> keys = new Words(words).keys();
    return Plans.readAll(
        scope,
        keys,
        parts ->
            Plan.answer(
                new RespValue.Elements(combined(kind, parts).stream().map(Texts::bulk).toList())));
  }

  static Plan store(Scope scope, byte[][] w, Kind kind) {
    Words words = new Words(w);
    Key to = words.key();
    return Derived.of(
        scope,
        to,
        words.keys(),
        parts -> {
          Collection<Value> elements = combined(kind, parts);
          Call call =
              elements.isEmpty()
                  ? Plans.delete(to)
                  : new Call.Replace(
                      to, CrdtType.AW_SET, new Operation.Add(List.copyOf(elements)), false);
          return new Derived.Result(List.of(call), new RespValue.Int(elements.size()));
        });
  }

  private static Collection<Value> combined(Kind kind, List<Reply> parts) {
    List<Collection<Value>> sets =
        parts.stream()
            .map(part -> Texts.texts(SetCommands.elements(Plans.answerOf(part))))
            .toList();
    TreeSet<Value> result = new TreeSet<>(sets.getFirst());
    for (Collection<Value> set : sets.subList(1, sets.size())) {
      switch (kind) {
        case UNION -> result.addAll(set);
        case DIFF -> set.forEach(result::remove);
        case INTER -> {
          TreeSet<Value> both = new TreeSet<>();
          for (Value value : set) {
            if (result.contains(value)) {
              both.add(value);
            }
          }
          result = both;
        }
      }
    }
    return result;
  }

  static Plan count(Scope scope, byte[][] w) {
    Words words = new Words(w);
    long count =
        Numbers.integer(words.next(), 1, Integer.MAX_VALUE, "ERR numkeys should be greater than 0");
    if (count > words.left()) {
      throw new RedisException("ERR Number of keys can't be greater than number of args");
    }
    List<Key> keys = words.keys((int) count);
    long most = 0;
    while (words.hasNext()) {
      if (!words.takes("LIMIT")) {
        throw RedisErrors.syntax();
      }
      most = Numbers.integer(words.next(), 0, Long.MAX_VALUE, "ERR LIMIT can't be negative");
    }
    long limit = most == 0 ? Long.MAX_VALUE : most;
    return Plans.readAll(
        scope, keys, parts -> Plan.answer(Math.min(limit, combined(Kind.INTER, parts).size())));
  }
}
