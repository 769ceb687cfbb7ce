package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.List;
import java.util.Optional;

/** Commands of keys, whatever the keys hold. Static, for any thread. */
final class KeyCommands {
  private KeyCommands() {}

  static Plan delete(Scope scope, byte[][] words) {
    List<Key> keys = new Words(words).keys();
    if (keys.size() == 1) {
      return Plans.ask(
          Plans.write(
              scope,
              keys.getFirst(),
              Operation.ANY_TYPE,
              new Operation.Delete(),
              true,
              Plans.EXISTS),
          reply -> Plan.answer(existed(reply) ? 1 : 0));
    }
    return Split.of(
        scope,
        keys,
        key -> Plans.update(key, Operation.ANY_TYPE, new Operation.Delete(), true, Plans.EXISTS),
        parts -> Plan.answer(parts.stream().filter(KeyCommands::existed).count()));
  }

  private static boolean existed(Reply reply) {
    return reply instanceof Reply.Done done
        ? done.answer().orElseThrow().exists()
        : ((Reply.Answer) reply).exists();
  }

  static Plan exists(Scope scope, byte[][] words) {
    List<Key> keys = new Words(words).keys();
    if (keys.size() == 1) {
      return Plans.read(
          scope,
          keys.getFirst(),
          Plans.EXISTS,
          answer -> new RespValue.Int(answer.exists() ? 1 : 0));
    }
    return Split.of(
        scope,
        keys,
        key -> Plans.readCall(key, Plans.EXISTS),
        parts -> Plan.answer(parts.stream().filter(KeyCommands::existed).count()));
  }

  static Plan type(Scope scope, byte[][] words) {
    return Plans.read(
        scope,
        Key.of(words[1]),
        Plans.EXISTS,
        answer ->
            new RespValue.Simple(
                answer.exists() ? Texts.typeName(answer.type().orElseThrow()) : "none"));
  }

  static Plan rename(Scope scope, byte[][] words, boolean onlyIfFree) {
    Key key = Key.of(words[1]);
    Key to = Key.of(words[2]);
    Plans.checkOnePartition(scope, List.of(key, to));
    if (key.equals(to)) {
      return Plans.read(
          scope,
          key,
          Plans.EXISTS,
          answer ->
              !answer.exists()
                  ? new RespValue.Err(RedisErrors.NO_KEY)
                  : onlyIfFree ? new RespValue.Int(0) : RespValue.OK);
    }
    return Plans.run(
        scope,
        List.of(
            Plans.test(key, Optional.empty(), Plans.EXISTS, new Reading.Flag(true)),
            new Call.Rename(key, to, onlyIfFree)),
        parts -> onlyIfFree ? Plan.answer(parts.get(1) instanceof Reply.Done ? 1 : 0) : Plan.ok(),
        parts -> Plans.error(RedisErrors.NO_KEY));
  }

  static Plan copy(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    Key to = words.key();
    boolean replaces = false;
    while (words.hasNext()) {
      switch (words.option()) {
        case "REPLACE" -> replaces = true;
        case "DB" -> {
          words.integer();
          throw new RedisException(
              "ERR COPY to another database is not possible: each is a keyspace of its own");
        }
        default -> throw RedisErrors.syntax();
      }
    }
    if (key.equals(to)) {
      throw new RedisException("ERR source and destination objects are the same");
    }
    Plans.checkOnePartition(scope, List.of(key, to));
    return Plans.run(
        scope,
        List.of(new Call.Copy(key, to, !replaces)),
        parts -> Plan.answer(parts.getFirst() instanceof Reply.Done ? 1 : 0));
  }
}
