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
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A client's request to a datacenter. Each travels in an {@link Envelope} with the client's number
 * for it; answers may come in any order.
 */
public sealed interface Request extends RequestLimits {
  /**
   * The first message on a connection. Answered by {@link Reply.Welcome}, or a failure and the end
   * of the connection.
   *
   * @param client the client's name for the server's log; at most 128 bytes
   */
  record Hello(int protocolVersion, String client) implements Request {}

  /**
   * The first message on a connection of a user with a password, instead of {@link Hello}. Answered
   * by {@link Reply.Challenge}, or a failure and the end of the connection.
   *
   * @param client see {@link Hello}
   * @param message the client-first-message of SCRAM-SHA-256 (RFC 5802)
   */
  record Login(int protocolVersion, String client, String message) implements Request {
    @Override
    public String toString() {
      return "Login of client " + client; // the message must not be logged
    }
  }

  /**
   * The second message of a {@link Login}. Answered by a {@link Reply.Challenge} and then {@link
   * Reply.Welcome}, or by a failure and the end of the connection.
   *
   * @param message the client-final-message
   */
  record Proof(String message) implements Request {
    @Override
    public String toString() {
      return "Proof";
    }
  }

  /** Asks for a {@link Reply.Pong}: the client measures the round trip. */
  record Ping() implements Request {}

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
      implements Request {}

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
      implements Request {
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
      implements Request {
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
      implements Request {
    public WriteAll {
      updates = List.copyOf(updates);
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
      implements Request {
    public Evaluate {
      calls = List.copyOf(calls);
      guards = List.copyOf(guards);
    }

    /** Whether it may change something. */
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
      implements Request {
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
   * Asks for changes that became visible at the datacenter after a position. Answered by {@link
   * Reply.Changes}, as soon as there are some, or when the wait is over.
   *
   * @param key whose changes are wanted; empty for those of all keys
   * @param prefix whether the changes of all keys that begin with it are wanted, too
   * @param places the position, one for each partition in its order (for a single key only that of
   *     its partition), from the last answer; empty for a watcher that begins
   * @param resumes whether earlier changes are wanted, too: for a watcher that begins, everything
   *     that exists; otherwise everything between its position and the oldest change that is kept.
   *     Without it, a watcher whose position is not kept any more is too slow
   * @param waitMillis 0 to {@link #WATCH_WAIT_MILLIS_MAX}; a watcher that begins is answered at
   *     once
   */
  record Watch(
      String keyspace,
      Optional<Key> key,
      boolean prefix,
      List<Place> places,
      boolean resumes,
      int waitMillis)
      implements Request {
    public Watch {
      places = List.copyOf(places);
      if (key.isEmpty() && !prefix) {
        throw new IllegalArgumentException("a watcher of no prefix is one of a key");
      }
    }
  }

  /** Asks what the datacenter is doing. Answered by {@link Reply.Report}. */
  record Inspect(Topic topic, Optional<String> keyspace, int limit) implements Request {}

  /**
   * Asks for a backup of everything durable, which is made while everything goes on. Answered by
   * {@link Reply.Report} with its location.
   *
   * @param name of letters, digits, '.', '_' and '-', at most {@link #BACKUP_NAME_MAX} of them; no
   *     backup may have it yet; empty to let the datacenter choose
   */
  record Backup(Optional<String> name) implements Request {}

  /** Asks which keyspaces there are. Answered by {@link Reply.Keyspaces}. */
  record Keyspaces() implements Request {}

  /**
   * Changes or shows settings that apply to all datacenters. Answered by {@link Reply.Report} once
   * a change is durable at the datacenter that was asked.
   *
   * @param subject the kind of thing, for example {@code keyspace}
   * @param action what is to be done with it, for example {@code create}
   * @param name of the thing; empty for all of its kind
   * @param settings by their names
   */
  record Administer(String subject, String action, String name, SortedMap<String, String> settings)
      implements Request {
    public Administer {
      settings = Collections.unmodifiableSortedMap(new TreeMap<>(settings));
    }

    /**
     * Whether it only asks why data is late, or is encoded like that question: for the key {@code
     * name}, as URL-safe base 64, in the keyspace of the setting {@code keyspace}; for all
     * datacenters if that is omitted.
     */
    public boolean asksWhy() {
      return subject.equals("why");
    }

    /** Omits the settings' values, which may be secret. */
    @Override
    public String toString() {
      return subject + " " + action + " " + name + " " + settings.keySet();
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
      implements Request {
    public Transact {
      updates = List.copyOf(updates);
      reads = List.copyOf(reads);
      if (step < 1 || begin.isPresent() != (step == 1)) {
        throw new IllegalArgumentException(
            "step 1 begins a transaction, and no other; not " + step);
      }
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
   * @param after a commit number that it had given before the step was first sent; 0 if none is
   *     known
   */
  record Repeat(ReplicaId to, long after, Transact step) implements Request {
    public Repeat {
      if (after < 0) {
        throw new IllegalArgumentException("a commit number must not be negative: " + after);
      }
    }
  }

  /**
   * Asks for the number up to which a partition has every replica's updates. Answered by {@link
   * Reply.Through}.
   *
   * @param partition its number, from 0
   */
  record Through(String keyspace, int partition) implements Request {}

  /**
   * Asks which other datacenters have what a partition has committed here. Held updates leave at
   * once. Answered by {@link Reply.Spread} as soon as enough datacenters have it, or when the wait
   * is over. Not for clients: it travels only between datacenters.
   *
   * @param number up to which commit number; 0 for everything that is committed when this is asked,
   *     and {@link #ANY} if this partition's commits do not count
   * @param seen those datacenters, and this one, must have all of these updates as well
   * @param datacenters how many datacenters to wait for
   * @param waitMillis at most {@link #WAIT_MILLIS_MAX}
   */
  record Spread(
      String keyspace,
      int partition,
      long number,
      VersionVector seen,
      int datacenters,
      int waitMillis)
      implements Request {
    /** Stands for no commit number: the partition's own commits do not count. */
    public static final long ANY = -1;
  }

  /**
   * Waits until a partition has updates that were seen elsewhere. Answered by {@link
   * Reply.Through}. For the process that asks: it does not travel.
   */
  record Reach(String keyspace, int partition, VersionVector after, int waitMillis)
      implements Request {}

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
   * A watcher's position in one partition.
   *
   * @param life identifies the count of changes: of one datacenter, and not for ever
   * @param tick the number of this life's changes that the watcher has got
   * @param seen the watcher was told of all of these updates, at whatever datacenter: so it can go
   *     on at another one
   * @param next the next key, while the watcher is being sent the existing objects; empty once that
   *     is done
   */
  record Place(long life, long tick, VersionVector seen, Optional<Key> next) {}

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
