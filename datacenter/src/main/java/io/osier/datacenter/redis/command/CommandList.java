package io.osier.datacenter.redis.command;

import io.osier.datacenter.redis.command.RedisCommand.Flag;
import io.osier.datacenter.redis.command.RedisCommand.Keys;
import io.osier.datacenter.redis.command.RedisCommand.Trait;
import io.osier.datacenter.redis.command.RedisCommand.Translator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The list of all commands, with everything about them but their implementation. Static, for any
 * thread.
 */
public final class CommandList {
  /**
   * Each line is a group, or a command of the group above: its name, its arity, the first letters
   * of its flags and of its traits, which of its words are keys, and a sentence about it.
   */
  private static final String TEXT =
      """
      server
      ACL             -2 ls   -    none    Tells of users.
      COMMAND         -1 ls   -    none    Tells which commands there are.
      CONFIG          -2 als  Q    none    Shows and keeps settings.
      DEBUG           -2 als  -    none    Answers an error that it is told, or does nothing.
      FUNCTION        -2 -    -    none    Has no functions.
      INFO            -1 ls   -    none    Tells what the server is and does.
      LATENCY         -2 als  -    none    Is empty: see osier stat.
      MEMORY          -2 r    -    second  Tells what a key takes.
      ROLE             1 ls   -    none    Tells that this is no replica.
      SLOWLOG         -2 als  -    none    Is empty: the log has slow requests.
      TIME             1 f    Q    none    Returns the time.
      string
      APPEND           3 wfd  -    one     Appends to a string.
      DECR             2 wfd  O    one     Subtracts 1 from a number.
      DECRBY           3 wfd  O    one     Subtracts from a number.
      GET              2 rf   O    one     Returns a string.
      GETDEL           2 wf   -    one     Returns a string and deletes it.
      GETEX           -2 wf   -    one     Returns a string and lets it expire.
      GETRANGE         4 r    O    one     Returns a part of a string.
      GETSET           3 wfd  -    one     Assigns a string and returns the former one.
      INCR             2 wfd  O    one     Adds 1 to a number.
      INCRBY           3 wfd  O    one     Adds to a number.
      INCRBYFLOAT      3 wfd  O    one     Adds a number with a fraction, exactly.
      LCS             -3 r    R    two     Finds the longest common subsequence of two strings.
      MGET            -2 rf   O    all     Returns several strings.
      MSET            -3 wd   O    pairs   Assigns several strings.
      MSETNX          -3 wd   -    pairs   Assigns several strings if all keys are absent.
      PSETEX           4 wd   O    one     Assigns a string that lives for some milliseconds.
      SET             -3 wd   O    one     Assigns a string.
      SETEX            4 wd   O    one     Assigns a string that lives for some seconds.
      SETNX            3 wfd  O    one     Assigns a string if the key is absent.
      SETRANGE         4 wd   -    one     Overwrites a part of a string.
      STRLEN           2 rf   O    one     Returns a string's length.
      SUBSTR           4 r    O    one     Returns a part of a string.
      connection
      AUTH            -2 fn   -    none    Logs in.
      CLIENT          -2 -    -    none    Tells of connections.
      ECHO             2 f    Q    none    Answers with its argument.
      HELLO           -1 fn   -    none    Chooses the version of the protocol, and may log in.
      PING            -1 f    QSA  none    Answers.
      QUIT            -1 fn   DSA  none    Ends the connection.
      RESET            1 fn   DSA  none    Begins anew.
      SELECT           2 f    Q    none    Chooses a keyspace by its number.
      bitmap
      BITCOUNT        -2 r    O    one     Counts the bits that are set.
      BITFIELD        -2 wd   -    one     Reads and changes numbers of some bits within a string.
      BITFIELD_RO     -2 rf   -    one     Reads numbers of some bits within a string.
      BITOP           -4 wd   -    rest    Combines strings bit by bit, into another one.
      BITPOS          -3 r    O    one     Finds the first bit set or clear.
      GETBIT           3 rf   O    one     Returns a bit of a string.
      SETBIT           4 wd   -    one     Sets or clears a bit of a string.
      generic
      COPY            -3 wd   -    two     Copies a key to another one.
      DBSIZE           1 r    -    none    Counts the keys.
      DEL             -2 w    O    all     Deletes keys.
      DUMP             2 r    -    one     Returns what a key holds, in Osier's form.
      EXISTS          -2 rf   O    all     Counts the keys that exist.
      EXPIRE          -3 wf   -    one     Lets a key expire in some seconds.
      EXPIREAT        -3 wf   -    one     Lets a key expire at a time in seconds.
      EXPIRETIME       2 rf   O    one     Returns when a key expires, in seconds.
      FLUSHALL        -1 w    -    none    Deletes all keys of all keyspaces that have a number.
      FLUSHDB         -1 w    -    none    Deletes all keys of the keyspace.
      KEYS             2 r    -    none    Returns the keys that match a pattern.
      OBJECT          -2 r    -    second  Tells how a key is kept.
      PERSIST          2 wf   -    one     Takes a key's deadline away.
      PEXPIRE         -3 wf   -    one     Lets a key expire in some milliseconds.
      PEXPIREAT       -3 wf   -    one     Lets a key expire at a time in milliseconds.
      PEXPIRETIME      2 rf   O    one     Returns when a key expires, in milliseconds.
      PTTL             2 rf   O    one     Returns how many milliseconds a key lives on.
      RANDOMKEY        1 r    -    none    Returns one of the first thousand keys.
      RENAME           3 w    -    two     Renames a key, and overwrites another one.
      RENAMENX         3 wf   -    two     Renames a key if the new name is free.
      RESTORE         -4 wd   -    one     Makes a key of what DUMP returned.
      SCAN            -2 r    -    none    Walks through the keys.
      SORT            -2 r    -    one     Returns a set's elements, sorted.
      SORT_RO         -2 r    -    one     Returns a set's elements, sorted.
      TOUCH           -2 rf   O    all     Counts the keys that exist.
      TTL              2 rf   O    one     Returns how many seconds a key lives on.
      TYPE             2 rf   O    one     Returns what a key holds.
      UNLINK          -2 wf   O    all     Deletes keys.
      WAIT             3 -    -    none    Waits until other datacenters have what was written.
      WAITAOF          4 -    -    none    Waits until what was written is durable here and at \
      other datacenters.
      transactions
      DISCARD          1 fls  D    none    Forgets the queued commands and the watched keys.
      EXEC             1 fls  OD   none    Does all queued commands in one turn.
      MULTI            1 fls  D    none    Queues the commands that follow.
      UNWATCH          1 fls  Q    none    Forgets the watched keys.
      WATCH           -2 fls  D    all     Has EXEC do nothing if a key has changed.
      hash
      HDEL            -3 wf   O    one     Removes fields.
      HEXISTS          3 rf   O    one     Tells whether a field exists.
      HEXPIRE         -6 wf   -    one     Lets fields expire in some seconds.
      HEXPIREAT       -6 wf   -    one     Lets fields expire at a time in seconds.
      HEXPIRETIME     -5 rf   -    one     Returns when fields expire, in seconds.
      HGET             3 rf   O    one     Returns a field.
      HGETALL          2 r    O    one     Returns all fields with their values.
      HINCRBY          4 wfd  -    one     Adds to a field's number.
      HINCRBYFLOAT     4 wfd  -    one     Adds a number with a fraction to a field's, exactly.
      HKEYS            2 r    O    one     Returns all fields' names.
      HLEN             2 rf   O    one     Counts the fields.
      HMGET           -3 rf   O    one     Returns several fields.
      HMSET           -4 wfd  O    one     Assigns fields.
      HPERSIST        -5 wf   -    one     Takes fields' deadlines away.
      HPEXPIRE        -6 wf   -    one     Lets fields expire in some milliseconds.
      HPEXPIREAT      -6 wf   -    one     Lets fields expire at a time in milliseconds.
      HPEXPIRETIME    -5 rf   -    one     Returns when fields expire, in milliseconds.
      HPTTL           -5 rf   -    one     Returns how many milliseconds fields live on.
      HRANDFIELD      -2 r    -    one     Draws fields of a hash.
      HSCAN           -3 r    -    one     Shows a hash's fields in steps.
      HSET            -4 wfd  O    one     Assigns fields and counts the new ones.
      HSETNX           4 wfd  -    one     Assigns a field if it is absent.
      HSTRLEN          3 rf   O    one     Returns the length of a field's value.
      HTTL            -5 rf   -    one     Returns how many seconds fields live on.
      HVALS            2 r    O    one     Returns all fields' values.
      osier
      OSIER.ABORT      1 -    A    none    Forgets all updates of the transaction.
      OSIER.AFTER     -2 -    -    none    Waits until all is here that a token names.
      OSIER.BCREATE   -4 wd   OT   one     Bounds a counter: the bounds, - for none, and its \
      first value.
      OSIER.BDECR     -2 wd   OT   one     Subtracts from a bounded counter, and may wait some \
      milliseconds for rights.
      OSIER.BEGIN     -1 -    -    none    Begins a transaction of several steps on a snapshot, \
      which lasts some seconds.
      OSIER.BINCR     -2 wd   OT   one     Adds to a bounded counter, and may wait some \
      milliseconds for rights.
      OSIER.BREAD      2 r    OT   one     Reads a bounded counter, its bounds, and who may take \
      how much.
      OSIER.COMMIT     1 -    A    none    Makes all updates of the transaction visible together.
      OSIER.READ      -4 r    OT   third   Reads an object: a type, an operation, a key and the \
      rest, as osier cli has them.
      OSIER.TOKEN      1 -    -    none    Returns what OSIER.AFTER at another datacenter waits for.
      OSIER.UNWATCH   -1 p    S    none    Tells of changes no more.
      OSIER.UPDATE    -4 wd   OT   updated Updates an object: a type, an operation, a key and the \
      rest, as osier cli has them.
      OSIER.WATCH     -2 p    S    none    Tells of changes of a key, or of all with a prefix, \
      from a position on.
      pubsub
      PSUBSCRIBE      -2 p    S    none    Listens to channels whose names match patterns.
      PUBLISH          3 fp   Q    none    Sends a message to who listens to a channel, at all \
      datacenters.
      PUBSUB          -2 p    -    none    Tells of channels.
      PUNSUBSCRIBE    -1 p    S    none    Stops listening to channels whose names match patterns.
      SUBSCRIBE       -2 p    S    none    Listens to channels.
      UNSUBSCRIBE     -1 p    S    none    Stops listening to channels.
      set
      SADD            -3 wfd  O    one     Adds elements to a set.
      SCARD            2 rf   O    one     Counts a set's elements.
      SDIFF           -2 r    -    all     Returns what the first set has and the others have not.
      SDIFFSTORE      -3 wd   -    all     Stores what the first set has and the others have not.
      SINTER          -2 r    -    all     Returns the intersection of sets.
      SINTERCARD      -3 r    -    counted Counts the intersection.
      SINTERSTORE     -3 wd   -    all     Stores the intersection of sets.
      SISMEMBER        3 rf   O    one     Tells whether a set contains an element.
      SMEMBERS         2 r    O    one     Returns all elements of a set.
      SMISMEMBER      -3 rf   O    one     Tells which elements a set contains.
      SMOVE            4 wf   -    two     Moves an element between sets.
      SPOP            -2 wf   -    one     Draws and removes elements.
      SRANDMEMBER     -2 r    -    one     Draws elements of a set.
      SREM            -3 wf   O    one     Removes elements of a set.
      SSCAN           -3 r    -    one     Shows a set's elements in steps.
      SUNION          -2 r    -    all     Returns the union of sets.
      SUNIONSTORE     -3 wd   -    all     Stores the union of sets.
      """;

  private static final Map<String, Row> ROWS = new HashMap<>();

  private record Row(String group, String[] cells) {}

  static {
    String group = "";
    for (String line : TEXT.split("\n")) {
      String[] cells = line.split(" +", 6);
      if (cells.length == 1) {
        group = line;
      } else {
        ROWS.put(cells[0], new Row(group, cells));
      }
    }
  }

  private CommandList() {}

  /** Returns the names of all commands, in capitals. */
  public static Set<String> names() {
    return ROWS.keySet();
  }

  /**
   * Returns the command of a name.
   *
   * @param does translates the command
   * @throws IllegalArgumentException if there is no such command
   */
  public static RedisCommand named(String name, Translator does) {
    Row row = ROWS.get(name);
    if (row == null) {
      throw new IllegalArgumentException("there is no command " + name);
    }
    return new RedisCommand(
        name,
        Integer.parseInt(row.cells[1]),
        marked(Flag.class, row.cells[2].toUpperCase(Locale.ROOT)),
        marked(Trait.class, row.cells[3]),
        keys(row.cells[4]),
        row.group,
        row.cells[5],
        does);
  }

  /** Returns the constants whose first letter is among the letters. */
  private static <E extends Enum<E>> Set<E> marked(Class<E> of, String letters) {
    Set<E> all = EnumSet.allOf(of);
    all.removeIf(each -> letters.indexOf(each.name().charAt(0)) < 0);
    return Set.copyOf(all);
  }

  /** Returns the places of keys for the word that a line of the list has for them. */
  public static Keys keys(String words) {
    return switch (words) {
      case "none" -> new Keys(0, 0, 0, 0, false);
      case "one" -> new Keys(1, 1, 1, 0, false);
      case "second" -> new Keys(2, 2, 1, 0, false);
      case "third" -> new Keys(3, 3, 1, 0, false);
      case "two" -> new Keys(1, 2, 1, 0, false);
      case "all" -> new Keys(1, -1, 1, 0, false);
      case "rest" -> new Keys(2, -1, 1, 0, false);
      case "pairs" -> new Keys(1, -1, 2, 0, false);
      case "counted" -> new Keys(0, 0, 0, 1, false);
      case "updated" -> new Keys(3, 3, 1, 0, true);
      default -> throw new IllegalArgumentException("no keys are " + words);
    };
  }
}
