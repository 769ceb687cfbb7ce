package io.osier.datacenter.partition;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.datacenter.store.ObjectStore;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How the latest transactions ended, for steps that are sent again. Not thread-safe. */
final class EndedTransactions {
  /** What one takes in the heap besides the reply, about, in bytes. */
  private static final long PLACE_BYTES = 200;

  /**
   * How a transaction ended.
   *
   * @param lastStep the step that ended it; 0 for a commit of a former life
   * @param end whether that step was a commit or not
   * @param reply to that step, if it was done, without what was read
   * @param number the last commit number then
   */
  record Ended(
      String how, int lastStep, Request.End end, Optional<Reply.Transacted> reply, long number) {
    private long heapBytes() {
      return PLACE_BYTES + reply.map(MessageHeap::bytes).orElse(0L);
    }

    static Ended committed(int lastStep, VersionVector clock, Dot dot) {
      Reply.Transacted reply = new Reply.Transacted(clock, Optional.of(dot), List.of());
      return new Ended("committed", lastStep, Request.End.COMMIT, Optional.of(reply), dot.number());
    }
  }

  private final int max;
  private final boolean mayHaveForwarded;
  private final Budget budget;
  private final Map<TransactionId, Ended> ended = new LinkedHashMap<>();

  /** What was committed under a larger number is remembered. */
  private long forgottenThrough;

  /**
   * @param max how many are at most
   * @param mayHaveForwarded whether this datacenter may have been added to the holders: before, it
   *     forwarded transactions to others, and a restart makes it forget which
   * @param budget what they may take; when it is spent the oldest are forgotten
   */
  EndedTransactions(int max, boolean mayHaveForwarded, Budget budget) {
    this.max = max;
    this.mayHaveForwarded = mayHaveForwarded;
    this.budget = budget;
  }

  /**
   * Remembers the latest commits of a former life of the store.
   *
   * @param commits their last commit numbers, ascending
   * @param clock what is visible now
   */
  void recovered(Map<TransactionId, Long> commits, ReplicaId self, VersionVector clock) {
    commits.forEach(
        (id, number) -> {
          if (forgottenThrough == 0 && commits.size() >= ObjectStore.TRANSACTIONS_KEPT) {
            forgottenThrough = number - 1;
          }
          add(id, Ended.committed(0, clock, new Dot(self, number)));
        });
  }

  void add(TransactionId id, Ended how) {
    Ended before = ended.put(id, how);
    budget.take(how.heapBytes() - (before == null ? 0 : before.heapBytes()));
    while (ended.size() > max || (budget.isOver() && ended.size() > 1)) {
      Iterator<Ended> it = ended.values().iterator();
      Ended eldest = it.next();
      forgottenThrough = Math.max(forgottenThrough, eldest.number);
      it.remove();
      budget.give(eldest.heapBytes());
      budget.noteSpent();
    }
  }

  /** From now on so many bytes may be taken. */
  void setLimit(long bytes) {
    budget.setLimit(bytes);
  }

  Budget.Usage memory() {
    return budget.usage();
  }

  boolean contains(TransactionId id) {
    return ended.containsKey(id);
  }

  /**
   * Whether what ended after a commit number may be forgotten.
   *
   * @param after a commit number of this replica; 0 if the client knows none: then the step may
   *     have been sent before this datacenter held the keyspace
   */
  boolean mayHaveForgotten(long after) {
    return after < forgottenThrough || (after == 0 && mayHaveForwarded);
  }

  /**
   * The answer to a step of a transaction that has ended; empty if none has, as far as is known.
   *
   * @throws OsierException TRANSACTION_ENDED if it was not this step that ended it
   */
  Optional<Reply.Transacted> answer(Request.Transact request) {
    Ended before = ended.get(request.transaction());
    if (before == null) {
      return Optional.empty();
    }
    boolean same = request.step() == before.lastStep || before.lastStep == 0;
    if (same && before.reply.isPresent() && request.end() == before.end) {
      return before.reply;
    }
    throw new OsierException(
        ErrorCode.TRANSACTION_ENDED,
        "transaction " + request.transaction() + " was " + before.how + "; begin another one");
  }
}
