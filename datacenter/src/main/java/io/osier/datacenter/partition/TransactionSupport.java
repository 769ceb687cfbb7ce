package io.osier.datacenter.partition;

import io.osier.core.Budget;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Now;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Optional;

/**
 * What a keyspace knows of transactions: a {@code causal} one has them ({@link Transactions}), a
 * {@code session} one refuses them.
 */
interface TransactionSupport {
  /** Those of a keyspace that has none. */
  static TransactionSupport none(String keyspace) {
    return new TransactionSupport() {
      private OsierException refusal() {
        return new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            "'"
                + keyspace
                + "' is a session keyspace; transactions need one with consistency = causal");
      }

      @Override
      public Effects.ToClient step(long ticket, Request.Transact request, Now now) {
        throw refusal();
      }

      @Override
      public Effects.ToClient repeat(long ticket, Request.Repeat request, Now now) {
        throw refusal();
      }

      @Override
      public List<ObjectId> dropped(Optional<Key> from, Optional<Key> to, int limit) {
        return List.of();
      }

      @Override
      public void expire(Now now) {}

      @Override
      public long nextNanos() {
        return Long.MAX_VALUE;
      }

      @Override
      public int openCount() {
        return 0;
      }

      @Override
      public List<Budget.Usage> memory() {
        return List.of();
      }
    };
  }

  /**
   * Does a step.
   *
   * @param ticket of the command
   * @return the answer to it
   * @throws OsierException if it cannot be done; then nothing of it was
   */
  Effects.ToClient step(long ticket, Request.Transact request, Now now);

  /**
   * Does a step whose answer was lost, unless it is done already or may have been.
   *
   * @param ticket of the command
   * @return the answer to it
   * @throws OsierException if it cannot be done, or it cannot be told whether it was; nothing of it
   *     was done now
   */
  Effects.ToClient repeat(long ticket, Request.Repeat request, Now now);

  /**
   * Objects in their order that are dropped, and of whose keys an open snapshot may show something.
   *
   * @param from the first key, inclusive; empty for the beginning
   * @param to the key before which they end; empty for the end
   * @param limit at most so many
   */
  List<ObjectId> dropped(Optional<Key> from, Optional<Key> to, int limit);

  /**
   * From now on so many bytes may be taken.
   *
   * @param openMax by open transactions
   * @param endedMax by what is remembered of ended ones
   */
  default void configure(long openMax, long endedMax) {}

  /** Aborts a transaction, if it is open: whoever asked for a step was told that it has ended. */
  default void untold(TransactionId transaction, int step) {}

  /** Aborts what is open for too long, or needs more of the past than there is room for. */
  void expire(Now now);

  /** When {@link #expire} is due; Long.MAX_VALUE if never. */
  long nextNanos();

  /** How many are open. */
  int openCount();

  /** What is used of its budgets. */
  List<Budget.Usage> memory();
}
