package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.shown;

import io.osier.core.OsierException;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.NotServed;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Trait;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.datacenter.redis.transaction.Snapshot;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins the commands of a connection: finds each command in the table, checks that it may be done
 * now, and has the session or {@link Steps} do it. A state of the session that changes what all
 * commands do belongs here. Used by the channel's loop only.
 */
final class Dispatcher {
  private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);

  private final RespSession session;
  private final Answers answers;
  private final Steps steps;

  Dispatcher(RespSession session, Answers answers, Steps steps) {
    this.session = session;
    this.answers = answers;
    this.steps = steps;
  }

  /** Begins a command, or answers its error. */
  void command(byte[][] words) {
    Place place = answers.add(session.client.resp3, session.takeSilence());
    session.client.count();
    CommandTable.Entry entry = session.table.find(words[0]);
    try {
      String error = error(entry, words);
      if (entry == null || error != null) {
        RespValue.Err wrong = new RespValue.Err(String.valueOf(error));
        answers.fill(place, TransactionCommands.refused(session, entry, wrong));
        return;
      }
      session.client.lastCommand = entry.command().name();
      Snapshot snapshot = session.transaction.snapshot();
      snapshot.check(entry.command());
      if (snapshot.takes(entry.command())) {
        Plan step = snapshot.within(entry.command().does().plan(session.scope(), words));
        steps.follow(place, step, false, false, bytes(words));
        return;
      }
      if (entry.has(RedisCommand.Flag.READONLY) && !session.transaction.isOpen()) {
        session.caches.willRead(() -> entry.command().keys().of(words));
      }
      Plan plan =
          session.transaction.isOpen()
              ? TransactionCommands.within(session, place, entry, words)
              : entry.plan(session, place, words);
      if (plan != null) {
        steps.follow(
            place, plan, entry.command().has(Trait.ONCE), entry.action() == null, bytes(words));
      }
      if (!session.transaction.isOpen() && !entry.command().name().equals("CLIENT")) {
        session.caches.endCaching(); // CLIENT CACHING was said of this command alone
      }
    } catch (RedisException | OsierException e) {
      answers.fill(place, RedisErrors.of(e));
    } catch (RuntimeException e) {
      LOG.error("internal error in {} of client {}", shown(words[0]), session.client.address(), e);
      answers.fill(place, RedisErrors.of(e));
    }
  }

  private static int bytes(byte[][] words) {
    int bytes = 0; // no overflow: a command's length is limited
    for (byte[] word : words) {
      bytes += word.length;
    }
    return bytes;
  }

  /** Returns why a command is not begun; null if it is. */
  private @Nullable String error(CommandTable.@Nullable Entry entry, byte[][] words) {
    if (entry == null) {
      String not = NotServed.error(words[0]);
      return not == null ? unknown(words) : not;
    }
    if (!entry.fits(words.length)) {
      return RedisErrors.arity(entry.command().name()).getMessage();
    }
    if (!session.requests.isWelcome() && !entry.has(RedisCommand.Flag.NO_AUTH)) {
      session.begin(); // the default user may have been created since
      if (!session.requests.isWelcome()) {
        return session.requests.access().isWaiting()
            ? "LOADING the datacenter has just started and does not know its users yet"
            : "NOAUTH Authentication required.";
      }
    }
    if (session.subscriptions.restrict() && !entry.command().has(Trait.SUBSCRIBED)) {
      return "ERR Can't execute '"
          + name(entry).toLowerCase(Locale.ROOT)
          + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this"
          + " context";
    }
    return entry.has(RedisCommand.Flag.ADMIN)
        ? session.client.adminError(entry.command().name())
        : null;
  }

  private static String name(CommandTable.Entry entry) {
    return entry.command().name();
  }

  private static String unknown(byte[][] words) {
    StringBuilder text = new StringBuilder("ERR unknown command '");
    text.append(shown(words[0])).append("', with args beginning with: ");
    int shown = 0;
    for (int i = 1; i < words.length && shown < RespDecoder.SHOWN_MAX; i++) {
      String word = shown(words[i]);
      text.append('\'').append(word).append("' ");
      shown += word.length() + 3;
    }
    return text.toString();
  }
}
