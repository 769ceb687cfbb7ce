package io.osier.datacenter.redis.server;

import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.command.CommandList;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Trait;
import io.osier.datacenter.redis.command.RedisCommand.Translator;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.server.Connection.Place;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All commands by their names, with what is done for them. Immutable. */
final class CommandTable {
  /** What happens to a command between MULTI and EXEC. */
  enum Within {
    DONE,
    QUEUED,
    REFUSED
  }

  /** Does a command with a connection's session. */
  @FunctionalInterface
  interface Action {
    /**
     * Returns the first step; null if the session answers later by itself.
     *
     * @param place the place of the answer
     * @param words the command's words, as many as its arity says
     * @throws RedisException if they are wrong
     */
    @Nullable Plan run(RespSession session, Place place, byte[][] words);
  }

  /**
   * A command.
   *
   * @param name its name in capitals, as bytes
   * @param action does the command; null if the command's translator does
   */
  record Entry(RedisCommand command, byte[] name, @Nullable Action action) {
    boolean has(RedisCommand.Flag flag) {
      return command.flags().contains(flag);
    }

    Within within() {
      if (command.has(Trait.DONE)) {
        return Within.DONE;
      }
      return (action == null || command.has(Trait.QUEUED)) && !command.has(Trait.REFUSED)
          ? Within.QUEUED
          : Within.REFUSED;
    }

    boolean fits(int words) {
      return command.arity() < 0 ? words >= -command.arity() : words == command.arity();
    }

    @Nullable Plan plan(RespSession session, Place place, byte[][] words) {
      Action does = action;
      return does == null
          ? command.does().plan(session.scope(), words)
          : does.run(session, place, words);
    }
  }

  private final Map<String, Entry> byName = new TreeMap<>();

  /** A hash table with open addressing, of which at least three of four places are empty. */
  private final @Nullable Entry[] places;

  private CommandTable(Collection<Entry> entries) {
    places = new Entry[Integer.highestOneBit(Math.max(16, entries.size())) * 8];
    for (Entry entry : entries) {
      if (byName.put(entry.command.name(), entry) != null) {
        throw new IllegalArgumentException("two commands are " + entry.command.name());
      }
      int at = hash(entry.name);
      while (places[at] != null) {
        at = at + 1 & places.length - 1;
      }
      places[at] = entry;
    }
  }

  /**
   * Creates the table of all commands.
   *
   * @param data translates the commands that need no session
   * @param own does the commands that need one
   * @throws IllegalArgumentException if a command of the list is missing, or is given twice
   */
  static CommandTable of(Map<String, Translator> data, Map<String, Action> own) {
    List<Entry> entries = new ArrayList<>();
    data.forEach((name, does) -> entries.add(entry(name, does, null)));
    own.forEach((name, action) -> entries.add(entry(name, CommandTable::needsSession, action)));
    if (entries.size() != CommandList.names().size()) {
      throw new IllegalArgumentException("of some commands it is not said what is done for them");
    }
    return new CommandTable(entries);
  }

  private static Entry entry(String name, Translator does, @Nullable Action action) {
    return new Entry(
        CommandList.named(name, does), name.getBytes(StandardCharsets.US_ASCII), action);
  }

  private static Plan needsSession(Scope scope, byte[][] words) {
    throw new IllegalStateException(RespDecoder.text(words[0]) + " needs a session");
  }

  private int hash(byte[] name) {
    int hash = name.length;
    for (byte b : name) {
      hash = 31 * hash + (b & 0xdf); // letters without their case
    }
    return (hash ^ hash >>> 15) & places.length - 1;
  }

  /** Returns the command of a name in upper or lower case; null if there is none. */
  @Nullable Entry find(byte[] name) {
    int at = hash(name);
    Entry entry;
    while ((entry = places[at]) != null) {
      if (isSame(entry.name, name)) {
        return entry;
      }
      at = at + 1 & places.length - 1;
    }
    return null;
  }

  private static boolean isSame(byte[] capitals, byte[] name) {
    if (capitals.length != name.length) {
      return false;
    }
    for (int i = 0; i < name.length; i++) {
      byte b = name[i];
      if ((b >= 'a' && b <= 'z' ? b - 32 : b) != capitals[i]) {
        return false;
      }
    }
    return true;
  }

  Collection<Entry> all() {
    return byName.values();
  }
}
