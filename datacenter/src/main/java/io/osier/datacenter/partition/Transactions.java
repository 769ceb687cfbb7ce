package io.osier.datacenter.partition;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.store.ObjectStore;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The transactions of a {@code causal} partition: those that are open, each with its snapshot and
 * what it has done so far, and how the latest ones ended.
 *
 * <p>An update is tried on the snapshot when it is asked for, so that it is seen by the
 * transaction's own reads and its errors come at once; it is prepared for good when the transaction
 * commits. Not thread-safe.
 */
final class Transactions {
  /** Most open transactions. */
  static final int OPEN_MAX = 10_000;

  /** Most updates of one transaction. */
  static final int UPDATES_MAX = 10_000;

  /** How many ends are remembered, for commits that are sent again, unless set otherwise. */
  static final int ENDED_MAX = 100_000;

  /** Where trial updates number their dots: above whatever is committed. */
  private static final long TRIAL = 1L << 61;

  /** The time of a trial update: it replaces all that it competes with, so any will do. */
  private static final long TRIAL_TIME = 0;

  /** What a transaction does to one object. */
  static final class Work {
    private final Causal base;

    /** Those of earlier steps, or null: shared, so that a step costs what it adds. */
    private final Work before;

    private final List<Operation> operations = new ArrayList<>();
    private Causal trial;

    private Work(Causal base, Work before) {
      this.base = base;
      this.before = before;
      this.trial = before == null ? base : before.trial;
    }

    /** The object in the snapshot. */
    Causal base() {
      return base;
    }

    /** What is to be done, in order. */
    List<Operation> operations() {
      ArrayDeque<List<Operation>> steps = new ArrayDeque<>();
      for (Work work = this; work != null; work = work.before) {
        steps.addFirst(work.operations);
      }
      List<Operation> all = new ArrayList<>();
      steps.forEach(all::addAll);
      return all;
    }
  }

  /** What the partition does for its transactions. */
  interface Host {
    ReplicaId self();

    /** What is visible now. */
    VersionVector clock();

    /** The last commit number, if something of own updates may have been forgotten; or 0. */
    long forgotten();

    /** An operation with what only the datacenter knows. */
    Operation filled(Operation operation);

    /**
     * Sets rights of a bounded counter aside.
     *
     * @throws OsierException NOT_ENOUGH_RIGHTS
     */
    Escrow.Reservation reserve(ObjectId object, Operation operation);

    /** Lets rights go that were set aside. */
    void release(Escrow.Reservation reservation);

    /** Checks that a trial is not too large. */
    void checkSize(ObjectId object, Causal before, Causal after);

    /** Commits updates, all or none; returns the last commit number. */
    long commit(TransactionId id, Map<ObjectId, Work> updates);
  }

  private static final class Open {
    final TransactionId id;
    final long step;
    final VersionVector clock;
    final boolean past;
    final long deadlineNanos;
    final int limitMillis;
    final Map<ObjectId, Work> works = new LinkedHashMap<>();
    final List<Escrow.Reservation> reservations = new ArrayList<>();
    int updates;
    long nextTrial = TRIAL;
    int lastStep;
    Reply.Transacted lastReply;

    Open(TransactionId id, long step, VersionVector clock, Request.Begin begin, long nowNanos) {
      this.id = id;
      this.step = step;
      this.clock = clock;
      this.past = begin.past();
      this.limitMillis = begin.limitMillis();
      this.deadlineNanos = nowNanos + begin.limitMillis() * 1_000_000L;
    }
  }

  /**
   * How a transaction ended.
   *
   * @param lastStep the step that ended it; 0 for a commit of a former life
   * @param end whether that step was a commit or not
   * @param reply to that step, if it was done, without what was read
   * @param number the last commit number then
   */
  private record Ended(
      String how, int lastStep, Request.End end, Optional<Reply.Transacted> reply, long number) {
    static Ended committed(int lastStep, VersionVector clock, Dot dot) {
      Reply.Transacted reply = new Reply.Transacted(clock, Optional.of(dot), List.of());
      return new Ended("committed", lastStep, Request.End.COMMIT, Optional.of(reply), dot.number());
    }
  }

  private final Host host;
  private final History history;
  private final int endedMax;
  private final Map<TransactionId, Open> open = new LinkedHashMap<>();
  private final Map<TransactionId, Ended> ended = new LinkedHashMap<>();
  private long nextDeadlineNanos = Long.MAX_VALUE;

  /** What was committed under a larger number is remembered. */
  private long forgottenThrough;

  Transactions(Host host, History history, int endedMax) {
    this.host = host;
    this.history = history;
    this.endedMax = endedMax;
  }

  /**
   * Remembers the latest commits of a former life of the store.
   *
   * @param commits their last commit numbers, ascending
   */
  void recovered(Map<TransactionId, Long> commits) {
    commits.forEach(
        (id, number) -> {
          if (forgottenThrough == 0 && commits.size() >= ObjectStore.TRANSACTIONS_KEPT) {
            forgottenThrough = number - 1;
          }
          ended(id, Ended.committed(0, host.clock(), new Dot(host.self(), number)));
        });
  }

  private void ended(TransactionId id, Ended how) {
    ended.put(id, how);
    if (ended.size() > endedMax) {
      Iterator<Ended> it = ended.values().iterator();
      forgottenThrough = Math.max(forgottenThrough, it.next().number);
      it.remove();
    }
  }

  /**
   * Does a step whose answer was lost, unless it is done already or may have been.
   *
   * @throws OsierException if it cannot be done, or it cannot be told whether it was; nothing of it
   *     was done now
   */
  Reply.Transacted repeat(Request.Repeat request, long nowNanos) {
    Request.Transact step = request.step();
    TransactionId id = step.transaction();
    boolean known = open.containsKey(id) || ended.containsKey(id);
    // A number that was never given tells nothing.
    long after = request.after() <= committed() ? request.after() : 0;
    if (!request.to().equals(host.self()) || (!known && after < forgottenThrough)) {
      throw new OsierException(
          ErrorCode.TRANSACTION_FORGOTTEN,
          "transaction "
              + id
              + " is not open, and whether it was committed before can no longer be told");
    }
    try {
      return step(step, nowNanos);
    } catch (OsierException e) {
      if (e.code() == ErrorCode.OVERLOADED || e.code() == ErrorCode.TRANSACTION_ENDED) {
        throw e;
      }
      // The first sending may still arrive, and must not be done then: who sent it is told now.
      Open tx = open.get(id);
      if (tx != null) {
        end(tx);
      }
      String how = "refused (" + e.code() + ")";
      ended(id, new Ended(how, step.step(), step.end(), Optional.empty(), committed()));
      throw new OsierException(
          ErrorCode.TRANSACTION_ENDED,
          "transaction " + id + " has ended, and nothing of it was done: " + e.getMessage());
    }
  }

  private long committed() {
    return host.clock().get(host.self());
  }

  /**
   * Does a step.
   *
   * @throws OsierException if it cannot be done; then nothing of it was
   */
  Reply.Transacted step(Request.Transact request, long nowNanos) {
    TransactionId id = request.transaction();
    Ended before = ended.get(id);
    if (before != null) {
      return again(request, before);
    }
    Open tx = open.get(id);
    if (tx == null) {
      tx = begin(request, nowNanos);
    } else if (request.step() == tx.lastStep) {
      return again(request, tx.lastReply);
    } else if (request.step() != tx.lastStep + 1) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "step "
              + (tx.lastStep + 1)
              + " of transaction "
              + id
              + " is next, not "
              + request.step());
    }
    Reply.Transacted reply;
    int reservations = tx.reservations.size();
    try {
      reply = step(tx, request);
    } catch (RuntimeException e) {
      release(tx, reservations);
      if (tx.lastStep == 0) {
        end(tx);
      }
      throw e;
    }
    if (request.end() == Request.End.OPEN) {
      tx.lastStep = request.step();
      tx.lastReply = reply;
    } else {
      if (reply.dot().isPresent()) {
        ended(id, Ended.committed(request.step(), reply.clock(), reply.dot().get()));
      } else if (tx.lastStep > 0) {
        String how = request.end() == Request.End.COMMIT ? "committed" : "aborted";
        Reply.Transacted bare = new Reply.Transacted(reply.clock(), Optional.empty(), List.of());
        ended(id, new Ended(how, request.step(), request.end(), Optional.of(bare), committed()));
      }
      end(tx);
    }
    return reply;
  }

  /** Answers the last step again; what ends a transaction, or asks for other reads, is no such. */
  private static Reply.Transacted again(Request.Transact request, Reply.Transacted last) {
    if (request.end() != Request.End.OPEN || request.reads().size() != last.answers().size()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "step "
              + request.step()
              + " of transaction "
              + request.transaction()
              + " was done before, and was another one");
    }
    return last;
  }

  private static Reply.Transacted again(Request.Transact request, Ended before) {
    boolean same = request.step() == before.lastStep || before.lastStep == 0;
    if (same && before.reply.isPresent() && request.end() == before.end) {
      return before.reply.get();
    }
    throw new OsierException(
        ErrorCode.TRANSACTION_ENDED,
        "transaction " + request.transaction() + " was " + before.how + "; begin another one");
  }

  private Open begin(Request.Transact request, long nowNanos) {
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
    if (open.size() >= OPEN_MAX) {
      throw new OsierException(
          ErrorCode.OVERLOADED, OPEN_MAX + " transactions are open already; try again later");
    }
    long step = history.step();
    VersionVector clock = host.clock();
    if (begin.past()) {
      ReplicaId self = host.self();
      step = history.oldestStep(begin.clock().get(self), begin.clock().with(self, 0));
      clock = history.stepClock(step).raised(self, history.committedAt(step));
    }
    Open tx = new Open(request.transaction(), step, clock, begin, nowNanos);
    open.put(tx.id, tx);
    history.open(step);
    nextDeadlineNanos = Math.min(nextDeadlineNanos, tx.deadlineNanos);
    return tx;
  }

  private void end(Open tx) {
    open.remove(tx.id);
    history.close(tx.step);
    release(tx, 0);
  }

  private void release(Open tx, int from) {
    List<Escrow.Reservation> some = tx.reservations.subList(from, tx.reservations.size());
    some.forEach(host::release);
    some.clear();
  }

  private Reply.Transacted step(Open tx, Request.Transact request) {
    if (request.end() == Request.End.ABORT) {
      return new Reply.Transacted(tx.clock, Optional.empty(), List.of());
    }
    Map<ObjectId, Work> tried = tryUpdates(tx, request.updates());
    List<Reply.Answer> answers = new ArrayList<>(request.reads().size());
    for (Request.Fetch fetch : request.reads()) {
      answers.add(read(tx, tried, fetch));
    }
    Optional<Dot> dot = Optional.empty();
    VersionVector clock = tx.clock;
    if (request.end() == Request.End.COMMIT) {
      Map<ObjectId, Work> works = new LinkedHashMap<>(tx.works);
      works.putAll(tried);
      if (!works.isEmpty()) {
        dot = Optional.of(new Dot(host.self(), host.commit(tx.id, works)));
        clock = host.clock();
      }
    } else {
      tx.works.putAll(tried);
      tx.updates += request.updates().size();
    }
    return new Reply.Transacted(clock, dot, answers);
  }

  /** Tries updates on the snapshot; returns the objects that they touch with all that is done. */
  private Map<ObjectId, Work> tryUpdates(Open tx, List<Request.Update> updates) {
    if (!updates.isEmpty() && tx.past) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "a transaction in the past can only read");
    }
    if (tx.updates + updates.size() > UPDATES_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "a transaction may have " + UPDATES_MAX + " updates at most");
    }
    Map<ObjectId, Work> tried = new LinkedHashMap<>();
    for (Request.Update update : updates) {
      ObjectId object = new ObjectId(update.key(), update.type());
      Work work = tried.get(object);
      if (work == null) {
        work = next(tx, object);
        tried.put(object, work);
      }
      Operation operation = host.filled(update.operation());
      if (object.type() == CrdtType.BOUNDED_COUNTER) {
        tx.reservations.add(host.reserve(object, operation));
      }
      Causal delta =
          work.trial.prepare(
              operation,
              host.self(),
              tx.nextTrial,
              work.trial.context().through(host.self()),
              TRIAL_TIME,
              host.forgotten());
      tx.nextTrial = delta.context().last(host.self()) + 1;
      Causal after = work.trial.join(delta);
      host.checkSize(object, work.trial, after);
      work.trial = after;
      work.operations.add(operation);
    }
    return tried;
  }

  /** What a transaction does next to an object. */
  private Work next(Open tx, ObjectId object) {
    Work known = tx.works.get(object);
    if (known != null) {
      return new Work(known.base, known);
    }
    Causal base = null;
    for (Causal state : states(tx, Map.of(), object.key())) {
      if (state.type() == object.type()) {
        base = state;
      } else if (!state.isBottom()) {
        throw Partition.wrongType(object, state.type());
      }
    }
    return new Work(base == null ? Causal.bottom(object.type()) : base, null);
  }

  private Reply.Answer read(Open tx, Map<ObjectId, Work> tried, Request.Fetch fetch) {
    Reply.Answer answer =
        Reading.of(states(tx, tried, fetch.key()), fetch.key(), fetch.type(), fetch.query());
    // What is seen is the snapshot, which the reply tells; trial dots mean nothing to anybody.
    return new Reply.Answer(answer.type(), answer.reading(), answer.exists(), VersionVector.EMPTY);
  }

  /** What a key holds in the snapshot, with the transaction's own updates. */
  private List<Causal> states(Open tx, Map<ObjectId, Work> tried, Key key) {
    List<Causal> states = history.at(key, tx.step);
    if (tx.works.isEmpty() && tried.isEmpty()) {
      return states;
    }
    TreeMap<CrdtType, Causal> merged = new TreeMap<>();
    states.forEach(s -> merged.put(s.type(), s));
    for (CrdtType type : CrdtType.values()) {
      ObjectId object = new ObjectId(key, type);
      Work work = tried.getOrDefault(object, tx.works.get(object));
      if (work != null) {
        merged.put(type, work.trial);
      }
    }
    return List.copyOf(merged.values());
  }

  // ---------------------------------------------------------------- time

  /** Aborts what is open for too long. */
  void expire(long nowNanos) {
    if (nowNanos < nextDeadlineNanos) {
      return;
    }
    nextDeadlineNanos = Long.MAX_VALUE;
    for (Open tx : List.copyOf(open.values())) {
      if (tx.deadlineNanos <= nowNanos) {
        ended(
            tx.id,
            new Ended(
                "aborted: its time limit of " + tx.limitMillis + " ms ran out",
                tx.lastStep,
                Request.End.ABORT,
                Optional.empty(),
                committed()));
        end(tx);
      } else {
        nextDeadlineNanos = Math.min(nextDeadlineNanos, tx.deadlineNanos);
      }
    }
  }

  /** When {@link #expire} is due; Long.MAX_VALUE if never. */
  long nextNanos() {
    return nextDeadlineNanos;
  }

  /** How many are open. */
  int openCount() {
    return open.size();
  }
}
