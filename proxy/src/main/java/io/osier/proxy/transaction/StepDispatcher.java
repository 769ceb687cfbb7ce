package io.osier.proxy.transaction;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.proxy.Connection;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.call.Coordinator;
import io.osier.proxy.call.DatacenterQueries;
import io.osier.proxy.call.RetryPolicy;
import io.osier.proxy.call.StepSender;
import io.osier.proxy.client.CallLimiter;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.KeyspaceClocks;
import io.osier.proxy.session.PartitionClock;
import io.osier.proxy.session.SessionContext;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sends the steps of transactions to their coordinators. Thread-safe. */
public final class StepDispatcher {
  private final ClientCore client;
  private final SessionContext past;

  StepDispatcher(ClientCore client, SessionContext past) {
    this.client = client;
    this.past = past;
  }

  /**
   * Counts a further step as a call under way; blocks the calling thread while the client is at its
   * limit of calls.
   *
   * @return null if the step may begin: {@link #leave} must follow; otherwise the error
   */
  @Nullable OsierException enter() {
    if (client.isClosing()) {
      return client.unavailable();
    }
    CallLimiter limiter = client.limiter();
    return limiter.enterAtOnce() ? null : limiter.enter(client.settings().timeout().toNanos());
  }

  /** Returns whether the client takes no further calls. */
  boolean isClosing() {
    return client.isClosing();
  }

  /** Ends the counting of a step as a call under way. */
  void leave() {
    client.limiter().leave();
  }

  /**
   * Asks a transaction's coordinator for the present and former objects of a range; tries again
   * while the connection is lost.
   */
  CompletableFuture<Reply.Page> known(Coordinator home, ScanRequest scan) {
    CompletableFuture<Reply.Page> result = new CompletableFuture<>();
    long deadline = client.timers().nanoTime() + client.settings().timeout().toNanos();
    known(home, scan, deadline, result);
    return CallFuture.of(result, Calls::error);
  }

  private void known(
      Coordinator home, ScanRequest scan, long deadline, CompletableFuture<Reply.Page> result) {
    Connection to = home.connection();
    long left = (deadline - client.timers().nanoTime()) / 1_000_000;
    if (result.isDone()) {
      return; // given up
    }
    if (left <= 0 || client.isClosed()) {
      result.completeExceptionally(
          OsierException.of(
              ErrorCode.UNAVAILABLE, home.dc() + ", where the snapshot is, cannot be reached"));
    } else if (!to.isUp()) {
      client
          .timers()
          .later(
              () -> known(home, scan, deadline, result), Math.min(left, RetryPolicy.PAUSE_MILLIS));
    } else if (!home.replica().equals(to.replica())) {
      result.completeExceptionally(
          OsierException.of(
              ErrorCode.TRANSACTION_ENDED,
              home.dc()
                  + " was restarted, and the transaction with its snapshot is gone: it is now "
                  + to.replica()));
    } else {
      CompletableFuture<Reply.Page> asked = DatacenterQueries.page(to, scan, left);
      result.whenComplete((page, error) -> asked.cancel(false)); // no effect after an answer
      asked.whenComplete(
          (page, error) -> {
            if (error == null) {
              result.complete(page);
              return;
            }
            OsierException why = Calls.asOsier(error, false);
            if (why.code() == ErrorCode.UNAVAILABLE && !to.isUp()) {
              known(home, scan, deadline, result);
            } else {
              result.completeExceptionally(why);
            }
          });
    }
  }

  /**
   * Sends a further step of a transaction to its coordinator. Fails with {@link
   * OutcomeUnknownException} if the step may have been done, even if it only reads.
   *
   * @param snapshot the transaction's snapshot
   * @param made is given the step's sender before it starts
   */
  CompletableFuture<Reply.Transacted> step(
      String keyspace,
      Coordinator home,
      VersionVector snapshot,
      Request.Transact request,
      Consumer<StepSender> made) {
    boolean commits = request.end() == Request.End.COMMIT;
    long deadline = client.timers().nanoTime() + client.settings().timeout().toNanos();
    KeyspaceClocks clocks;
    PartitionClock clock;
    synchronized (past) {
      clocks = past.clocks(keyspace);
      clock = clocks.get(0);
      if (commits) {
        clock.writesUnderWay++;
      }
    }
    ReplicaId at = HolderTerms.latest(snapshot, home.replica());
    Request.Repeat again = new Request.Repeat(at, snapshot.get(at), request);
    StepSender sender = new StepSender(client, home, again, deadline);
    made.accept(sender);
    return sender
        .start()
        .handle(
            (reply, error) -> {
              if (commits) {
                synchronized (past) {
                  clock.writesUnderWay--;
                }
              }
              if (error != null) {
                throw Calls.asOsier(error, commits);
              }
              return switch (reply) {
                case Reply.Transacted t -> {
                  if (commits) {
                    synchronized (past) {
                      clock.saw(t.clock());
                      if (!clocks.isAt(home.replica())) {
                        clocks.sawStranger();
                      }
                    }
                  }
                  yield t;
                }
                case Reply.Failure f -> {
                  client.settings().metrics().failed(home.dc(), f.code());
                  throw Calls.failed(f, commits);
                }
                default -> throw Calls.unexpected(reply);
              };
            });
  }
}
