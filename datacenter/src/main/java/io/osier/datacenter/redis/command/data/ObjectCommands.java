package io.osier.datacenter.redis.command.data;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Utf8;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.BoundedCounter;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Table;
import io.osier.datacenter.words.ObjectCommand;
import io.osier.datacenter.words.ObjectGrammar;
import io.osier.datacenter.words.Word;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Objects of all of Osier's types, in the words of {@code osier cli}. But for the key, which is the
 * word's bytes as in every other command. Static, for any thread.
 */
public final class ObjectCommands {
  private static final RedisCommand.Keys THIRD = new RedisCommand.Keys(3, 3, 1);

  private static final String BOUNDED = CrdtType.BOUNDED_COUNTER.label();
  private static final Request.Ask VALUE = new Request.Ask(false, new Query.Whole());

  /** Stands for a key while the words around it are read. */
  private static final Word SOME_KEY = new Word("key", true);

  private ObjectCommands() {}

  /** All of them. */
  public static List<RedisCommand> all() {
    return new Table("osier")
        .reads(
            "OSIER.READ",
            -4,
            THIRD,
            "Reads an object: a type, an operation, a key and the rest, as osier cli has them.",
            (scope, words) -> read(scope, text(words, 1), text(words, 2), words, 3))
        .grows(
            "OSIER.UPDATE",
            -4,
            THIRD,
            "Updates an object: a type, an operation, a key and the rest, as osier cli has them.",
            (scope, words) ->
                update(scope, text(words, 1), text(words, 2), words, 3, Optional.empty()))
        .reads(
            "OSIER.BREAD",
            2,
            RedisCommand.Keys.ONE,
            "Reads a bounded counter, its bounds, and who may take how much.",
            (scope, words) -> read(scope, BOUNDED, "rights", words, 1))
        .grows(
            "OSIER.BCREATE",
            -4,
            RedisCommand.Keys.ONE,
            "Bounds a counter: the bounds, - for none, and its first value.",
            (scope, words) -> update(scope, BOUNDED, "create", words, 1, Optional.empty()))
        .grows(
            "OSIER.BINCR",
            -2,
            RedisCommand.Keys.ONE,
            "Adds to a bounded counter, and may wait some milliseconds for rights.",
            (scope, words) -> update(scope, BOUNDED, "incr", words, 1, Optional.of(VALUE)))
        .grows(
            "OSIER.BDECR",
            -2,
            RedisCommand.Keys.ONE,
            "Subtracts from a bounded counter, and may wait some milliseconds for rights.",
            (scope, words) -> update(scope, BOUNDED, "decr", words, 1, Optional.of(VALUE)))
        .list();
  }

  private static String text(byte[][] words, int at) {
    try {
      return Utf8.decode(words[at], 0, words[at].length);
    } catch (CharacterCodingException e) {
      throw new RedisException(
          "ERR word " + at + " is no text of UTF-8; bytes are written as bytes:0x and hexadecimal");
    }
  }

  /** What is to be done: the words behind the key belong to the operation. */
  private static ObjectCommand parsed(String type, String verb, byte[][] words, int key) {
    List<Word> all = new ArrayList<>(words.length - key + 2);
    all.add(new Word(type, false));
    all.add(new Word(verb, false));
    all.add(SOME_KEY);
    for (int i = key + 1; i < words.length; i++) {
      all.add(new Word(text(words, i), false));
    }
    return ObjectGrammar.parse(CrdtType.ofLabel(type), all);
  }

  private static Plan read(Scope scope, String type, String verb, byte[][] words, int key) {
    return switch (parsed(type, verb, words, key)) {
      case ObjectCommand.Read r -> read(scope, Key.of(words[key]), r.type(), r.query());
      case ObjectCommand.PartTimeToLive t ->
          read(scope, Key.of(words[key]), t.type(), new Query.PartTimeToLive(t.part()));
      case ObjectCommand.Update u ->
          throw new RedisException("ERR '" + verb + "' is an update: OSIER.UPDATE does it");
    };
  }

  private static Plan read(Scope scope, Key key, CrdtType type, Query query) {
    return ask(
        new Request.Read(
            scope.keyspace(), key, Optional.of(type), query, VersionVector.EMPTY, false, 0));
  }

  private static Plan update(
      Scope scope, String type, String verb, byte[][] words, int key, Optional<Request.Ask> ask) {
    if (!(parsed(type, verb, words, key) instanceof ObjectCommand.Update update)) {
      throw new RedisException("ERR '" + verb + "' changes nothing: OSIER.READ does it");
    }
    return ask(
        new Request.Write(
            scope.keyspace(),
            Key.of(words[key]),
            update.type(),
            update.operation(),
            VersionVector.EMPTY,
            0,
            ask));
  }

  // ---------------------------------------------------------------- answers

  private static Plan ask(Request request) {
    return Plans.ask(
        request,
        reply ->
            Plans.answer(
                switch (reply) {
                  case Reply.Done d -> d.answer().map(ObjectCommands::shown).orElse(RespValue.OK);
                  case Reply.Answer a -> shown(a);
                  default -> throw new IllegalStateException("not asked for: " + reply);
                }),
        failure ->
            Plans.answer(
                failure.code() == ErrorCode.NOT_ENOUGH_RIGHTS
                    ? new RespValue.Err("NORIGHTS nothing was done: " + failure.message())
                    : RedisErrors.of(failure)));
  }

  /** Of what is not there a new object's. */
  private static RespValue shown(Reply.Answer answer) {
    return answer.reading().map(ObjectCommands::shown).orElse(new RespValue.Null());
  }

  private static RespValue shown(Reading reading) {
    return switch (reading) {
      case Reading.Count r -> new RespValue.Int(r.value());
      case Reading.Flag r -> new RespValue.Int(r.value() ? 1 : 0);
      case Reading.Single r -> r.value().map(ObjectCommands::shown).orElse(new RespValue.Null());
      case Reading.Many r ->
          new RespValue.Array(r.values().stream().map(ObjectCommands::shown).toList());
      case Reading.Fields r -> fields(r);
      case Reading.Rights r -> rights(r);
    };
  }

  private static RespValue shown(Value value) {
    return value instanceof Value.Int number
        ? new RespValue.Int(number.content())
        : Texts.bulk(value);
  }

  /** Of a name with fields of several types the first one, as everywhere. */
  private static RespValue fields(Reading.Fields of) {
    Set<String> names = new HashSet<>();
    List<RespValue> pairs = new ArrayList<>();
    of.fields()
        .forEach(
            (field, reading) -> {
              if (names.add(field.name())) {
                pairs.add(RespValue.Bulk.of(field.name()));
                pairs.add(shown(reading));
              }
            });
    return new RespValue.Pairs(pairs);
  }

  private static RespValue rights(Reading.Rights of) {
    List<RespValue> shares = new ArrayList<>();
    of.shares()
        .forEach(
            (dc, share) -> {
              shares.add(RespValue.Bulk.of(dc));
              shares.add(pairs("down", limited(share.down()), "up", limited(share.up())));
            });
    return pairs(
        "value",
        new RespValue.Int(of.value()),
        "lower",
        of.lower() == BoundedCounter.NO_LOWER
            ? new RespValue.Null()
            : new RespValue.Int(of.lower()),
        "upper",
        of.upper() == BoundedCounter.NO_UPPER
            ? new RespValue.Null()
            : new RespValue.Int(of.upper()),
        "rights",
        new RespValue.Pairs(shares));
  }

  private static RespValue limited(long right) {
    return right == Long.MAX_VALUE ? new RespValue.Null() : new RespValue.Int(right);
  }

  private static RespValue pairs(Object... namesAndValues) {
    List<RespValue> pairs = new ArrayList<>();
    for (Object each : namesAndValues) {
      pairs.add(each instanceof RespValue value ? value : RespValue.Bulk.of((String) each));
    }
    return new RespValue.Pairs(pairs);
  }
}
