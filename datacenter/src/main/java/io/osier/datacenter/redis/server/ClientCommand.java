package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.text;
import static io.osier.datacenter.redis.command.Numbers.integer;
import static io.osier.datacenter.redis.command.Plan.answer;
import static io.osier.datacenter.redis.command.Plan.ok;
import static io.osier.datacenter.redis.command.RedisErrors.checkArity;
import static io.osier.datacenter.redis.command.RedisErrors.syntax;
import static io.osier.datacenter.redis.command.RedisErrors.unknownPart;
import static io.osier.datacenter.redis.command.Words.option;

import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.pubsub.Subscriber;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.datacenter.redis.tracking.TrackingOptions;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** CLIENT and its subcommands. Static, for any thread. */
final class ClientCommand {
  private static final String NO_ID = "ERR Invalid client ID";
  private static final String ID_TOO_SMALL = "ERR client-id should be greater than 0";

  /** Most bytes of a name that a client gives itself: it is kept while the connection lasts. */
  private static final int TEXT_BYTES_MAX = 1_024;

  private ClientCommand() {}

  static @Nullable Plan client(RespSession session, Place place, byte[][] words) {
    String part = option(words[1]);
    switch (part) {
      case "ID", "GETNAME", "INFO", "GETREDIR", "TRACKINGINFO" -> checkArity(words, 2, 2);
      case "SETNAME", "NO-EVICT", "NO-TOUCH", "REPLY", "CACHING" -> checkArity(words, 3, 3);
      case "SETINFO" -> checkArity(words, 4, 4);
      case "TRACKING" -> checkArity(words, 3, Integer.MAX_VALUE);
      default -> {}
    }
    return switch (part) {
      case "ID" -> answer(session.client.id);
      case "GETNAME" ->
          answer(
              session.client.name.isEmpty()
                  ? RespValue.NULL
                  : RespValue.Bulk.of(session.client.name));
      case "SETNAME" -> {
        session.client.name = checkName(words[2]);
        yield ok();
      }
      case "SETINFO" -> setInfo(session, words);
      case "INFO" -> answer(RespValue.Bulk.of(line(session) + "\n"));
      case "LIST" -> list(session, words);
      case "KILL" -> kill(session, place, words);
      case "NO-EVICT", "NO-TOUCH" -> {
        if (!Set.of("ON", "OFF").contains(option(words[2]))) {
          throw syntax();
        }
        yield ok();
      }
      case "REPLY" -> reply(session, place, words);
      case "TRACKING" -> tracking(session, place, words);
      case "CACHING" -> {
        session.caches.caching(option(words[2]));
        yield ok();
      }
      case "GETREDIR" -> answer(session.caches.redirect());
      case "TRACKINGINFO" -> answer(session.caches.info());
      default ->
          throw unknownPart(
              words,
              "CACHING",
              "GETNAME",
              "GETREDIR",
              "ID",
              "INFO",
              "KILL",
              "LIST",
              "NO-EVICT",
              "NO-TOUCH",
              "REPLY",
              "SETINFO",
              "SETNAME",
              "TRACKING",
              "TRACKINGINFO");
    };
  }

  /**
   * Reads a client's name, which CLIENT LIST shows in a line.
   *
   * @throws RedisException if it is too long or has other characters than visible ASCII
   */
  static String checkName(byte[] word) {
    checkText(word, "Client names cannot contain spaces, newlines or special characters.");
    return text(word);
  }

  private static void checkText(byte[] word, String error) {
    if (word.length > TEXT_BYTES_MAX) {
      throw new RedisException(
          "ERR what a client says of itself has at most "
              + TEXT_BYTES_MAX
              + " bytes, not "
              + word.length);
    }
    for (byte b : word) {
      if (b < '!' || b > '~') {
        throw new RedisException("ERR " + error);
      }
    }
  }

  private static Plan setInfo(RespSession session, byte[][] words) {
    String what = option(words[2]);
    if (!Set.of("LIB-NAME", "LIB-VER").contains(what)) {
      throw new RedisException("ERR Unrecognized option '" + text(words[2]) + "'");
    }
    checkText(words[3], text(words[2]) + " cannot contain spaces, newlines or special characters.");
    if (what.equals("LIB-NAME")) {
      session.client.library = text(words[3]);
    } else {
      session.client.libraryVersion = text(words[3]);
    }
    return ok();
  }

  private static Plan reply(RespSession session, Place place, byte[][] words) {
    String word = option(words[2]);
    if (!Set.of("ON", "OFF", "SKIP").contains(word)) {
      throw syntax();
    }
    session.setReplies(place, RespSession.Replies.valueOf(word));
    return ok();
  }

  private static @Nullable Plan tracking(RespSession session, Place place, byte[][] words) {
    TrackingOptions options = TrackingOptions.parse(words);
    switch (option(words[2])) {
      case "ON" -> session.caches.track(place, options, redirect(session, options.redirect()));
      case "OFF" -> {
        session.caches.trackNothing();
        return ok();
      }
      default -> throw syntax();
    }
    return null;
  }

  /** Returns the caches of the connection that is to hear of changes. */
  private static Caches redirect(RespSession session, long id) {
    RespSession to = id == 0 ? session : session.all.get(id);
    if (to == null) {
      throw Caches.noClient();
    }
    return to.caches;
  }

  private static Plan list(RespSession session, byte[][] words) {
    session.client.checkAdmin("client|list");
    Predicate<RespSession> shown = s -> true;
    if (words.length > 2 && option(words[2]).equals("ID") && words.length > 3) {
      Set<Long> ids = new HashSet<>();
      for (int i = 3; i < words.length; i++) {
        ids.add(integer(words[i], NO_ID));
      }
      shown = s -> ids.contains(s.client.id);
    } else if (words.length == 4 && option(words[2]).equals("TYPE")) {
      shown = ofType(words[3]);
    } else if (words.length > 2) {
      throw syntax();
    }
    return answer(
        RespValue.Bulk.of(
            session.all.values().stream()
                .filter(shown)
                .sorted(Comparator.comparingLong(s -> s.client.id))
                .map(s -> line(s) + "\n")
                .collect(Collectors.joining())));
  }

  private static Predicate<RespSession> ofType(byte[] type) {
    return switch (option(type)) {
      case "NORMAL" -> s -> !isSubscriber(s);
      case "PUBSUB" -> ClientCommand::isSubscriber;
      case "MASTER", "REPLICA", "SLAVE" -> s -> false;
      default -> throw new RedisException("ERR Unknown client type '" + text(type) + "'");
    };
  }

  private static boolean isSubscriber(RespSession of) {
    Subscriber subscriber = of.subscriptions.subscriber();
    return subscriber.channels() + subscriber.patterns() > 0;
  }

  private static Plan kill(RespSession session, Place place, byte[][] words) {
    session.client.checkAdmin("client|kill");
    checkArity(words, 3, Integer.MAX_VALUE);
    if (words.length == 3) {
      String address = text(words[2]);
      if (kill(session, place, s -> s.client.address().equals(address)) == 0) {
        throw new RedisException("ERR No such client");
      }
      return ok();
    }
    Predicate<RespSession> killed = s -> true;
    boolean skipsThis = true;
    for (int i = 2; i + 1 < words.length; i += 2) {
      String value = text(words[i + 1]);
      switch (option(words[i])) {
        case "ID" -> {
          long id = integer(words[i + 1], ID_TOO_SMALL);
          if (id <= 0) {
            throw new RedisException(ID_TOO_SMALL);
          }
          killed = killed.and(s -> s.client.id == id);
        }
        case "ADDR" -> killed = killed.and(s -> s.client.address().equals(value));
        case "LADDR" -> killed = killed.and(s -> s.client.localAddress().equals(value));
        case "USER" -> {
          if (session.requests.access().users().find(value).isEmpty()) {
            throw new RedisException("ERR No such user '" + value + "'");
          }
          killed = killed.and(s -> s.client.user.equals(value));
        }
        case "TYPE" -> {
          killed = killed.and(ofType(words[i + 1]));
        }
        case "SKIPME" -> {
          String yes = option(words[i + 1]);
          if (!Set.of("YES", "NO").contains(yes)) {
            throw syntax();
          }
          skipsThis = yes.equals("YES");
        }
        default -> throw syntax();
      }
    }
    if (words.length % 2 != 0) {
      throw syntax();
    }
    boolean spared = skipsThis;
    return answer(kill(session, place, killed.and(s -> s != session || !spared)));
  }

  private static int kill(RespSession session, Place place, Predicate<RespSession> killed) {
    List<RespSession> all = session.all.values().stream().filter(killed).toList();
    for (RespSession each : all) {
      if (each == session) {
        session.connection.endBehind(place); // after the answer is sent
      } else {
        each.kill();
      }
      session.client.administered(
          "client kill id="
              + each.client.id
              + " addr="
              + each.client.address()
              + (each.client.user.isEmpty() ? "" : " user=" + each.client.user));
    }
    return all.size();
  }

  private static String line(RespSession of) {
    long now = of.server.millis();
    int channels = of.subscriptions.subscriber().channels();
    int patterns = of.subscriptions.subscriber().patterns();
    return String.format(
        Locale.ROOT,
        "id=%d addr=%s laddr=%s fd=-1 name=%s age=%d idle=%d flags=%s%s db=%d sub=%d psub=%d ssub=0"
            + " multi=%d watch=%d qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0"
            + " omem=%d tot-mem=0 events=r cmd=%s user=%s redir=%d resp=%d lib-name=%s lib-ver=%s",
        of.client.id,
        of.client.address(),
        of.client.localAddress(),
        of.client.name,
        Math.max(0, now - of.client.sinceMillis) / 1000,
        Math.max(0, now - of.client.lastMillis) / 1000,
        of.transaction.queued() >= 0 ? "x" : isSubscriber(of) ? "P" : "N",
        of.caches.flags(),
        of.client.database,
        channels,
        patterns,
        of.transaction.queued(),
        of.transaction.watched(),
        of.waitingBytes(),
        of.client.lastCommand.toLowerCase(Locale.ROOT),
        of.client.user,
        of.caches.redirect(),
        of.client.resp3 ? 3 : 2,
        of.client.library,
        of.client.libraryVersion);
  }
}
