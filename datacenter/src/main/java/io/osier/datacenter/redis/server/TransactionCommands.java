package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.command.Plan.answer;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.datacenter.frontend.StepRights;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.datacenter.redis.transaction.Queued;
import io.osier.datacenter.redis.transaction.Transaction;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.Arrays;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** MULTI to EXEC, and what other commands do in between; OSIER.BEGIN. Static, for any thread. */
final class TransactionCommands {
  /** How long a transaction of several steps lasts by default, in seconds. */
  private static final int SECONDS = 60;

  private TransactionCommands() {}

  static Plan begin(RespSession session, byte[][] words) {
    RedisErrors.checkArity(words, 1, 2);
    int most = Request.TRANSACTION_LIMIT_MILLIS_MAX / 1_000;
    long seconds =
        words.length == 1
            ? SECONDS
            : Numbers.integer(words[1], 1, most, "ERR a transaction lasts 1 to " + most + " s");
    UUID drawn = UUID.randomUUID();
    TransactionId id =
        new TransactionId(drawn.getMostSignificantBits(), drawn.getLeastSignificantBits());
    return session
        .transaction
        .snapshot()
        .begin(session.client.keyspace(), id, (int) (seconds * 1_000));
  }

  static Plan watch(RespSession session, byte[][] words) {
    return session.transaction.watch(
        session.scope(), Arrays.stream(words).skip(1).map(Key::of).toList());
  }

  static Plan exec(RespSession session) {
    Transaction transaction = session.transaction;
    boolean holds = transaction.holds();
    if (transaction.isOpen()) {
      try {
        session.caches.willRead(transaction::readWords);
      } catch (RedisException | OsierException e) {
        throw new RedisException(discarded(transaction, RedisErrors.of(e)).text());
      }
    }
    StepRights rights = session.requests.stepRights();
    Plan plan = transaction.exec(session::scope, rights);
    if (!(plan instanceof Plan.Ask ask)) {
      return plan;
    }
    if (holds) {
      session.steps.hold();
    }
    return new Plan.Ask(
        ask.requests(),
        replies -> {
          session.requests.noteMissing(rights);
          if (holds) {
            session.connection.goOn();
          }
          return ask.then().apply(replies);
        });
  }

  /** Does or queues a command between MULTI and EXEC. */
  static @Nullable Plan within(
      RespSession session, Place place, CommandTable.Entry entry, byte[][] words) {
    Transaction transaction = session.transaction;
    return switch (entry.within()) {
      case DONE -> entry.plan(session, place, words);
      case REFUSED -> {
        transaction.spoil();
        throw new RedisException(
            "ERR Command not allowed inside a transaction: '"
                + name(entry)
                + "'; see docs/REDIS.md");
      }
      case QUEUED -> {
        try {
          yield answer(transaction.queue(session.scope(), queued(session, place, entry, words)));
        } catch (RedisException | OsierException e) {
          transaction.spoil();
          throw e;
        }
      }
    };
  }

  private static Queued queued(
      RespSession session, Place place, CommandTable.Entry entry, byte[][] words) {
    CommandTable.Action action = entry.action();
    if (action == null) {
      return new Queued(entry.command(), words, null);
    }
    if (entry.command().name().equals("SELECT")
        && ConnectionCommands.database(words[1]) != session.client.database) {
      throw new RedisException("ERR a transaction is of one database: SELECT it before MULTI");
    }
    if (entry.command().name().equals("PUBLISH")) {
      PubSubCommands.checkPublish(session, words);
      return new Queued(
          entry.command(),
          words,
          () -> {
            PubSubCommands.checkPublish(session, words); // rights may have been taken away since
            return PubSubCommands.published(session, words);
          });
    }
    return new Queued(
        entry.command(),
        words,
        () ->
            action.run(session, place, words) instanceof Plan.Answer answer
                ? answer.value()
                : new RespValue.Err("ERR '" + name(entry) + "' cannot be done by EXEC"));
  }

  private static String name(CommandTable.Entry entry) {
    return entry.command().name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns the answer to a command that is not begun; between MULTI and EXEC it spoils the
   * transaction.
   */
  static RespValue refused(
      RespSession session, CommandTable.@Nullable Entry entry, RespValue.Err error) {
    Transaction transaction = session.transaction;
    if (transaction.isOpen() && entry != null && entry.command().name().equals("EXEC")) {
      return discarded(transaction, error);
    }
    transaction.spoil();
    return error;
  }

  /** Forgets what is watched and queued; returns the answer to EXEC, of which nothing was done. */
  private static RespValue.Err discarded(Transaction transaction, RespValue.Err why) {
    transaction.close();
    return new RespValue.Err(
        "EXECABORT Transaction discarded because of: " + why.text().replaceFirst("^ERR ", ""));
  }
}
