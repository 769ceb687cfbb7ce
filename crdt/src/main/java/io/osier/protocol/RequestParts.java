package io.osier.protocol;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import java.util.Optional;

/** What several {@link Request}s are made of, and what they may have at most. */
public sealed interface RequestParts permits Request {
  /** The newest version of the client protocol that this code speaks. */
  int PROTOCOL_VERSION = 7;

  /**
   * The oldest version that a datacenter takes: it has no {@link Request.Ask} and no {@link
   * Query.Among}, which came with 3, and no {@link Query.Exists}, {@link Request.ReadAll} and
   * {@link Request.WriteAll}, and no end and {@link Want} of a {@link Request.Scan}, which came
   * with 4, and no {@link Request.Condition}, {@link Request.Watch}, {@link Operation.Delete}, {@link
   * Operation.Expire}, {@link Operation.Persist} and {@link Query.TimeToLive}, which came with 5,
   * and no {@link Operation.ExpireParts}, {@link Operation.PersistParts}, {@link
   * Operation.WithPartDeadlines} and {@link Query.PartTimeToLive} and {@link Query.UntilExpiry},
   * which came with 6, and no {@link Query.Range}, which came with 7.
   */
  int PROTOCOL_VERSION_MIN = 2;

  /** Most characters of the name of a {@link Request.Backup}. */
  int BACKUP_NAME_MAX = 100;

  /** Most rows that one {@link Request.Scan} may ask for. */
  int SCAN_ROWS_MAX = 10_000;

  /** Longest message of a {@link Request.Login} or {@link Request.Proof}, in bytes. */
  int LOGIN_BYTES_MAX = 512;

  /**
   * Most time that a datacenter lets a request wait for what its session has seen, or for rights of
   * a bounded counter: a minute. Who asks for more gets so much.
   */
  int WAIT_MILLIS_MAX = 60_000;

  /** Most objects of one {@link Request.ReadAll} or {@link Request.WriteAll}. */
  int BATCH_MAX = 10_000;

  /** Most time that a {@link Request.Watch} waits for a change: a minute. */
  int WATCH_WAIT_MILLIS_MAX = 60_000;

  /** Most settings of one {@link Request.Administer}. */
  int SETTINGS_MAX = 100;

  /** Longest text of one {@link Request.Administer}, in bytes. */
  int SETTING_BYTES_MAX = 4_096;

  /** Most updates, and most reads, of one {@link Request.Transact}. */
  int TRANSACTION_STEP_MAX = 10_000;

  /** Longest time limit of a transaction: ten minutes. */
  int TRANSACTION_LIMIT_MILLIS_MAX = 600_000;

  /** What a {@link Request.Scan} is to tell. */
  enum Want {
    /** Objects. */
    ROWS(0),
    /** How many there are. */
    COUNT(1),
    /**
     * Also objects that are removed, as far as a transaction of a {@code causal} keyspace that is
     * open here may still see something of them.
     */
    KNOWN(2);

    private final int number;

    Want(int number) {
      this.number = number;
    }

    /** The number that the encoded form carries. */
    int number() {
      return number;
    }
  }

  /**
   * How far a watcher has come in one partition.
   *
   * @param life in which changes are counted: of one datacenter, and not for ever
   * @param tick how many of it lie behind the watcher
   * @param seen it was told of all of these updates, wherever: so it can go on at another
   *     datacenter
   * @param next what is there is being walked through, and this key comes next; empty where that is
   *     done
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
    /** It stays open. */
    OPEN(0),
    /** Its updates are committed, together. */
    COMMIT(1),
    /** Its updates are forgotten. */
    ABORT(2);

    private final int number;

    End(int number) {
      this.number = number;
    }

    /** The number that the encoded form carries. */
    int number() {
      return number;
    }
  }
}
