package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.text;
import static io.osier.datacenter.redis.command.Plan.answer;
import static io.osier.datacenter.redis.command.Plan.ok;
import static io.osier.datacenter.redis.command.RedisErrors.checkArity;
import static io.osier.datacenter.redis.command.RedisErrors.unknownPart;
import static io.osier.datacenter.redis.command.Words.option;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Settings;
import io.osier.datacenter.redis.command.SpreadPlan;
import io.osier.datacenter.redis.command.data.Plans;
import io.osier.datacenter.redis.command.data.Texts;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.protocol.MessageHeap;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Commands about the server, its settings, and what is kept of a key. Static, for any thread. */
final class ServerCommands {
  /** Subcommands of DEBUG that tests of clients use; they do nothing here. */
  private static final List<String> DEBUG_PARTS =
      List.of(
          ("ERROR JMAP PAUSE-CRON QUICKLIST-PACKED-THRESHOLD REPLYBUFFER SET-ACTIVE-EXPIRE"
                  + " SET-DISABLE-DENY-SCRIPTS SLEEP STRINGMATCH-LEN")
              .split(" "));

  private ServerCommands() {}

  static Plan role(RespSession session, Place place, byte[][] words) {
    return answer(
        RespValue.array(RespValue.Bulk.of("master"), new RespValue.Int(0), RespValue.array()));
  }

  static Plan time(RespSession session, Place place, byte[][] words) {
    long millis = session.server.millis();
    return answer(
        RespValue.array(
            RespValue.Bulk.of(Long.toString(millis / 1_000)),
            RespValue.Bulk.of(Long.toString(millis % 1_000 * 1_000))));
  }

  // ---------------------------------------------------------------- other datacenters

  static @Nullable Plan waits(RespSession session, Place place, byte[][] words) {
    long wanted = Numbers.integer(words[1]);
    return waits(session, place, wanted, words[2], n -> new RespValue.Int(n));
  }

  static @Nullable Plan waitsDurably(RespSession session, Place place, byte[][] words) {
    boolean isDurable = session.server.around.durable();
    long local = Numbers.integer(words[1], 0, 1, "ERR value is out of range, must be 0 or 1");
    long wanted = Numbers.integer(words[2], 0, Long.MAX_VALUE, RedisErrors.OUT_OF_RANGE);
    if (local > 0 && !isDurable) {
      throw new RedisException(
          "ERR WAITAOF cannot be used when numlocal is set but this datacenter keeps its data in"
              + " memory only");
    }
    return waits(
        session,
        place,
        wanted,
        words[3],
        n -> RespValue.array(new RespValue.Int(isDurable ? 1 : 0), new RespValue.Int(n)));
  }

  /** WAIT and WAITAOF. No command behind them is begun before they are answered. */
  private static @Nullable Plan waits(
      RespSession session,
      Place place,
      long wanted,
      byte[] timeout,
      IntFunction<RespValue> answer) {
    long millis = Numbers.integer(timeout, "ERR timeout is not an integer or out of range");
    if (millis < 0) {
      throw new RedisException("ERR timeout is negative");
    }
    Database selected = session.client.database();
    session.steps.behindAll(
        place,
        () -> {
          Set<String> names = session.steps.written();
          List<SpreadPlan.Written> written =
              (names.isEmpty() ? selected.homes() : session.server.keyspaces())
                  .stream()
                      .filter(k -> names.isEmpty() || names.contains(k.keyspace()))
                      .map(
                          k ->
                              new SpreadPlan.Written(
                                  k.keyspace(),
                                  k.partitioning().count(),
                                  i -> shown(session, k.keyspace(), i)))
                      .toList();
          return new SpreadPlan(written, wanted, millis, session.requests::nanos, answer).begin();
        });
    return null;
  }

  /**
   * Returns the updates that must have reached other datacenters besides those that were committed
   * here: none if all requests of the connection were done here, else those that other holders have
   * shown here.
   */
  private static VersionVector shown(RespSession session, String keyspace, int partition) {
    return session.server.holds(keyspace) && !session.requests.hasGoneElsewhere(keyspace)
        ? VersionVector.EMPTY
        : session.server.shown(keyspace, partition);
  }

  // ---------------------------------------------------------------- settings

  static Plan config(RespSession session, Place place, byte[][] words) {
    return switch (option(words[1])) {
      case "GET" -> get(session, words);
      case "SET" -> set(session, words);
      case "RESETSTAT" -> {
        checkArity(words, 2, 2);
        session.server.resetFigures();
        session.client.administered("config resetstat");
        yield ok();
      }
      case "REWRITE" -> throw new RedisException("ERR The server is running without a config file");
      default -> throw unknownPart(words, "GET", "RESETSTAT", "SET");
    };
  }

  private static Plan get(RespSession session, byte[][] words) {
    checkArity(words, 3, Integer.MAX_VALUE);
    List<RespValue> found = new ArrayList<>();
    session.server.settings.forEach(
        (name, value) -> {
          for (int i = 2; i < words.length; i++) {
            byte[] pattern =
                Glob.checked(
                    text(words[i]).toLowerCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8));
            if (Glob.matches(pattern, name.getBytes(StandardCharsets.UTF_8))) {
              found.add(RespValue.Bulk.of(name));
              found.add(RespValue.Bulk.of(value));
              return;
            }
          }
        });
    return answer(new RespValue.Pairs(found));
  }

  private static Plan set(RespSession session, byte[][] words) {
    if (words.length < 4 || words.length % 2 != 0) {
      throw RedisErrors.arity("config|set");
    }
    Map<String, String> settings = session.server.settings;
    Set<String> seen = new TreeSet<>();
    for (int i = 2; i < words.length; i += 2) {
      String name = text(words[i]).toLowerCase(Locale.ROOT);
      if (!settings.containsKey(name)) {
        throw new RedisException(
            "ERR Unknown option or number of arguments for CONFIG SET - '" + text(words[i]) + "'");
      }
      if (name.equals("requirepass") && words[i + 1].length > 0) {
        throw new RedisException(
            "ERR CONFIG SET failed (possibly related to argument 'requirepass') - users are those"
                + " of Osier: osier cli user creates and changes them");
      }
      String fault =
          !seen.add(name)
              ? "duplicate parameter"
              : words[i + 1].length > 1_024 ? "too long" : Settings.fault(name, text(words[i + 1]));
      if (fault != null) {
        throw new RedisException(
            "ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + fault);
      }
    }
    for (int i = 2; i < words.length; i += 2) {
      settings.put(text(words[i]).toLowerCase(Locale.ROOT), text(words[i + 1]));
    }
    session.client.administered(
        "config set " + String.join(" ", seen)); // without the values, which may be secret
    return ok();
  }

  // ---------------------------------------------------------------- what has nothing to tell

  static Plan latency(RespSession session, Place place, byte[][] words) {
    return switch (option(words[1])) {
      case "LATEST", "HISTORY" -> answer(RespValue.array());
      case "RESET" -> answer(0);
      case "HISTOGRAM" -> answer(RespValue.pairs());
      case "DOCTOR", "GRAPH" ->
          answer(RespValue.Bulk.of("'osier cli stat' shows how long requests take"));
      default ->
          throw unknownPart(words, "DOCTOR", "GRAPH", "HISTOGRAM", "HISTORY", "LATEST", "RESET");
    };
  }

  static Plan slowlog(RespSession session, Place place, byte[][] words) {
    return switch (option(words[1])) {
      case "GET" -> answer(RespValue.array());
      case "LEN" -> answer(0);
      case "RESET" -> ok();
      default -> throw unknownPart(words, "GET", "LEN", "RESET");
    };
  }

  static Plan function(RespSession session, Place place, byte[][] words) {
    return switch (option(words[1])) {
      case "FLUSH" -> ok();
      case "LIST" -> answer(RespValue.array());
      default ->
          throw new RedisException(
              "ERR 'function' is not served by Osier: scripts and functions are not; see"
                  + " docs/REDIS.md");
    };
  }

  static Plan debug(RespSession session, Place place, byte[][] words) {
    if (option(words[1]).equals("ERROR")) { // tests of clients use it to get errors
      checkArity(words, 3, 3);
      return answer(new RespValue.Err(text(words[2]).replaceAll("[\\r\\n]", " ")));
    }
    if (!DEBUG_PARTS.contains(option(words[1]))) {
      throw unknownPart(words, DEBUG_PARTS.toArray(String[]::new));
    }
    return ok();
  }

  // ---------------------------------------------------------------- a key

  static Plan memory(RespSession session, Place place, byte[][] words) {
    return switch (option(words[1])) {
      case "USAGE" -> {
        checkArity(words, 3, 5);
        Key key = Key.of(words[2]);
        yield Plans.read(
            session.scope(),
            key,
            new Query.Whole(),
            found ->
                found.exists()
                    ? new RespValue.Int(key.heapBytes() + MessageHeap.bytes(found))
                    : RespValue.NULL);
      }
      case "DOCTOR" ->
          answer(RespValue.Bulk.of("'osier cli stat' shows what the memory is used for"));
      case "PURGE" -> ok();
      case "STATS" -> answer(RespValue.pairs());
      default -> throw unknownPart(words, "DOCTOR", "PURGE", "STATS", "USAGE");
    };
  }

  static Plan object(RespSession session, Place place, byte[][] words) {
    String part = option(words[1]);
    return switch (part) {
      case "ENCODING", "REFCOUNT", "IDLETIME" -> {
        checkArity(words, 3, 3);
        yield Plans.read(
            session.scope(),
            Key.of(words[2]),
            new Query.Exists(),
            found ->
                !found.exists()
                    ? RespValue.NULL
                    : part.equals("ENCODING")
                        ? RespValue.Bulk.of(
                            Texts.isString(found.type().orElseThrow()) ? "raw" : "hashtable")
                        : new RespValue.Int(part.equals("REFCOUNT") ? 1 : 0));
      }
      case "FREQ" ->
          throw new RedisException(
              "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please"
                  + " note that when switching between policies at runtime LRU and LFU data will"
                  + " take some time to adjust.");
      default -> throw unknownPart(words, "ENCODING", "FREQ", "IDLETIME", "REFCOUNT");
    };
  }
}
