package io.osier.datacenter.redis.transaction;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Trait;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection's transaction of several steps on a snapshot: OSIER.BEGIN to OSIER.COMMIT. Its steps
 * are sent one after the other. Used by the connection's loop only.
 */
public final class Snapshot {
  /** The open transaction; null if there is none. */
  private @Nullable Open open;

  private record Open(String keyspace, TransactionId id, int lastStep) {}

  public Snapshot() {}

  /** Returns whether a transaction is open of which a command is a step. */
  public boolean takes(RedisCommand command) {
    return open != null && command.has(Trait.TRANSACTION);
  }

  /**
   * Checks that a command may be begun.
   *
   * @throws RedisException if a transaction is open and the command would not be part of it
   */
  public void check(RedisCommand command) {
    if (open != null && !command.has(Trait.TRANSACTION) && !command.has(Trait.ALWAYS)) {
      throw new RedisException(
          "ERR '"
              + command.name().toLowerCase(Locale.ROOT)
              + "' is no step of a transaction: before OSIER.COMMIT or OSIER.ABORT there are"
              + " OSIER.READ, OSIER.UPDATE and those of bounded counters");
    }
  }

  /**
   * OSIER.BEGIN.
   *
   * @param id a number that no other transaction has
   * @param limitMillis how long the transaction may last, in milliseconds
   */
  public Plan begin(String keyspace, TransactionId id, int limitMillis) {
    Open begun = new Open(keyspace, id, 0);
    return asked(
        begun,
        Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, limitMillis)),
        List.of(),
        List.of(),
        Request.End.OPEN,
        reply ->
            reply instanceof Reply.Failure failure
                ? new Plan.Answer(RedisErrors.of(failure))
                : new Plan.Answer(RespValue.OK));
  }

  /**
   * OSIER.COMMIT or OSIER.ABORT. A transaction whose commit fails stays open.
   *
   * @throws RedisException if none is open
   */
  public Plan end(Request.End how) {
    return asked(
        present(),
        Optional.empty(),
        List.of(),
        List.of(),
        how,
        reply ->
            reply instanceof Reply.Failure failure
                ? new Plan.Answer(
                    failure.code() == ErrorCode.NOT_ENOUGH_RIGHTS
                        ? new RespValue.Err("NORIGHTS nothing was done: " + failure.message())
                        : RedisErrors.of(failure))
                : new Plan.Answer(RespValue.OK));
  }

  /** Aborts the open transaction, if there is one, and goes on with {@code then}. */
  public Plan abandon(Supplier<Plan> then) {
    return open == null
        ? then.get()
        : asked(
            open, Optional.empty(), List.of(), List.of(), Request.End.ABORT, reply -> then.get());
  }

  private Open present() {
    Open now = open;
    if (now == null) {
      throw new RedisException("ERR no transaction is open: OSIER.BEGIN begins one");
    }
    return now;
  }

  /**
   * Turns a command's plan into steps of the transaction: one read or one update. An update that
   * depends on a reading has a step in front of it that reads: nobody else changes the snapshot.
   */
  public Plan within(Plan plan) {
    if (!(plan instanceof Plan.Ask ask)) {
      return plan;
    }
    return switch (ask.requests().getFirst()) {
      case Request.Read r ->
          step(List.of(), List.of(new Request.Fetch(r.key(), r.type(), r.query())), ask.then());
      case Request.Write w -> within(w, ask.then());
      default -> throw new IllegalStateException("no step: " + ask.requests());
    };
  }

  private Plan within(Request.Write w, Function<List<Reply>, Plan> then) {
    List<Request.Update> update = List.of(new Request.Update(w.key(), w.type(), w.operation()));
    Request.Condition condition = w.condition().orElse(null);
    Request.Ask asks = w.ask().orElse(null);
    if (condition == null && asks == null) {
      return step(update, List.of(), then);
    }
    Query query = condition == null ? requireNonNull(asks).query() : condition.asked();
    List<Request.Fetch> reads = List.of(new Request.Fetch(w.key(), Optional.of(w.type()), query));
    if (condition == null && !requireNonNull(asks).before()) {
      return step(update, reads, then);
    }
    return step(
        List.of(),
        reads,
        replies -> {
          if (!(replies.getFirst() instanceof Reply.Answer found)
              || (condition != null && !found.reading().filter(condition::holds).isPresent())) {
            return then.apply(replies);
          }
          return step(
              update,
              List.of(),
              then,
              condition == null ? () -> then.apply(replies) : Snapshot::ok);
        });
  }

  private static Plan ok() {
    return new Plan.Answer(RespValue.OK);
  }

  private Plan step(
      List<Request.Update> updates, List<Request.Fetch> reads, Function<List<Reply>, Plan> then) {
    return step(updates, reads, then, Snapshot::ok);
  }

  /**
   * Returns the plan of a step.
   *
   * @param then what follows from the reading, or from the failure
   * @param done what follows if nothing was read
   */
  private Plan step(
      List<Request.Update> updates,
      List<Request.Fetch> reads,
      Function<List<Reply>, Plan> then,
      Supplier<Plan> done) {
    return asked(
        present(),
        Optional.empty(),
        updates,
        reads,
        Request.End.OPEN,
        reply ->
            reply instanceof Reply.Transacted step
                ? step.answers().isEmpty()
                    ? done.get()
                    : then.apply(List.of(step.answers().getFirst()))
                : then.apply(List.of(reply)));
  }

  /**
   * Returns the plan of the next step. A step that fails was not done, and the next one has its
   * number.
   */
  private Plan asked(
      Open of,
      Optional<Request.Begin> begin,
      List<Request.Update> updates,
      List<Request.Fetch> reads,
      Request.End end,
      Function<Reply, Plan> then) {
    int number = of.lastStep + 1;
    Request.Transact step =
        new Request.Transact(of.keyspace, of.id, number, begin, updates, reads, end);
    return new Plan.Ask(
        List.of(step),
        replies -> {
          Reply reply = replies.getFirst();
          if (reply instanceof Reply.Failure failure) {
            if (failure.code() == ErrorCode.TRANSACTION_ENDED
                || failure.code() == ErrorCode.TRANSACTION_FORGOTTEN) {
              open = null;
            }
          } else {
            open = end == Request.End.OPEN ? new Open(of.keyspace, of.id, number) : null;
          }
          return then.apply(reply);
        });
  }

  /** Forgets the open transaction; it ends when its time is over. */
  void forget() {
    open = null;
  }
}
