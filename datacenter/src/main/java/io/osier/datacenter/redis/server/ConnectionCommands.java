package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.text;
import static io.osier.datacenter.redis.command.Numbers.integer;
import static io.osier.datacenter.redis.command.Plan.answer;
import static io.osier.datacenter.redis.command.Plan.ok;
import static io.osier.datacenter.redis.command.RedisErrors.checkArity;
import static io.osier.datacenter.redis.command.RedisErrors.syntax;
import static io.osier.datacenter.redis.command.Words.option;

import io.osier.datacenter.access.Users;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.SessionPlans;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.protocol.Request;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Commands about the connection itself. Static, for any thread. */
final class ConnectionCommands {
  /**
   * The version of Redis whose commands are served. Clients choose by it which commands they use.
   */
  static final String REDIS_VERSION = "7.4.0";

  /** How long OSIER.AFTER waits by default, in milliseconds. */
  private static final int AFTER_MILLIS = 10_000;

  private ConnectionCommands() {}

  static @Nullable Plan token(RespSession session, Place place, byte[][] words) {
    Database of = session.client.database();
    session.steps.behindAll(
        place,
        () -> SessionPlans.token(of.keyspaces(), of.partitioning().count(), session.server::shown));
    return null;
  }

  static @Nullable Plan after(RespSession session, Place place, byte[][] words) {
    checkArity(words, 2, 3);
    int millis =
        words.length == 2
            ? AFTER_MILLIS
            : (int)
                Numbers.integer(
                    words[2],
                    0,
                    Request.WAIT_MILLIS_MAX,
                    "ERR the time to wait is 0 to " + Request.WAIT_MILLIS_MAX + " milliseconds");
    Map<String, Integer> partitions = new TreeMap<>();
    session.server.keyspaces().forEach(k -> partitions.put(k.keyspace(), k.partitioning().count()));
    Plan plan = SessionPlans.after(text(words[1]), partitions, millis);
    session.steps.behindAll(place, () -> plan);
    return null;
  }

  static Plan select(RespSession session, Place place, byte[][] words) {
    session.select(database(words[1]));
    return ok();
  }

  static Plan quit(RespSession session, Place place, byte[][] words) {
    session.connection.endBehind(place);
    return ok();
  }

  static @Nullable Plan reset(RespSession session, Place place, byte[][] words) {
    session.reset(place);
    return null;
  }

  static Plan ping(RespSession session, Place place, byte[][] words) {
    checkArity(words, 1, 2);
    if (session.subscriptions.restrict()) {
      RespValue said = words.length == 2 ? new RespValue.Bulk(words[1]) : RespValue.Bulk.of("");
      return answer(RespValue.array(RespValue.Bulk.of("pong"), said));
    }
    return answer(words.length == 2 ? new RespValue.Bulk(words[1]) : new RespValue.Simple("PONG"));
  }

  /** Reads the number of a database. */
  static int database(byte[] word) {
    long number = integer(word, "ERR value is not an integer or out of range");
    if (number < 0 || number > Integer.MAX_VALUE) {
      throw new RedisException("ERR DB index is out of range");
    }
    return (int) number;
  }

  static @Nullable Plan auth(RespSession session, Place place, byte[][] words) {
    if (words.length > 3) {
      throw syntax();
    }
    Users users = session.requests.access().users();
    if (words.length == 2 && users.isOpen()) {
      throw new RedisException(
          "ERR AUTH <password> called without any password configured for the default user. Are"
              + " you sure your configuration is correct?");
    }
    String user = words.length == 3 ? text(words[1]) : Users.DEFAULT;
    session.login(place, user, words[words.length - 1], () -> RespValue.OK);
    return null;
  }

  static @Nullable Plan hello(RespSession session, Place place, byte[][] words) {
    boolean resp3 = session.client.resp3;
    byte @Nullable [] user = null;
    byte @Nullable [] password = null;
    @Nullable String name = null;
    if (words.length > 1) {
      long version = integer(words[1], "ERR Protocol version is not an integer or out of range");
      if (version != 2 && version != 3) {
        throw new RedisException("NOPROTO unsupported protocol version");
      }
      resp3 = version == 3;
    }
    for (int i = 2; i < words.length; i++) {
      if (option(words[i]).equals("AUTH") && i + 2 < words.length) {
        user = words[i + 1];
        password = words[i + 2];
        i += 2;
      } else if (option(words[i]).equals("SETNAME") && i + 1 < words.length) {
        name = ClientCommand.checkName(words[++i]);
      } else {
        throw new RedisException("ERR Syntax error in HELLO option '" + text(words[i]) + "'");
      }
    }
    boolean to3 = resp3;
    String called = name;
    if (user != null && password != null) {
      session.login(place, text(user), password, () -> welcome(session, place, to3, called));
      return null;
    }
    if (!session.requests.isWelcome()) {
      session.begin();
    }
    if (!session.requests.isWelcome()) {
      throw new RedisException(
          "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO"
              + " <proto> AUTH <user> <pass> option can be used to authenticate the client and"
              + " select the RESP protocol version at the same time");
    }
    return answer(welcome(session, place, to3, called));
  }

  private static RespValue welcome(
      RespSession session, Place place, boolean resp3, @Nullable String name) {
    session.setResp3(place, resp3);
    if (name != null) {
      session.client.name = name;
    }
    return RespValue.pairs(
        "server",
        "redis",
        "version",
        REDIS_VERSION,
        "proto",
        resp3 ? 3 : 2,
        "id",
        session.client.id,
        "mode",
        "standalone",
        "role",
        "master",
        "modules",
        RespValue.array());
  }
}
