package io.osier.proxy.transaction;

import io.osier.core.OsierException;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.Keyspace;
import io.osier.proxy.TransactionOptions;
import io.osier.proxy.call.ArgumentChecks;
import io.osier.proxy.call.Conversion;
import io.osier.proxy.session.SessionCore;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** Begins a session's transactions. Thread-safe. */
public final class Transactions {
  private final SessionCore session;
  private final StepDispatcher steps;

  public Transactions(SessionCore session) {
    this.session = session;
    this.steps = new StepDispatcher(session.client(), session.past());
  }

  private TransactionId newId() {
    UUID uuid = session.client().timers().newId();
    return new TransactionId(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
  }

  /** Begins a transaction; completes with the access to its objects. */
  public CompletableFuture<TransactionAccess> begin(String keyspace, TransactionOptions options) {
    TransactionId id = newId();
    TransactCall call =
        new TransactCall(session, keyspace, id, options, List.of(), List.of(), Request.End.OPEN);
    return call.start()
        .thenApply(
            reply ->
                new TransactionAccess(
                    session.client().settings().values(),
                    new TransactionQueue(steps, keyspace, id, call.home(), reply.clock())));
  }

  /** Does a whole transaction in one request. */
  public CompletableFuture<Reply.Transacted> together(
      String keyspace, List<Keyspace.Get> reads, List<Keyspace.Change> changes) {
    OsierException wrong = ArgumentChecks.step(reads, changes);
    if (wrong != null) {
      return CompletableFuture.failedFuture(wrong);
    }
    TransactCall call =
        new TransactCall(
            session,
            keyspace,
            newId(),
            TransactionOptions.DEFAULT,
            changes.stream().map(Conversion::sent).toList(),
            reads.stream().map(Conversion::sent).toList(),
            Request.End.COMMIT);
    return call.start();
  }
}
