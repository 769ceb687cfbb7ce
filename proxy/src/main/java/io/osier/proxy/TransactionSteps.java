package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.util.concurrent.CompletableFuture;

/** Brings the steps of transactions to where they live. Thread-safe. */
final class TransactionSteps {
  private final OsierClient client;
  private final Past past;
  private final ReadCache cache;

  TransactionSteps(OsierClient client, Past past, ReadCache cache) {
    this.client = client;
    this.past = past;
    this.cache = cache;
  }

  /** Does a further step of a transaction, where it lives. */
  CompletableFuture<Reply.Transacted> step(String keyspace, Home home, Request.Transact request) {
    boolean commits = request.end() == Request.End.COMMIT;
    long deadline = System.nanoTime() + client.settings().timeout().toNanos();
    CompletableFuture<Reply> result = new CompletableFuture<>();
    Slice slice;
    synchronized (past) {
      slice = past.slice(keyspace, 0);
      if (commits) {
        slice.writesUnderWay++;
      }
    }
    repeat(home, request, commits, false, deadline, result);
    return result.handle(
        (reply, error) -> {
          if (commits) {
            synchronized (past) {
              slice.writesUnderWay--;
            }
            cache.clear(); // which objects it changed is known there
          }
          if (error != null) {
            throw Calls.asOsier(error, commits);
          }
          return switch (reply) {
            case Reply.Transacted t -> {
              if (commits) {
                synchronized (past) {
                  slice.saw(t.clock());
                  if (!past.isAt(home.replica())) {
                    past.sawStranger();
                  }
                }
              }
              yield t;
            }
            case Reply.Failure f -> {
              client.settings().metrics().failed(home.dc(), f.code());
              throw new OsierException(f.code(), f.message());
            }
            default -> throw Calls.unexpected(reply);
          };
        });
  }

  /**
   * Sends a step, again and again while its answer is lost, to the one process that knows the
   * transaction.
   *
   * @param sent whether it may have arrived there already
   */
  void repeat(
      Home home,
      Request request,
      boolean update,
      boolean sent,
      long deadlineNanos,
      CompletableFuture<Reply> result) {
    long left = (deadlineNanos - System.nanoTime()) / 1_000_000;
    Link to = home.connection();
    ReplicaId there = to.replica();
    if (left <= 0 || (to.isUp() && !home.replica().equals(there))) {
      ErrorCode code = left <= 0 ? ErrorCode.TIMEOUT : ErrorCode.UNAVAILABLE;
      String message =
          left <= 0
              ? home.dc() + " did not answer the transaction in time"
              : home.dc() + " was restarted without the transaction: it is now " + there;
      result.completeExceptionally(
          update && sent
              ? new OutcomeUnknownException(code, message)
              : new OsierException(code, message));
      return;
    }
    if (!to.isUp()) {
      client.later(
          () -> repeat(home, request, update, sent, deadlineNanos, result),
          Session.RETRY_PAUSE_MILLIS);
      return;
    }
    to.send(request, Math.max(1, left))
        .whenComplete(
            (reply, error) -> {
              if (error == null) {
                result.complete(reply);
                return;
              }
              boolean lost =
                  error instanceof Connection.LostException l && l.code == ErrorCode.UNAVAILABLE;
              boolean arrived = sent || (error instanceof Connection.LostException l && l.sent);
              if (lost) {
                client.later(
                    () -> repeat(home, request, update, arrived, deadlineNanos, result),
                    Session.RETRY_PAUSE_MILLIS);
              } else {
                result.completeExceptionally(Calls.asOsier(error, update && arrived));
              }
            });
  }
}
