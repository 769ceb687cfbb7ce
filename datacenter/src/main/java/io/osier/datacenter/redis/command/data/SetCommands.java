package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Draw;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Commands of sets. Static, for any thread. */
final class SetCommands {
  private SetCommands() {}

  static Plan add(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    List<byte[]> elements = words.rest();
    List<Value> written = Texts.written(elements);
    // written() begins with the value that the word becomes.
    List<Value> values =
        elements.size() == 1 ? List.of(written.getFirst()) : Texts.values(elements);
    Query query = new Query.Among(written);
    return Plans.update(
        scope,
        key,
        CrdtType.AW_SET,
        type -> Plans.write(scope, key, type, new Operation.Add(values), true, query),
        reply -> Plan.answer(values.size() - Texts.count(elements, Plans.asked(reply).asList())),
        Texts::isSet);
  }

  static Plan remove(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    List<byte[]> elements = words.rest();
    List<Value> written = Texts.written(elements);
    return Plans.update(
        scope,
        key,
        CrdtType.AW_SET,
        type ->
            Plans.write(
                scope, key, type, new Operation.Remove(written), true, new Query.Among(written)),
        reply -> Plan.answer(Texts.count(elements, Plans.asked(reply).asList())),
        Texts::isSet);
  }

  /** Returns a set's elements; none if the key is absent. */
  static List<Value> elements(Reply.Answer answer) {
    Texts.check(answer, Texts::isSet);
    return answer.exists() ? answer.reading().orElseThrow().asList() : List.of();
  }

  static Plan members(Scope scope, byte[][] words) {
    return Plans.read(
        scope,
        Key.of(words[1]),
        Plans.WHOLE,
        answer ->
            new RespValue.Elements(
                Texts.texts(elements(answer)).stream().map(Texts::bulk).toList()));
  }

  static Plan contained(Scope scope, byte[][] w, boolean one) {
    Words words = new Words(w);
    Key key = words.key();
    List<byte[]> elements = words.rest();
    return Plans.read(
        scope,
        key,
        new Query.Among(Texts.written(elements)),
        answer -> {
          TreeSet<Value> there = new TreeSet<>(elements(answer));
          List<RespValue> found = new ArrayList<>(elements.size());
          for (byte[] element : elements) {
            boolean isThere = Texts.written(element).stream().anyMatch(there::contains);
            found.add(new RespValue.Int(isThere ? 1 : 0));
          }
          return one ? found.getFirst() : new RespValue.Array(found);
        });
  }

  static Plan pop(Scope scope, byte[][] words) {
    if (words.length > 3) {
      throw RedisErrors.syntax();
    }
    boolean one = words.length == 2;
    String positive = "ERR value is out of range, must be positive";
    long count = one ? 1 : Numbers.integer(words[2], 0, Long.MAX_VALUE, positive);
    Key key = Key.of(words[1]);
    if (count == 0) {
      return Plans.read(
          scope,
          key,
          Plans.SIZE,
          answer -> {
            Texts.check(answer, Texts::isSet);
            return new RespValue.Elements(List.of());
          });
    }
    return Plans.present(
        scope,
        key,
        CrdtType.AW_SET,
        Texts::isSet,
        type ->
            List.of(
                new Call.Take(key, type, (int) Math.min(count, Integer.MAX_VALUE), scope.seed())),
        parts -> {
          Plans.checkDone(parts.getFirst());
          List<byte[]> taken = Texts.elements(Plans.asked(parts.getFirst()).asList());
          return Plan.answer(
              one ? one(taken) : new RespValue.Elements(Texts.bulks(taken).values()));
        },
        again -> Plan.answer(one ? RespValue.NULL : new RespValue.Elements(List.of())));
  }

  private static RespValue one(List<byte[]> drawn) {
    return drawn.isEmpty() ? RespValue.NULL : new RespValue.Bulk(drawn.getFirst());
  }

  static Plan draw(Scope scope, byte[][] words) {
    if (words.length > 3) {
      throw RedisErrors.syntax();
    }
    boolean one = words.length == 2;
    long count = one ? 1 : Draw.count(words[2]);
    return Plans.read(
        scope,
        Key.of(words[1]),
        Plans.WHOLE,
        answer -> {
          List<byte[]> drawn = Draw.of(Texts.elements(elements(answer)), count, scope.seed());
          return one ? one(drawn) : Texts.bulks(drawn);
        });
  }

  static Plan move(Scope scope, byte[][] words) {
    Key from = Key.of(words[1]);
    Key to = Key.of(words[2]);
    Plans.checkOnePartition(scope, List.of(from, to));
    byte[] element = words[3];
    Query query = new Query.Among(Texts.written(element));
    return Derived.of(
        scope,
        List.of(Plans.readCall(from, query), Plans.readCall(to, query)),
        parts -> {
          Reply.Answer source = Plans.answerOf(parts.get(0));
          if (!source.exists()) {
            return new Derived.Result(List.of(), new RespValue.Int(0)); // whatever the other holds
          }
          List<Value> found = elements(source);
          Reply.Answer target = Plans.answerOf(parts.get(1));
          List<Value> there = elements(target);
          if (found.isEmpty() || from.equals(to)) {
            return new Derived.Result(List.of(), new RespValue.Int(found.isEmpty() ? 0 : 1));
          }
          CrdtType type = target.type().orElse(CrdtType.AW_SET);
          CrdtType sourceType = source.type().orElseThrow();
          return new Derived.Result(
              List.of(
                  Plans.test(from, Optional.of(sourceType), query, new Reading.Many(found)),
                  target.exists()
                      ? Plans.test(to, Optional.of(type), query, new Reading.Many(there))
                      : Plans.testAbsent(to),
                  Plans.update(from, sourceType, new Operation.Remove(found)),
                  Plans.update(to, type, new Operation.Add(Value.ofText(element)))),
              new RespValue.Int(1));
        });
  }

  static Plan scan(Scope scope, byte[][] words) {
    Walk walk = Walk.of(scope, words);
    return Plans.read(
        scope,
        Key.of(words[1]),
        walk.query(),
        answer -> {
          List<Value> elements = elements(answer);
          List<byte[]> shown = Texts.elements(elements).stream().filter(walk::shows).toList();
          Optional<Part> last =
              elements.isEmpty()
                  ? Optional.empty()
                  : Optional.of(new Part.Element(elements.getLast()));
          return walk.answer(scope, elements.size(), last, Texts.bulks(shown).values());
        });
  }
}
