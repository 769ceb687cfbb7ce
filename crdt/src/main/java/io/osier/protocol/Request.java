package io.osier.protocol;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import java.util.List;
import java.util.Optional;

/**
 * A client's request to a datacenter. Each travels in an {@link Envelope} with the client's number
 * for it; answers may come in any order.
 */
public sealed interface Request extends RequestLimits
    permits Greeting, AdminRequest, Request.Ping, Request.Keyspaces, Request.OfKeyspace {
  /** Returns what the asking session has seen and must see again; empty if it has no session. */
  default VersionVector after() {
    return VersionVector.EMPTY;
  }

  /** Returns how long a datacenter may wait before it answers, in milliseconds. */
  default int waitMillis() {
    return 0;
  }

  /** Whether it may change an object. */
  default boolean isUpdate() {
    return false;
  }

  /** A request that is about one keyspace. */
  sealed interface OfKeyspace extends Request
      permits ProgressRequest,
          WatchRequest,
          Read,
          Write,
          ReadAll,
          WriteAll,
          Evaluate,
          Scan,
          Transact,
          Repeat {
    /** Returns the keyspace's name. */
    String keyspace();
  }

  /** Asks for a {@link Reply.Pong}: the client measures the round trip. */
  record Ping() implements Request {}

  /** Asks which keyspaces there are. Answered by {@link Reply.Keyspaces}. */
  record Keyspaces() implements Request {}

  /**
   * Reads one object. Answered by {@link Reply.Answer}.
   *
   * @param type the type to read; empty for whatever the key holds
   * @param after what the session has seen of the key's partition and this datacenter may not have
   *     yet; empty once the datacenter has answered a request that carried it
   * @param ordered whether the session has unanswered updates of the partition that the read must
   *     see: it is then served in its turn, otherwise at once
   * @param waitMillis how long the datacenter may wait for {@code after} before it fails with
   *     SESSION_BEHIND; at most {@link #WAIT_MILLIS_MAX}
   */
  record Read(
      String keyspace,
      Key key,
      Optional<CrdtType> type,
      Query query,
      VersionVector after,
      boolean ordered,
      int waitMillis)
      implements OfKeyspace {}

  /**
   * Updates one object, or everything that a key holds. Answered by {@link Reply.Done} once it is
   * as durable as the datacenter is configured to make it. If its condition does not hold, nothing
   * is done, and it is answered by the {@link Reply.Answer} to the condition's query; if there was
   * nothing to do with the key, by an Answer.
   *
   * @param ask what the caller wants to read with it; empty for nothing
   * @param condition what must hold; empty for nothing, and if there is an {@code ask}
   */
  record Write(
      String keyspace,
      Key key,
      CrdtType type,
      Operation operation,
      VersionVector after,
      int waitMillis,
      Optional<Ask> ask,
      Optional<Condition> condition)
      implements OfKeyspace {
    public Write {
      if (ask.isPresent() && condition.isPresent()) {
        throw new IllegalArgumentException("an update asks something or has a condition");
      }
    }

    /** Creates an update without a condition. */
    public Write(
        String keyspace,
        Key key,
        CrdtType type,
        Operation operation,
        VersionVector after,
        int waitMillis,
        Optional<Ask> ask) {
      this(keyspace, key, type, operation, after, waitMillis, ask, Optional.empty());
    }

    /** Creates an update without a question. */
    public Write(
        String keyspace,
        Key key,
        CrdtType type,
        Operation operation,
        VersionVector after,
        int waitMillis) {
      this(keyspace, key, type, operation, after, waitMillis, Optional.empty());
    }

    @Override
    public boolean isUpdate() {
      return true;
    }
  }

  /**
   * Reads objects of one partition, each by itself. Answered by {@link Reply.All}, which may have
   * fewer parts than there are reads: as many as fit, one at least; the others were not read.
   *
   * @param reads 1 to {@link #BATCH_MAX}, of keys of one partition
   */
  record ReadAll(
      String keyspace, List<Fetch> reads, VersionVector after, boolean ordered, int waitMillis)
      implements OfKeyspace {
    public ReadAll {
      reads = List.copyOf(reads);
    }
  }

  /**
   * Updates objects of one partition, each by itself, in this order. Answered by {@link Reply.All},
   * with a part for each of them, once everything is as durable as the datacenter is configured to
   * make it; or by a failure, and nothing was done. No part waits for rights of a bounded counter.
   *
   * @param updates 1 to {@link #BATCH_MAX}, of keys of one partition
   */
  record WriteAll(String keyspace, List<Update> updates, VersionVector after, int waitMillis)
      implements OfKeyspace {
    public WriteAll {
      updates = List.copyOf(updates);
    }

    @Override
    public boolean isUpdate() {
      return true;
    }
  }

  /**
   * Runs a program: calls on objects of one partition, in this order and in one turn, so that at
   * the datacenter nothing comes in between and all changes become visible together. In a {@code
   * causal} keyspace they become visible together everywhere, in a {@code session} one elsewhere
   * object by object. Answered by {@link Reply.Evaluated} once everything is as durable as the
   * datacenter is configured to make it; or by a failure, and nothing was done. No call waits for
   * rights of a bounded counter.
   *
   * @param calls 1 to {@link #PROGRAM_MAX}, of keys of one partition
   * @param guards the required versions of keys that calls name; all are checked before the first
   *     call, as is each {@link Call.Test}
   */
  record Evaluate(
      String keyspace,
      List<Call> calls,
      List<Call.Guard> guards,
      VersionVector after,
      int waitMillis)
      implements OfKeyspace {
    public Evaluate {
      calls = List.copyOf(calls);
      guards = List.copyOf(guards);
    }

    @Override
    public boolean isUpdate() {
      for (Call call : calls) {
        if (call.isUpdate()) {
          return true;
        }
      }
      return false;
    }
  }

  /**
   * Reads objects in the order of their keys, as unsigned bytes, over all partitions. Answered by
   * {@link Reply.Page} or {@link Reply.Counted}, which say where to go on: only a place, so any key
   * may be one.
   *
   * <p>A scan of rows without an end shows what its user may read from its beginning on without a
   * gap; any other scan needs the right to read its whole range.
   *
   * @param from the first key, inclusive; empty for the beginning
   * @param to the key before which it ends; empty for the end of the keyspace
   * @param type only objects of this type; empty for all
   * @param limit the most rows, 1 to {@link #SCAN_ROWS_MAX}; a page may end earlier, even without
   *     rows, and has a few more if the last key holds objects of several types
   */
  record Scan(
      String keyspace,
      Optional<Key> from,
      Optional<Key> to,
      Optional<CrdtType> type,
      Query query,
      int limit,
      Want want)
      implements OfKeyspace {
    /** Creates a scan of rows to the end of the keyspace. */
    public Scan(
        String keyspace, Optional<Key> from, Optional<CrdtType> type, Query query, int limit) {
      this(keyspace, from, Optional.empty(), type, query, limit, Want.ROWS);
    }

    /** Whether older versions of the protocol have this form, too. */
    boolean isPlain() {
      return to.isEmpty() && want == Want.ROWS;
    }
  }

  /**
   * One step of a transaction in a {@code causal} keyspace: begins it if there is {@code begin},
   * does the updates, answers the reads, and ends it or leaves it open. A step that fails has done
   * nothing; the same step sent again is answered again and not done twice. Answered by {@link
   * Reply.Transacted}.
   *
   * @param step 1, 2, 3, …; the first begins
   * @param reads what to read, on the snapshot with the transaction's own updates
   */
  record Transact(
      String keyspace,
      TransactionId transaction,
      int step,
      Optional<Begin> begin,
      List<Update> updates,
      List<Fetch> reads,
      End end)
      implements OfKeyspace {
    public Transact {
      updates = List.copyOf(updates);
      reads = List.copyOf(reads);
      if (step < 1 || begin.isPresent() != (step == 1)) {
        throw new IllegalArgumentException(
            "step 1 begins a transaction, and no other; not " + step);
      }
    }

    @Override
    public VersionVector after() {
      return begin.map(Begin::clock).orElse(VersionVector.EMPTY);
    }

    @Override
    public int waitMillis() {
      return begin.map(Begin::waitMillis).orElse(0);
    }

    @Override
    public boolean isUpdate() {
      return end == End.COMMIT && (step > 1 || !updates.isEmpty());
    }
  }

  /**
   * Sends a step of a transaction again, because its answer was lost: the datacenter may have done
   * it already. Answered as the step was, but without the answers to its reads if it has ended the
   * transaction. A datacenter that no longer remembers whether it has done the step does nothing,
   * and fails with TRANSACTION_FORGOTTEN. A step that was not done is done now; if it cannot be
   * done, it ends its transaction with TRANSACTION_ENDED, so that it cannot be done later either.
   *
   * @param to the replica that the step was sent to, in its latest term as a holder that was known
   *     then; another replica, even of the same datacenter, remembers nothing
   * @param known a commit number that it had given before the step was first sent; 0 if none is
   *     known
   */
  record Repeat(ReplicaId to, long known, Transact step) implements OfKeyspace {
    public Repeat {
      if (known < 0) {
        throw new IllegalArgumentException("a commit number must not be negative: " + known);
      }
    }

    @Override
    public String keyspace() {
      return step.keyspace();
    }

    @Override
    public VersionVector after() {
      return step.after();
    }

    @Override
    public int waitMillis() {
      return step.waitMillis();
    }

    @Override
    public boolean isUpdate() {
      return true; // nobody knows whether the step was done before
    }
  }

  /** The kinds of results that a {@link Scan} returns. */
  enum Want {
    /** Objects. */
    ROWS(0),
    COUNT(1),
    /**
     * Also removed objects, as far as a transaction of a {@code causal} keyspace that is open here
     * may still see them.
     */
    KNOWN(2);

    private final int number;

    Want(int number) {
      this.number = number;
    }

    /** Returns the number that the encoded form carries. */
    int number() {
      return number;
    }
  }

  /**
   * How a transaction begins.
   *
   * @param clock what its snapshot must contain at least
   * @param past whether the snapshot is the oldest that contains the clock, instead of the newest:
   *     such a transaction only reads
   * @param waitMillis how long the datacenter may wait for the clock before it fails with
   *     SESSION_BEHIND; at most {@link #WAIT_MILLIS_MAX}
   * @param limitMillis how long the transaction may stay open, 1 to {@link
   *     #TRANSACTION_LIMIT_MILLIS_MAX}; then it is aborted
   */
  record Begin(VersionVector clock, boolean past, int waitMillis, int limitMillis) {}

  /** An update of one object. */
  record Update(Key key, CrdtType type, Operation operation) {}

  /**
   * A read of one object.
   *
   * @param type empty for whatever the key holds
   */
  record Fetch(Key key, Optional<CrdtType> type, Query query) {}

  /** Whether a transaction goes on after a step. */
  enum End {
    /** The transaction stays open. */
    OPEN(0),
    /** The transaction's updates are committed, together. */
    COMMIT(1),
    /** The transaction's updates are dropped. */
    ABORT(2);

    private final int number;

    End(int number) {
      this.number = number;
    }

    /** Returns the number that the encoded form carries. */
    int number() {
      return number;
    }
  }

  /** What a report of a datacenter is about. */
  enum Topic {
    /** Keyspaces, partitions, traffic, errors. */
    STAT,
    /** The hot objects with their modes. */
    HOT,
    /** The other datacenters with their lag. */
    PEERS,
    /**
     * A digest of all objects for each partition, and one for each of the first {@code limit}
     * objects: equal digests mean equal contents. STAT has the vectors.
     */
    DIGEST
  }
}
