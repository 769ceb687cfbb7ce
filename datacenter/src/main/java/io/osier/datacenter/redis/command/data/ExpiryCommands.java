package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Keys;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Table;
import io.osier.datacenter.redis.command.Words;
import io.osier.datacenter.redis.command.data.Deadlines.Unit;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Commands of keys' deadlines. Static, for any thread. */
final class ExpiryCommands {
  private static final String BOTH_SIDES =
      "ERR GT and LT options at the same time are not compatible";
  private static final String NONE_AND_SOME =
      "ERR NX and XX, GT or LT options at the same time are not compatible";

  private ExpiryCommands() {}

  static List<RedisCommand> all() {
    Table table = new Table("generic");
    expire(table, "EXPIRE", Unit.SECONDS, "Lets a key expire in some seconds.");
    expire(table, "PEXPIRE", Unit.MILLIS, "Lets a key expire in some milliseconds.");
    expire(table, "EXPIREAT", Unit.AT_SECONDS, "Lets a key expire at a time in seconds.");
    expire(table, "PEXPIREAT", Unit.AT_MILLIS, "Lets a key expire at a time in milliseconds.");
    told(table, "TTL", 1_000, Plans.TIME_TO_LIVE, "Returns how many seconds a key lives on.");
    told(table, "PTTL", 1, Plans.TIME_TO_LIVE, "Returns how many milliseconds a key lives on.");
    told(table, "EXPIRETIME", 1_000, Plans.DEADLINE, "Returns when a key expires, in seconds.");
    told(table, "PEXPIRETIME", 1, Plans.DEADLINE, "Returns when a key expires, in milliseconds.");
    return table
        .writesFast(
            "PERSIST",
            2,
            Keys.ONE,
            "Takes a key's deadline away.",
            (scope, w) ->
                Plans.ask(
                    Plans.write(scope, Key.of(w[1]), Operation.ANY_TYPE, new Operation.Persist()),
                    reply -> Plan.answer(reply instanceof Reply.Done ? 1 : 0)))
        .list();
  }

  private static void expire(Table table, String name, Unit unit, String summary) {
    String command = name.toLowerCase(Locale.ROOT);
    table.writesFast(
        name,
        -3,
        Keys.ONE,
        summary,
        (scope, w) -> {
          Words words = new Words(w);
          Key key = words.key();
          byte[] time = words.next();
          Optional<Call.When> when = when(words); // Redis looks at the options first
          Operation.Expire deadline = Deadlines.any(scope, time, unit, command);
          if (when.isEmpty()) {
            return Plans.ask(
                Plans.write(scope, key, Operation.ANY_TYPE, deadline),
                reply -> Plan.answer(reply instanceof Reply.Done ? 1 : 0));
          }
          return Plans.run(
              scope,
              List.of(new Call.ExpireIf(key, deadline, when.get())),
              parts -> Plan.answer(parts.getFirst() instanceof Reply.Done ? 1 : 0));
        });
  }

  private static Optional<Call.When> when(Words words) {
    boolean none = false;
    boolean some = false;
    boolean later = false;
    boolean earlier = false;
    while (words.hasNext()) {
      byte[] word = words.next();
      switch (Words.option(word)) {
        case "NX" -> none = true;
        case "XX" -> some = true;
        case "GT" -> later = true;
        case "LT" -> earlier = true;
        default ->
            throw new RedisException(
                "ERR Unsupported option "
                    + new String(word, StandardCharsets.UTF_8).replaceAll("[\r\n]", " "));
      }
    }
    return when(none, some, later, earlier);
  }

  static Optional<Call.When> when(boolean none, boolean some, boolean later, boolean earlier) {
    if (none && (some || later || earlier)) {
      throw new RedisException(NONE_AND_SOME);
    }
    if (later && earlier) {
      throw new RedisException(BOTH_SIDES);
    }
    if (none) {
      return Optional.of(Call.When.NONE);
    }
    if (later) { // than a deadline: what has none lives longer than any
      return Optional.of(Call.When.LATER);
    }
    if (earlier) {
      return Optional.of(some ? Call.When.EARLIER_OF_SOME : Call.When.EARLIER);
    }
    return some ? Optional.of(Call.When.SOME) : Optional.empty();
  }

  /** What is told of a deadline, as Redis rounds it: to the nearest unit. */
  private static void told(Table table, String name, int unitMillis, Query query, String summary) {
    table.readsFast(
        name,
        2,
        Keys.ONE,
        summary,
        (scope, w) ->
            Plans.read(
                scope,
                Key.of(w[1]),
                query,
                answer -> {
                  if (!answer.exists()) {
                    return new RespValue.Int(-2);
                  }
                  long millis = answer.reading().orElseThrow().asLong();
                  return new RespValue.Int(
                      millis < 0 ? -1 : (millis + unitMillis / 2) / unitMillis);
                }));
  }
}
