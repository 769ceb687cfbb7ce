package io.osier.protocol;

import io.osier.core.Partitioning;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;

/** The versions of the client protocol, and the limits of {@link Request}s. */
public interface RequestLimits {
  /** The newest version of the client protocol that this code speaks. */
  int PROTOCOL_VERSION = 13;

  /** Since this version there are objects and fields of {@link CrdtType#isLater} types. */
  int LATER_TYPES_VERSION = 8;

  /** Since this version clients are told of keyspaces that other datacenters hold. */
  int ELSEWHERE_VERSION = 10;

  /** Since this version clients know keyspaces whose keys are hashed by tag. */
  int BY_TAG_VERSION = 11;

  /** Since this version clients know keyspaces whose keys have homes. */
  int HOMES_VERSION = 12;

  /** Since this version clients know an {@link Reply.Answer#age}. */
  int AGES_VERSION = 13;

  /**
   * The oldest version that a datacenter accepts. Later versions added: 3 {@link Request.Ask} and
   * {@link Query.Among}; 4 {@link Query.Exists}, {@link Request.ReadAll}, {@link Request.WriteAll},
   * and the end and {@link ScanRequest.Want} of a {@link ScanRequest}; 5 {@link Request.Condition},
   * {@link WatchRequest}, {@link Operation.Delete}, {@link Operation.Expire}, {@link
   * Operation.Persist} and {@link Query.TimeToLive}; 6 {@link Operation.ExpireParts}, {@link
   * Operation.PersistParts}, {@link Operation.WithPartDeadlines}, {@link Query.PartTimeToLive} and
   * {@link Query.UntilExpiry}; 7 {@link Query.Range}; 8 {@link CrdtType#isLater} types with their
   * operations, and {@link Operation.Bound} with a first value; 9 {@link Request.Evaluate}; 10
   * {@link Reply.Elsewhere}; 11 {@link Partitioning.Hash#TAG}; 12 {@link Partitioning#homes}; 13
   * {@link Reply.Answer#age}.
   */
  int PROTOCOL_VERSION_MIN = 2;

  /** Most characters of the name of a {@link AdminRequest.Backup}. */
  int BACKUP_NAME_MAX = 100;

  /** Most rows that one {@link ScanRequest} may ask for. */
  int SCAN_ROWS_MAX = 10_000;

  /** Longest message of a {@link Greeting.Login} or {@link Greeting.Proof}, in bytes. */
  int LOGIN_BYTES_MAX = 512;

  /**
   * The longest time that a datacenter lets a request wait for what its session has seen, or for
   * rights of a bounded counter: a minute. A longer wait is cut to this.
   */
  int WAIT_MILLIS_MAX = 60_000;

  /** Most objects of one {@link Request.ReadAll} or {@link Request.WriteAll}. */
  int BATCH_MAX = 10_000;

  /** Most calls, and most guards, of one {@link Request.Evaluate}. */
  int PROGRAM_MAX = 10_000;

  /** The longest time that a {@link WatchRequest} waits for a change: a minute. */
  int WATCH_WAIT_MILLIS_MAX = 60_000;

  /** Most settings of one {@link AdminRequest.Administer}. */
  int SETTINGS_MAX = 100;

  /** Longest text of one {@link AdminRequest.Administer}, in bytes. */
  int SETTING_BYTES_MAX = 4_096;

  /** Most updates, and most reads, of one {@link Request.Transact}. */
  int TRANSACTION_STEP_MAX = 10_000;

  /** Longest time limit of a transaction: ten minutes. */
  int TRANSACTION_LIMIT_MILLIS_MAX = 600_000;
}
