package io.osier.datacenter.partition;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.EndedTransactions.Ended;
import io.osier.datacenter.partition.history.SnapshotHistory;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The transactions of a {@code causal} partition: those that are open, each with its snapshot and
 * updates so far, and how the latest ones ended.
 *
 * <p>An update is tried on the snapshot when its step comes, so that the transaction's own reads
 * see it and its errors come at once; it is prepared for good when the transaction commits. Not
 * thread-safe.
 */
final class Transactions {
  private final TransactionHost host;
  private final SnapshotHistory former;
  private final Map<TransactionId, OpenTransaction> open = new LinkedHashMap<>();
  private final TransactionRoom room;
  private final EndedTransactions ended;
  private long nextDeadlineNanos = Long.MAX_VALUE;

  /**
   * @param commits transactions committed before the start, with their last commit numbers,
   *     ascending
   * @param room the heap that open transactions may take; when it is spent, updates are refused
   * @param ended remembers how transactions end
   */
  Transactions(
      TransactionHost host,
      SnapshotHistory former,
      Map<TransactionId, Long> commits,
      TransactionRoom room,
      EndedTransactions ended) {
    this.host = host;
    this.former = former;
    this.room = room;
    this.ended = ended;
    ended.recovered(commits, host.self(), host.clock());
  }

  /**
   * Does a step whose answer was lost, unless it is done already or may have been.
   *
   * @throws OsierException if it cannot be done, or if this partition cannot tell whether it was
   *     done; nothing was done now
   */
  Effects.ToClient repeat(long ticket, Request.Repeat request, Now now) {
    Request.Transact step = request.step();
    TransactionId id = step.transaction();
    boolean known = open.containsKey(id) || ended.contains(id);
    // A commit number that this partition never gave tells nothing.
    long after = request.known() <= host.committed() ? request.known() : 0;
    boolean isHere = request.to().equals(host.self());
    if (!isHere || (!known && ended.mayHaveForgotten(after))) {
      throw new OsierException(
          ErrorCode.TRANSACTION_FORGOTTEN,
          "transaction "
              + id
              + " is not open, and this datacenter no longer knows whether it was committed");
    }
    try {
      return step(ticket, step, now);
    } catch (OsierException e) {
      if (e.code() == ErrorCode.OVERLOADED || e.code() == ErrorCode.TRANSACTION_ENDED) {
        throw e;
      }
      // The first copy of the step may still arrive, and must not be done then: its sender gets an
      // answer now.
      OpenTransaction tx = open.get(id);
      if (tx != null) {
        end(tx);
      }
      String how = "refused (" + e.code() + ")";
      ended.add(id, new Ended(how, step.step(), step.end(), Optional.empty(), host.committed()));
      throw new OsierException(
          ErrorCode.TRANSACTION_ENDED,
          "transaction " + id + " has ended, and nothing of it was done: " + e.reason());
    }
  }

  /**
   * Does a step.
   *
   * @throws OsierException if it cannot be done; then nothing of it was done
   */
  Effects.ToClient step(long ticket, Request.Transact request, Now now) {
    TransactionId id = request.transaction();
    Optional<Reply.Transacted> before = ended.answer(request);
    if (before.isPresent()) {
      return new Effects.Answer(ticket, before.get());
    }
    OpenTransaction tx = open.get(id);
    boolean begins = tx == null;
    boolean again = tx != null && request.step() == tx.lastStep;
    if (tx == null) {
      tx = begin(request, now);
    } else if (again && tx.lastUpdates > 0) {
      return again(ticket, tx, request);
    } else if (!again && !isNext(request, tx)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "step "
              + (tx.lastStep + 1)
              + " of transaction "
              + id
              + " is next, not "
              + request.step());
    }
    Done done;
    int reservations = tx.reservations();
    try {
      done = step(tx, request, now);
    } catch (RuntimeException e) {
      tx.release(reservations);
      if (tx.lastStep == 0) {
        end(tx);
      }
      throw e;
    }
    if (request.end() == Request.End.OPEN) {
      tx.lastStep = request.step();
      tx.lastUpdates = request.updates().size();
      return done.answer(ticket, request, begins);
    }
    if (done.dot.isPresent()) {
      ended.add(id, Ended.committed(request.step(), done.clock, done.dot.get()));
    } else if (tx.lastStep > 0) {
      String how = request.end() == Request.End.COMMIT ? "committed" : "aborted";
      Reply.Transacted bare = done.reply(List.of());
      ended.add(
          id, new Ended(how, request.step(), request.end(), Optional.of(bare), host.committed()));
    }
    end(tx);
    return done.answer(ticket, request, begins);
  }

  /**
   * Returns whether this is the next step. An abort may skip a step of which the client does not
   * know whether it was done.
   */
  private static boolean isNext(Request.Transact request, OpenTransaction tx) {
    return request.end() == Request.End.ABORT
        ? request.step() > tx.lastStep
        : request.step() == tx.lastStep + 1;
  }

  /**
   * A step that was done: the vector that the client sees, the commit if there was one, and the
   * reads.
   *
   * @param hasUpdates whether it had updates
   */
  private record Done(VersionVector clock, Optional<Dot> dot, StepReads reads, boolean hasUpdates) {
    Reply.Transacted reply(List<Reply.Answer> answers) {
      return new Reply.Transacted(clock, dot, answers);
    }

    /**
     * Returns the answer to a step. If the step begins its transaction and its answer cannot be
     * made, the transaction ends.
     */
    Effects.ToClient answer(long ticket, Request.Transact step, boolean begins) {
      if (!reads.isLong()) {
        return new Effects.Answer(ticket, reply(reads.all()));
      }
      boolean isOpen = step.end() == Request.End.OPEN;
      return new Effects.LongAnswer(
          ticket,
          reads.later(this::reply, hasUpdates || (begins && isOpen)),
          isOpen
              ? Optional.of(new Input.Untold(step.transaction(), step.step()))
              : Optional.empty());
    }
  }

  /**
   * Answers the last step again if it had updates: its reads see the same as the first time. This
   * is not for a step that ends its transaction, nor for one with other updates. If the reads
   * cannot be made any more, the transaction ends: a client that is told of a failure takes the
   * updates for not done, and would send them once more, or go on without them.
   */
  private Effects.ToClient again(long ticket, OpenTransaction tx, Request.Transact request) {
    if (request.end() != Request.End.OPEN || request.updates().size() != tx.lastUpdates) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "step "
              + request.step()
              + " of transaction "
              + request.transaction()
              + " was done before with other content: a step must be repeated unchanged");
    }
    StepReads reads;
    try {
      reads = tx.read(Map.of(), request.reads());
    } catch (OsierException e) {
      untold(tx.id, request.step());
      throw new OsierException(
          ErrorCode.TRANSACTION_ENDED,
          "transaction "
              + request.transaction()
              + " has ended, and nothing of it was done: the updates of its step "
              + request.step()
              + " were done before, but its reads cannot be answered again: "
              + e.reason());
    }
    return new Done(tx.clock, Optional.empty(), reads, true).answer(ticket, request, false);
  }

  private OpenTransaction begin(Request.Transact request, Now now) {
    if (request.begin().isEmpty()) {
      throw new OsierException(
          ErrorCode.TRANSACTION_ENDED,
          "transaction "
              + request.transaction()
              + " is not open here: it ended some time ago, or with the datacenter's last life, and"
              + " was committed only if its commit was confirmed; begin another one");
    }
    Request.Begin begin = request.begin().get();
    if (begin.limitMillis() < 1 || begin.limitMillis() > Request.TRANSACTION_LIMIT_MILLIS_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a transaction's time limit must be 1 to "
              + Request.TRANSACTION_LIMIT_MILLIS_MAX
              + " ms, not "
              + begin.limitMillis());
    }
    if (open.size() >= PartitionConfig.OPEN_TRANSACTIONS_MAX) {
      throw new OsierException(
          ErrorCode.OVERLOADED,
          PartitionConfig.OPEN_TRANSACTIONS_MAX
              + " transactions are open already, the most that may; try again later");
    }
    long step = former.step();
    VersionVector clock = host.clock();
    if (begin.past()) {
      ReplicaId self = host.self();
      step = former.oldestStep(begin.clock().get(self), begin.clock().with(self, 0));
      clock = former.stepClock(step).raised(self, former.committedAt(step));
    }
    OpenTransaction tx =
        new OpenTransaction(host, former, request.transaction(), step, clock, begin, now);
    open.put(tx.id, tx);
    room.budget().take(tx.heapBytes());
    former.open(step);
    nextDeadlineNanos = Math.min(nextDeadlineNanos, tx.deadlineNanos);
    return tx;
  }

  private void end(OpenTransaction tx) {
    open.remove(tx.id);
    room.budget().give(tx.heapBytes());
    former.close(tx.step);
    tx.end();
  }

  private Done step(OpenTransaction tx, Request.Transact request, Now now) {
    if (request.end() == Request.End.ABORT) {
      return new Done(tx.clock, Optional.empty(), tx.read(Map.of(), List.of()), false);
    }
    boolean staysOpen = request.end() == Request.End.OPEN;
    long bytes = staysOpen ? room.bytesOf(request.updates()) : 0;
    OpenTransaction.Room versions =
        staysOpen
            ? (more, isOneObject) -> room.checkOpenStep(bytes, more, isOneObject, open.size())
            : room::checkCommit;
    OpenTransaction.Tried tried = tx.tryUpdates(request.updates(), versions, now);
    StepReads reads = tx.read(tried.works, request.reads());
    if (!request.updates().isEmpty()) {
      reads.checkSize();
    }
    Optional<Dot> dot = Optional.empty();
    VersionVector clock = tx.clock;
    if (request.end() == Request.End.COMMIT) {
      Map<ObjectId, TransactionWork> works = tx.with(tried.works);
      if (!works.isEmpty()) {
        reads.make(); // if a read fails, nothing must be committed
        dot = Optional.of(new Dot(host.self(), host.commit(tx.id, works, now)));
        clock = host.clock();
      }
    } else {
      long before = tx.heapBytes();
      tx.keep(tried, request.updates().size(), bytes, now);
      room.budget().take(tx.heapBytes() - before);
    }
    boolean ends = request.end() == Request.End.COMMIT && request.step() > 1;
    return new Done(clock, dot, reads, ends || !request.updates().isEmpty());
  }

  /**
   * Returns dropped objects, in their order, that an open snapshot may still show.
   *
   * @param from the first key, inclusive; empty for the beginning
   * @param to the key before which they end; empty for the end
   * @param limit the most objects to return
   */
  List<ObjectId> dropped(Optional<Key> from, Optional<Key> to, int limit) {
    return former.dropped(from, to, limit);
  }

  /**
   * Aborts a transaction if it is open: the client could not be told its step's answer and takes
   * the transaction for ended.
   */
  void untold(TransactionId transaction, int step) {
    OpenTransaction tx = open.get(transaction);
    if (tx != null) {
      abort(tx, "aborted: what its step " + step + " reads could not be answered");
    }
  }

  // ---------------------------------------------------------------- time

  /**
   * Aborts transactions that are open for too long, or whose snapshots need more history than there
   * is room for.
   */
  void expire(Now now) {
    relieve();
    if (now.nanos() < nextDeadlineNanos) {
      return;
    }
    nextDeadlineNanos = Long.MAX_VALUE;
    for (OpenTransaction tx : List.copyOf(open.values())) {
      if (tx.deadlineNanos <= now.nanos()) {
        abort(tx, "aborted: its time limit of " + tx.limitMillis + " ms ran out");
      } else {
        nextDeadlineNanos = Math.min(nextDeadlineNanos, tx.deadlineNanos);
      }
    }
  }

  /**
   * Aborts transactions whose snapshots need more former values than there is room for, the oldest
   * snapshot first.
   */
  private void relieve() {
    for (long step = former.tooMuchFor(); step != Long.MAX_VALUE; step = former.tooMuchFor()) {
      for (OpenTransaction tx : List.copyOf(open.values())) {
        if (tx.step == step) {
          abort(tx, "aborted: the memory for former values is used up (osier.memory.history)");
        }
      }
    }
  }

  private void abort(OpenTransaction tx, String how) {
    ended.add(
        tx.id, new Ended(how, tx.lastStep, Request.End.ABORT, Optional.empty(), host.committed()));
    end(tx);
  }

  /** Returns when {@link #expire} is due; Long.MAX_VALUE if never. */
  long nextNanos() {
    return former.tooMuchFor() == Long.MAX_VALUE ? nextDeadlineNanos : Long.MIN_VALUE;
  }

  /**
   * Sets how many bytes transactions may take in the heap.
   *
   * @param openMax by open transactions
   * @param endedMax by ended transactions that are remembered
   */
  void configure(long openMax, long endedMax) {
    room.budget().setLimit(openMax);
    ended.setLimit(endedMax);
  }

  List<Budget.Usage> memory() {
    return List.of(room.budget().usage(), ended.memory());
  }

  int openCount() {
    return open.size();
  }
}
