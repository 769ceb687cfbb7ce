package io.osier.protocol;

import io.osier.core.Key;
import io.osier.core.Present;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
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
          ScanRequest,
          WatchRequest,
          Read,
          Write,
          ReadAll,
          WriteAll,
          Evaluate,
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
   * A question about the object that an update's caller sends with it, answered as of the moment of
   * the update at the datacenter: nothing comes in between. Needs the right to read.
   *
   * @param before whether the object is read as it was before the update; otherwise after it
   */
  record Ask(boolean before, Query query) {}

  /**
   * What must hold for the object if an update is to be done, at the datacenter and in the moment
   * of the update: nothing comes in between. It says nothing about concurrent updates elsewhere.
   * Needs the right to read.
   *
   * @param path the fields of maps in maps that lead to the tested one, for which the query is
   *     {@link Query.Whole}; empty for the object
   * @param expected what the query must answer; for something that does not exist, a new one
   *     answers
   */
  record Condition(List<FieldId> path, Query query, Reading expected) {
    public Condition {
      path = Present.copyOf(path, "a field");
      Present.present(query, "a query");
      if (!path.isEmpty() && !(query instanceof Query.Whole)) {
        throw new IllegalArgumentException("of a field the whole is asked, not " + query);
      }
      Present.present(expected, "what is expected");
    }

    /** Returns the query of the object whose answer decides whether the condition holds. */
    public Query asked() {
      return path.isEmpty() ? query : new Query.Select(List.of(path.getFirst().name()));
    }

    /**
     * Whether it holds.
     *
     * @param read the answer to {@link #asked}
     */
    public boolean holds(Reading read) {
      Reading at = read;
      for (FieldId field : path) {
        Reading within = at instanceof Reading.Fields f ? f.fields().get(field) : null;
        at = within == null ? TypeRegistry.empty(field.type()).read(query) : within;
      }
      return at.equals(expected);
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
