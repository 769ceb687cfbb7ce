package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Draw;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** Commands of hashes. Static, for any thread. */
final class HashCommands {
  private HashCommands() {}

  static Plan set(Scope scope, byte[][] words) {
    if (words.length % 2 == 1) {
      throw RedisErrors.arity(RespDecoder.text(words[0]));
    }
    Map<String, Operation> assigned = new LinkedHashMap<>();
    for (int i = 2; i < words.length; i += 2) {
      assigned.put(Texts.name(words[i]), Texts.assign(words[i + 1]));
    }
    List<Operation.FieldUpdate> updates = new ArrayList<>(assigned.size());
    assigned.forEach((name, o) -> updates.add(Texts.fieldUpdate(name, o)));
    Key key = Key.of(words[1]);
    Operation operation = new Operation.UpdateFields(updates);
    if (Words.option(words[0]).equals("HMSET")) { // answers OK and no count
      return Plans.ask(Plans.write(scope, key, CrdtType.OR_MAP, operation), reply -> Plan.ok());
    }
    List<String> names = List.copyOf(assigned.keySet());
    return Plans.ask(
        Plans.write(scope, key, CrdtType.OR_MAP, operation, true, new Query.Select(names)),
        reply -> Plan.answer(names.size() - present(Plans.asked(reply)).size()));
  }

  /** Returns the names of a map's fields. */
  private static Set<String> present(Reading reading) {
    Set<String> names = new HashSet<>();
    reading.asFields().fields().keySet().forEach(field -> names.add(field.name()));
    return names;
  }

  static Plan setnx(Scope scope, byte[][] words) {
    String name = Texts.name(words[2]);
    return Plans.ask(
        Plans.writeIf(
            scope,
            Key.of(words[1]),
            CrdtType.OR_MAP,
            Texts.update(name, Texts.assign(words[3])),
            new Query.Select(List.of(name)),
            new Reading.Fields(new TreeMap<>())),
        reply -> Plan.answer(reply instanceof Reply.Done ? 1 : 0));
  }

  static Plan get(Scope scope, byte[][] words) {
    return field(scope, words, Texts::bulk);
  }

  private static Plan field(
      Scope scope, byte[][] words, Function<Optional<byte[]>, RespValue> then) {
    String name = Texts.name(words[2]);
    return Plans.read(
        scope,
        Key.of(words[1]),
        new Query.Select(List.of(name)),
        answer -> then.apply(Optional.ofNullable(Texts.fields(answer).get(name))));
  }

  static Plan mget(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    List<String> names = Texts.names(words.rest());
    return Plans.read(
        scope,
        key,
        new Query.Select(names.stream().distinct().toList()),
        answer -> {
          Map<String, byte[]> fields = Texts.fields(answer);
          List<RespValue> values = new ArrayList<>(names.size());
          for (String name : names) {
            values.add(Texts.bulk(Optional.ofNullable(fields.get(name))));
          }
          return new RespValue.Array(values);
        });
  }

  static Plan exists(Scope scope, byte[][] words) {
    return field(scope, words, value -> new RespValue.Int(value.isPresent() ? 1 : 0));
  }

  /** HSTRLEN. */
  static Plan valueLength(Scope scope, byte[][] words) {
    return field(scope, words, value -> new RespValue.Int(value.orElse(Texts.NOTHING).length));
  }

  static RespValue values(Map<String, byte[]> fields) {
    return Texts.bulks(List.copyOf(fields.values()));
  }

  static Plan whole(Scope scope, byte[][] words, Function<Map<String, byte[]>, RespValue> then) {
    return Plans.read(
        scope, Key.of(words[1]), Plans.WHOLE, answer -> then.apply(Texts.fields(answer)));
  }

  static RespValue pairs(Map<String, byte[]> fields) {
    List<RespValue> pairs = new ArrayList<>(2 * fields.size());
    fields.forEach(
        (name, value) -> {
          pairs.add(new RespValue.Bulk(Texts.fieldName(name)));
          pairs.add(new RespValue.Bulk(value));
        });
    return new RespValue.Pairs(pairs);
  }

  static RespValue names(Map<String, byte[]> fields) {
    return Texts.bulks(fields.keySet().stream().map(Texts::fieldName).toList());
  }

  static Plan delete(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    List<String> names = Texts.names(words.rest()).stream().distinct().toList();
    return Plans.ask(
        Plans.write(
            scope,
            key,
            CrdtType.OR_MAP,
            new Operation.RemoveFields(names),
            true,
            new Query.Select(names)),
        reply -> Plan.answer(present(Plans.asked(reply)).size()));
  }

  // ---------------------------------------------------------------- walks

  static Plan draw(Scope scope, byte[][] words) {
    boolean one = words.length == 2;
    long count = one ? 1 : Draw.count(words[2]);
    boolean withValues = words.length == 4 && Words.option(words[3]).equals("WITHVALUES");
    if (words.length > 4 || (words.length == 4 && !withValues)) {
      throw RedisErrors.syntax();
    }
    return Plans.read(
        scope,
        Key.of(words[1]),
        Plans.WHOLE,
        answer -> {
          List<Map.Entry<String, byte[]>> fields = List.copyOf(Texts.fields(answer).entrySet());
          if (one && fields.isEmpty()) {
            return RespValue.NULL;
          }
          List<Map.Entry<String, byte[]>> drawn = Draw.of(fields, count, scope.seed());
          if (one) {
            return new RespValue.Bulk(Texts.fieldName(drawn.getFirst().getKey()));
          }
          return new RespValue.Array(shown(drawn, withValues, scope.resp3()));
        });
  }

  private static List<RespValue> shown(
      List<Map.Entry<String, byte[]>> fields, boolean withValues, boolean inPairs) {
    List<RespValue> shown = new ArrayList<>();
    for (Map.Entry<String, byte[]> field : fields) {
      RespValue name = new RespValue.Bulk(Texts.fieldName(field.getKey()));
      RespValue value = new RespValue.Bulk(field.getValue());
      if (withValues && inPairs) {
        shown.add(RespValue.array(name, value));
      } else {
        shown.add(name);
        if (withValues) {
          shown.add(value);
        }
      }
    }
    return shown;
  }

  static Plan scan(Scope scope, byte[][] words) {
    Walk walk = Walk.of(scope, words);
    return Plans.read(
        scope, Key.of(words[1]), walk.query(), answer -> scanned(scope, walk, answer));
  }

  private static RespValue scanned(Scope scope, Walk walk, Reply.Answer answer) {
    Map<String, byte[]> fields = Texts.fields(answer);
    List<RespValue> shown = new ArrayList<>();
    fields.forEach(
        (name, value) -> {
          byte[] bytes = Texts.fieldName(name);
          if (walk.shows(bytes)) {
            shown.add(new RespValue.Bulk(bytes));
            if (walk.values()) {
              shown.add(new RespValue.Bulk(value));
            }
          }
        });
    if (!answer.exists()) {
      return walk.answer(scope, 0, Optional.empty(), shown);
    }
    var all = answer.reading().orElseThrow().asFields().fields();
    Optional<Part> last =
        all.isEmpty() ? Optional.empty() : Optional.of(new Part.Field(all.lastKey().name()));
    return walk.answer(scope, all.size(), last, shown);
  }
}
