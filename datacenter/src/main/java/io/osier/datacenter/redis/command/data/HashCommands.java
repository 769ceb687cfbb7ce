package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Keys;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Table;
import io.osier.datacenter.redis.command.Words;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Commands of hashes. Static, for any thread. */
public final class HashCommands {
  private HashCommands() {}

  /** All commands of hashes. */
  public static List<RedisCommand> all() {
    return new Table("hash")
        .growsFast(
            "HSET",
            -4,
            Keys.ONE,
            "Assigns fields and counts the new ones.",
            (scope, words) -> set(scope, words, "hset"))
        .growsFast(
            "HMSET", -4, Keys.ONE, "Assigns fields.", (scope, words) -> set(scope, words, "hmset"))
        .growsFast("HSETNX", 4, Keys.ONE, "Assigns a field if it is absent.", HashCommands::setnx)
        .readsFast("HGET", 3, Keys.ONE, "Returns a field.", HashCommands::get)
        .readsFast("HMGET", -3, Keys.ONE, "Returns several fields.", HashCommands::mget)
        .reads(
            "HGETALL",
            2,
            Keys.ONE,
            "Returns all fields with their values.",
            (scope, w) -> whole(scope, w, HashCommands::pairs))
        .reads(
            "HKEYS",
            2,
            Keys.ONE,
            "Returns all fields' names.",
            (scope, w) -> whole(scope, w, HashCommands::names))
        .reads(
            "HVALS",
            2,
            Keys.ONE,
            "Returns all fields' values.",
            (scope, w) -> whole(scope, w, fields -> Texts.bulks(List.copyOf(fields.values()))))
        .readsFast("HLEN", 2, Keys.ONE, "Counts the fields.", HashCommands::length)
        .writesFast("HDEL", -3, Keys.ONE, "Removes fields.", HashCommands::delete)
        .readsFast(
            "HEXISTS",
            3,
            Keys.ONE,
            "Tells whether a field exists.",
            (scope, w) -> field(scope, w, (there, value) -> new RespValue.Int(there ? 1 : 0)))
        .readsFast(
            "HSTRLEN",
            3,
            Keys.ONE,
            "Returns the length of a field's value.",
            (scope, w) -> field(scope, w, (there, value) -> new RespValue.Int(value.length)))
        .with(HashNumbers.all())
        .with(HashWalks.all())
        .with(HashExpiry.all())
        .list();
  }

  private static Plan set(Scope scope, byte[][] words, String command) {
    if (words.length % 2 == 1) {
      throw RedisErrors.arity(command);
    }
    Map<String, Operation> assigned = new LinkedHashMap<>();
    for (int i = 2; i < words.length; i += 2) {
      assigned.put(Texts.name(words[i]), Texts.assign(words[i + 1]));
    }
    List<Operation.FieldUpdate> updates = new ArrayList<>(assigned.size());
    assigned.forEach(
        (name, o) -> updates.add(new Operation.FieldUpdate(Texts.stringField(name), o)));
    List<String> names = List.copyOf(assigned.keySet());
    return Plans.ask(
        Plans.write(
            scope,
            Key.of(words[1]),
            CrdtType.OR_MAP,
            new Operation.UpdateFields(updates),
            true,
            new Query.Select(names)),
        reply ->
            command.equals("hmset")
                ? Plan.ok()
                : Plan.answer(names.size() - present(Plans.asked(reply)).size()));
  }

  /** The names that a map has fields of. */
  private static Set<String> present(Reading reading) {
    Set<String> names = new HashSet<>();
    reading.asFields().fields().keySet().forEach(field -> names.add(field.name()));
    return names;
  }

  private static Plan setnx(Scope scope, byte[][] words) {
    String name = Texts.name(words[2]);
    Operation update =
        new Operation.UpdateFields(
            List.of(new Operation.FieldUpdate(Texts.stringField(name), Texts.assign(words[3]))));
    return Plans.ask(
        Plans.writeIf(
            scope,
            Key.of(words[1]),
            CrdtType.OR_MAP,
            update,
            new Query.Select(List.of(name)),
            new Reading.Fields(new TreeMap<>())),
        reply -> Plan.answer(reply instanceof Reply.Done ? 1 : 0));
  }

  private static Plan get(Scope scope, byte[][] words) {
    return field(
        scope, words, (there, value) -> there ? new RespValue.Bulk(value) : RespValue.NULL);
  }

  /** Answers with a field. */
  private static Plan field(
      Scope scope, byte[][] words, BiFunction<Boolean, byte[], RespValue> then) {
    String name = Texts.name(words[2]);
    return Plans.read(
        scope,
        Key.of(words[1]),
        new Query.Select(List.of(name)),
        answer -> {
          Map<String, byte[]> fields = Texts.fields(answer);
          byte[] value = fields.get(name);
          return then.apply(value != null, value == null ? new byte[0] : value);
        });
  }

  private static Plan mget(Scope scope, byte[][] w) {
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
            byte[] value = fields.get(name);
            values.add(value == null ? RespValue.NULL : new RespValue.Bulk(value));
          }
          return new RespValue.Array(values);
        });
  }

  private static Plan whole(
      Scope scope, byte[][] words, Function<Map<String, byte[]>, RespValue> then) {
    return Plans.read(
        scope, Key.of(words[1]), Plans.WHOLE, answer -> then.apply(Texts.fields(answer)));
  }

  private static RespValue pairs(Map<String, byte[]> fields) {
    List<RespValue> pairs = new ArrayList<>(2 * fields.size());
    fields.forEach(
        (name, value) -> {
          pairs.add(new RespValue.Bulk(Texts.fieldName(name)));
          pairs.add(new RespValue.Bulk(value));
        });
    return new RespValue.Pairs(pairs);
  }

  private static RespValue names(Map<String, byte[]> fields) {
    return Texts.bulks(fields.keySet().stream().map(Texts::fieldName).toList());
  }

  private static Plan length(Scope scope, byte[][] words) {
    return Plans.read(
        scope,
        Key.of(words[1]),
        Plans.SIZE,
        answer -> {
          Texts.checkIsHash(answer);
          return new RespValue.Int(answer.exists() ? answer.reading().orElseThrow().asLong() : 0);
        });
  }

  private static Plan delete(Scope scope, byte[][] w) {
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
}
