package io.osier.datacenter.redis.command;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.datacenter.redis.command.RedisCommand.Flag;
import io.osier.datacenter.redis.command.RedisCommand.Keys;
import io.osier.datacenter.redis.command.RedisCommand.Translator;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Lists the commands of a group. Not thread-safe. */
public final class Table {
  /** All arguments are keys. */
  public static final Keys ALL = new Keys(1, -1, 1);

  /** Each second argument is a key. */
  public static final Keys PAIRS = new Keys(1, -1, 2);

  /** The first two arguments are keys. */
  public static final Keys TWO = new Keys(1, 2, 1);

  private final String group;
  private final List<RedisCommand> commands = new ArrayList<>();

  /** None yet. */
  public Table(String group) {
    this.group = group;
  }

  /** One that reads. */
  public Table reads(String name, int arity, Keys keys, String summary, Translator does) {
    return add(name, arity, keys, summary, does, Flag.READONLY);
  }

  /** One that reads in constant time. */
  public Table readsFast(String name, int arity, Keys keys, String summary, Translator does) {
    return add(name, arity, keys, summary, does, Flag.READONLY, Flag.FAST);
  }

  /** One that takes away, or changes what takes no more room then. */
  public Table writes(String name, int arity, Keys keys, String summary, Translator does) {
    return add(name, arity, keys, summary, does, Flag.WRITE);
  }

  /** The same in constant time. */
  public Table writesFast(String name, int arity, Keys keys, String summary, Translator does) {
    return add(name, arity, keys, summary, does, Flag.WRITE, Flag.FAST);
  }

  /** One that needs room. */
  public Table grows(String name, int arity, Keys keys, String summary, Translator does) {
    return add(name, arity, keys, summary, does, Flag.WRITE, Flag.DENYOOM);
  }

  /** The same in constant time. */
  public Table growsFast(String name, int arity, Keys keys, String summary, Translator does) {
    return add(name, arity, keys, summary, does, Flag.WRITE, Flag.DENYOOM, Flag.FAST);
  }

  /** Those of another table. */
  public Table with(List<RedisCommand> others) {
    commands.addAll(others);
    return this;
  }

  /** All that were added. */
  public List<RedisCommand> list() {
    return List.copyOf(commands);
  }

  private Table add(
      String name, int arity, Keys keys, String summary, Translator does, Flag... flags) {
    Set<Flag> all = EnumSet.noneOf(Flag.class);
    all.addAll(List.of(flags));
    commands.add(
        new RedisCommand(
            name,
            arity,
            Set.copyOf(all),
            keys,
            group,
            summary,
            (scope, words) -> checked(does, keys, scope, words)));
    return this;
  }

  /** What Osier objects to, such as a key that is too long, or another home's, in Redis' words. */
  private static Plan checked(Translator does, Keys keys, Scope scope, byte[][] words) {
    try {
      Plan plan = does.plan(scope, words);
      if (!scope.homes().isEmpty()) {
        keys.of(words).forEach(word -> scope.homes().check(scope.keyspace(), Key.of(word)));
      }
      return plan;
    } catch (OsierException e) {
      throw new RedisException(RedisErrors.of(e).text());
    }
  }
}
