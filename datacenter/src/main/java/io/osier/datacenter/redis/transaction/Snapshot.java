package io.osier.datacenter.redis.transaction;

import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A transaction of several steps on a snapshot, which a connection has open: OSIER.BEGIN to
 * OSIER.COMMIT. One step is asked after the other. Used by the connection's loop only.
 */
public final class Snapshot {
  /** What may be asked for while one is open, besides what ends it or the connection. */
  private static final Set<String> STEPS =
      Set.of(
          "OSIER.READ",
          "OSIER.UPDATE",
          "OSIER.BREAD",
          "OSIER.BCREATE",
          "OSIER.BINCR",
          "OSIER.BDECR");

  private static final Set<String> OTHERS =
      Set.of("OSIER.COMMIT", "OSIER.ABORT", "PING", "QUIT", "RESET");

  /** Null if none is open. */
  private @Nullable Open open;

  private record Open(String keyspace, TransactionId id, int lastStep) {}

  /** None is open. */
  public Snapshot() {}

  /** Whether a command is a step of the one that is open. */
  public boolean takes(String command) {
    return open != null && STEPS.contains(command);
  }

  /**
   * Looks whether a command may be begun.
   *
   * @throws RedisException if not, since it would not be part of the transaction
   */
  public void check(String command) {
    if (open != null && !STEPS.contains(command) && !OTHERS.contains(command)) {
      throw new RedisException(
          "ERR '"
              + command.toLowerCase(Locale.ROOT)
              + "' is no step of a transaction: before OSIER.COMMIT or OSIER.ABORT there are"
              + " OSIER.READ, OSIER.UPDATE and those of bounded counters");
    }
  }

  /**
   * OSIER.BEGIN.
   *
   * @param id of no other transaction
   * @param limitMillis how long it may be open
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
   * OSIER.COMMIT or OSIER.ABORT. What could not be committed is open yet.
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

  private Open present() {
    Open now = open;
    if (now == null) {
      throw new RedisException("ERR no transaction is open: OSIER.BEGIN begins one");
    }
    return now;
  }

  /** What a command asks for, as a step of the transaction: one read or one update. */
  public Plan within(Plan plan) {
    if (!(plan instanceof Plan.Ask ask)) {
      return plan;
    }
    return switch (ask.requests().getFirst()) {
      case Request.Read r ->
          step(List.of(), List.of(new Request.Fetch(r.key(), r.type(), r.query())), ask.then());
      case Request.Write w ->
          step(
              List.of(new Request.Update(w.key(), w.type(), w.operation())),
              w.ask().stream()
                  .map(a -> new Request.Fetch(w.key(), Optional.of(w.type()), a.query()))
                  .toList(),
              ask.then());
      default -> throw new IllegalStateException("no step: " + ask.requests());
    };
  }

  private Plan step(
      List<Request.Update> updates, List<Request.Fetch> reads, Function<List<Reply>, Plan> then) {
    return asked(
        present(),
        Optional.empty(),
        updates,
        reads,
        Request.End.OPEN,
        reply ->
            reply instanceof Reply.Transacted done
                ? done.answers().isEmpty()
                    ? new Plan.Answer(RespValue.OK)
                    : then.apply(List.of(done.answers().getFirst()))
                : then.apply(List.of(reply)));
  }

  /** Asks for the next step. One that fails was not done, and the next one has its number. */
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

  /** None is open here any more; one that was ends with its time. */
  void forget() {
    open = null;
  }
}
