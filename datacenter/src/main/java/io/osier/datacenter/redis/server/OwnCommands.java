package io.osier.datacenter.redis.server;

import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Flag;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Lists commands that need a session. Not thread-safe. */
final class OwnCommands {
  private static final int SHOWN_MAX = 128;

  private final Map<RedisCommand, CommandTable.Action> all = new LinkedHashMap<>();
  private final String group;

  OwnCommands(String group) {
    this.group = group;
  }

  OwnCommands add(
      String name, int arity, String summary, Set<Flag> flags, CommandTable.Action action) {
    return add(name, arity, RedisCommand.Keys.NONE, summary, flags, action);
  }

  OwnCommands add(
      String name,
      int arity,
      RedisCommand.Keys keys,
      String summary,
      Set<Flag> flags,
      CommandTable.Action action) {
    all.put(
        new RedisCommand(
            name,
            arity,
            flags,
            keys,
            group,
            summary,
            (scope, words) -> {
              throw new IllegalStateException(name + " needs a session");
            }),
        action);
    return this;
  }

  Map<RedisCommand, CommandTable.Action> all() {
    return all;
  }

  // ---------------------------------------------------------------- what actions are made of

  static Plan answer(RespValue value) {
    return new Plan.Answer(value);
  }

  static Plan ok() {
    return new Plan.Answer(RespValue.OK);
  }

  static Plan none() {
    return new Plan.Answer(new RespValue.Array(List.of()));
  }

  /** A word in capitals, as names of options and of commands' parts are compared. */
  static String option(byte[] word) {
    return word.length > SHOWN_MAX ? "" : RespDecoder.text(word).toUpperCase(Locale.ROOT);
  }

  static String text(byte[] word) {
    return RespDecoder.text(word);
  }

  /** A whole number. */
  static long number(byte[] word, String error) {
    try {
      return Long.parseLong(text(word));
    } catch (NumberFormatException e) {
      throw new RedisException(error);
    }
  }

  static RedisException syntax() {
    return new RedisException("ERR syntax error");
  }

  /**
   * Checks how many words a command has, or a part of one.
   *
   * @param least 1 for a command that has no parts
   */
  static void arity(byte[][] words, int least, int most) {
    if (words.length < least || words.length > most) {
      String part = least > 1 && words.length > 1 ? "|" + text(words[1]) : "";
      throw RedisErrors.arity(text(words[0]) + part);
    }
  }

  static RedisException unknownPart(byte[][] words) {
    String part = text(words[1]);
    return new RedisException(
        "ERR unknown subcommand '"
            + (part.length() > SHOWN_MAX ? part.substring(0, SHOWN_MAX) : part)
            + "'. Try "
            + text(words[0]).toUpperCase(Locale.ROOT)
            + " HELP.");
  }
}
