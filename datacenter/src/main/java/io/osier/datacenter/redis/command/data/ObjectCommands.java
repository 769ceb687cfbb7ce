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
import io.osier.datacenter.redis.command.CommandList;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.words.ObjectCommand;
import io.osier.datacenter.words.ObjectGrammar;
import io.osier.datacenter.words.UpdateGrammar;
import io.osier.datacenter.words.Word;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Commands on objects of all of Osier's types. Their words are those of {@code osier cli}, except
 * for the key, which is the word's bytes as in every other command. Static, for any thread.
 */
final class ObjectCommands {
  private static final String BOUNDED = CrdtType.BOUNDED_COUNTER.label();
  private static final Request.Ask VALUE = new Request.Ask(false, new Query.Whole());

  /** Stands for a key while the words around it are read. */
  private static final Word SOME_KEY = new Word("key", true);

  private ObjectCommands() {}

  static Plan read(Scope scope, byte[][] words) {
    return read(scope, text(words, 1), text(words, 2), words, 3);
  }

  /** OSIER.BREAD. */
  static Plan rights(Scope scope, byte[][] words) {
    return read(scope, BOUNDED, "rights", words, 1);
  }

  /** OSIER.BCREATE. */
  static Plan create(Scope scope, byte[][] words) {
    return bounded(scope, words, "create", Optional.empty());
  }

  /** OSIER.BINCR and OSIER.BDECR. */
  static Plan count(Scope scope, byte[][] words, String verb) {
    return bounded(scope, words, verb, Optional.of(VALUE));
  }

  private static Plan bounded(Scope scope, byte[][] words, String verb, Optional<Request.Ask> ask) {
    ObjectCommand.Update update = (ObjectCommand.Update) parsed(BOUNDED, verb, words, 1);
    return write(scope, Key.of(words[1]), update, ask);
  }

  private static String text(byte[][] words, int at) {
    try {
      return Utf8.decode(words[at], 0, words[at].length);
    } catch (CharacterCodingException e) {
      throw new RedisException(
          "ERR word " + at + " is no text of UTF-8; bytes are written as bytes:0x and hexadecimal");
    }
  }

  /**
   * Parses a command whose words behind the key belong to the operation.
   *
   * @param key the place of the key
   */
  private static ObjectCommand parsed(String type, String verb, byte[][] words, int key) {
    List<Word> all = new ArrayList<>(words.length - key + 2);
    all.add(new Word(type, false));
    all.add(new Word(verb, false));
    all.add(SOME_KEY);
    addRest(all, words, key + 1);
    return ObjectGrammar.parse(CrdtType.ofLabel(type), all);
  }

  private static void addRest(List<Word> all, byte[][] words, int from) {
    for (int i = from; i < words.length; i++) {
      all.add(new Word(text(words, i), false));
    }
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
            scope.database().keyspace(key),
            key,
            Optional.of(type),
            query,
            VersionVector.EMPTY,
            false,
            0),
        reply -> shown((Reply.Answer) reply, UnaryOperator.identity()));
  }

  /** OSIER.UPDATE, with the options in front of its type. */
  static Plan update(Scope scope, byte[][] words) {
    RedisCommand.Keys keys = CommandList.keys("updated");
    int key = keys.first() + keys.shift(words);
    List<Word> all = new ArrayList<>(words.length);
    for (int i = 1; i < Math.min(key, words.length); i++) {
      all.add(new Word(text(words, i), false));
    }
    if (key < words.length) {
      all.add(SOME_KEY);
      addRest(all, words, key + 1);
    }
    if (!(UpdateGrammar.parse(all, CrdtType::ofLabel) instanceof ObjectCommand.Update update)) {
      throw new RedisException(
          "ERR '" + text(words, key - 1) + "' changes nothing: OSIER.READ does it");
    }
    return write(scope, Key.of(words[key]), update, update.ask());
  }

  private static Plan write(
      Scope scope, Key key, ObjectCommand.Update update, Optional<Request.Ask> ask) {
    Request write =
        new Request.Write(
            scope.database().keyspace(key),
            key,
            update.type(),
            update.operation(),
            VersionVector.EMPTY,
            0,
            ask,
            update.condition());
    return update.condition().isPresent()
        ? ask(write, reply -> reply instanceof Reply.Done ? RespValue.OK : RespValue.NULL)
        : ask(
            write,
            reply ->
                switch (reply) {
                  case Reply.Done d ->
                      d.answer().map(a -> shown(a, update::shown)).orElse(RespValue.OK);
                  case Reply.Answer a -> shown(a, update::shown); // there was nothing to do
                  default -> throw new IllegalStateException("not asked for: " + reply);
                });
  }

  // ---------------------------------------------------------------- answers

  private static Plan ask(Request request, Function<Reply, RespValue> shown) {
    return Plans.ask(
        request,
        reply -> Plan.answer(shown.apply(reply)),
        failure ->
            Plan.answer(
                failure.code() == ErrorCode.NOT_ENOUGH_RIGHTS
                    ? new RespValue.Err("NORIGHTS nothing was done: " + failure.message())
                    : RedisErrors.of(failure)));
  }

  /** Returns the answer to a reading; an absent object reads as a new one. */
  private static RespValue shown(Reply.Answer answer, UnaryOperator<Reading> part) {
    return answer.reading().map(part).map(ObjectCommands::shown).orElse(RespValue.NULL);
  }

  private static RespValue shown(Reading reading) {
    return switch (reading) {
      case Reading.Count r -> new RespValue.Int(r.value());
      case Reading.Flag r -> new RespValue.Int(r.value() ? 1 : 0);
      case Reading.Single r -> r.value().map(ObjectCommands::shown).orElse(RespValue.NULL);
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

  /**
   * Returns a map's fields; of several fields of one name and different types the first one, as
   * everywhere.
   */
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
              shares.add(RespValue.pairs("down", limited(share.down()), "up", limited(share.up())));
            });
    return RespValue.pairs(
        "value",
        of.value(),
        "lower",
        of.lower() == BoundedCounter.NO_LOWER ? RespValue.NULL : of.lower(),
        "upper",
        of.upper() == BoundedCounter.NO_UPPER ? RespValue.NULL : of.upper(),
        "rights",
        new RespValue.Pairs(shares));
  }

  private static RespValue limited(long right) {
    return right == Long.MAX_VALUE ? RespValue.NULL : new RespValue.Int(right);
  }
}
