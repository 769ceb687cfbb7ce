package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.future.Calls;
import io.osier.proxy.transaction.TransactionAccess;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * An open transaction of a {@code causal} keyspace. Its reads see one causally consistent snapshot,
 * always the same, and its own updates; its updates become visible with the commit, together, at
 * every datacenter. A commit never fails because of others' updates: those are merged.
 *
 * <p>A transaction stays at the datacenter where it began. After a lost connection it goes on as
 * soon as the client reaches the same process again; a commit whose answer was lost is sent again,
 * and not done twice. If that is not possible within the client's time limit, the commit's outcome
 * is unknown ({@link OutcomeUnknownException}).
 *
 * <p>Each read, and the commit, is a step: one request, which also carries the updates made before
 * it and reports their errors. Steps take place in the order of the calls. A step that fails has
 * done nothing, and the transaction may go on, unless the step's answer was lost: then the
 * transaction has ended, and nothing of it is done. If the datacenter could not do the step
 * (OVERLOADED, STORE_FULL, UNAVAILABLE, SHUTTING_DOWN, REFUSED_BY_PEERS, TIMEOUT), or the caller
 * gave it up before it was sent (CANCELLED), its updates are sent again with the next step; after
 * any other error they are dropped. A step that is given up after it was sent is still done, and
 * later steps wait for it; if it had updates, its error says that they stay in the transaction.
 * Thread-safe.
 */
public final class Transaction extends ObjectSpace implements AutoCloseable {
  private final TransactionAccess access;

  Transaction(TransactionAccess access) {
    super(access);
    this.access = access;
  }

  /** Returns the version vector of the transaction's snapshot. */
  public VersionVector clock() {
    return access.queue().snapshot();
  }

  /** Returns the datacenter where the transaction began. */
  public String datacenter() {
    return access.queue().home().dc();
  }

  /**
   * Updates an object with any operation.
   *
   * @return completes at once: the update is sent with the next read or the commit
   */
  public CompletableFuture<Void> update(Key key, CrdtType type, Operation operation) {
    return access.update(key, type, operation);
  }

  /**
   * Updates an object with any operation, and queries it as this transaction sees it.
   *
   * @return completes with the answer; the update is visible elsewhere with the commit
   */
  public CompletableFuture<Found> updateAsync(
      Key key, CrdtType type, Operation operation, Request.Ask ask) {
    return access.update(key, type, operation, ask, Function.identity());
  }

  /**
   * Updates an object with any operation, if a condition holds as this transaction sees it.
   *
   * @return completes with whether the condition held; otherwise the transaction is unchanged
   */
  public CompletableFuture<Boolean> updateIfAsync(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return access.updateIf(key, type, operation, condition);
  }

  /** Reads an object with any query. */
  public CompletableFuture<Found> readAsync(Key key, Optional<CrdtType> type, Query query) {
    return access.read(key, type, query, Function.identity());
  }

  /** Waits for {@link #readAsync}. */
  public Found read(Key key, Optional<CrdtType> type, Query query) {
    return Calls.join(readAsync(key, type, query));
  }

  /** Reads several objects in one request. */
  public CompletableFuture<List<Found>> readTogetherAsync(List<Keyspace.Get> reads) {
    return access.readTogether(reads);
  }

  /** Waits for {@link #readTogetherAsync}. */
  public List<Found> readTogether(List<Keyspace.Get> reads) {
    return Calls.join(readTogetherAsync(reads));
  }

  /**
   * Commits the transaction.
   *
   * @return a version vector that covers the transaction's updates
   * @throws OsierException if the commit was refused, or an update failed: nothing was done, and
   *     the transaction is still open. After FORBIDDEN it is aborted, and its reserved rights of
   *     bounded counters are free at once
   * @throws OutcomeUnknownException if no answer came: the transaction may or may not be committed
   */
  public VersionVector commit() {
    return Calls.join(commitAsync());
  }

  /** As {@link #commit}. */
  public CompletableFuture<VersionVector> commitAsync() {
    return access.step(List.of(), Request.End.COMMIT).thenApply(Reply.Transacted::clock);
  }

  /**
   * Aborts the transaction, so that none of its updates is ever visible. Does nothing if it has
   * ended.
   */
  public void abort() {
    try {
      Calls.join(abortAsync());
    } catch (OsierException e) {
      if (e.code() != ErrorCode.TRANSACTION_ENDED) {
        throw e;
      }
    }
  }

  /** As {@link #abort}, but fails with TRANSACTION_ENDED if the transaction has ended. */
  public CompletableFuture<Void> abortAsync() {
    return access.step(List.of(), Request.End.ABORT).thenApply(t -> null);
  }

  /** Aborts the transaction if it is still open, without waiting for the answer. */
  @Override
  public void close() {
    if (access.queue().ended() == null) {
      var unused = abortAsync();
    }
  }
}
