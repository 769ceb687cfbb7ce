package io.osier.protocol;

import io.osier.core.Partitioning;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;

/** The versions of the client protocol, and what {@link Request}s may have at most. */
public interface RequestLimits {
  /** The newest version of the client protocol that this code speaks. */
  int PROTOCOL_VERSION = 13;

  /** From this version on there are objects and fields of {@link CrdtType#isLater} types. */
  int LATER_TYPES_VERSION = 8;

  /** From this version on clients are told of keyspaces that others hold. */
  int ELSEWHERE_VERSION = 10;

  /** From this version on clients know keyspaces whose keys are hashed by tag. */
  int BY_TAG_VERSION = 11;

  /** From this version on clients know keyspaces whose keys have homes. */
  int HOMES_VERSION = 12;

  /** From this version on clients know an {@link Reply.Answer#age}. */
  int AGES_VERSION = 13;

  /**
   * The oldest version that a datacenter takes: it has no {@link Request.Ask} and no {@link
   * Query.Among}, which came with 3, and no {@link Query.Exists}, {@link Request.ReadAll} and
   * {@link Request.WriteAll}, and no end and {@link Request.Want} of a {@link Request.Scan}, which
   * came with 4, and no {@link Request.Condition}, {@link Request.Watch}, {@link Operation.Delete},
   * {@link Operation.Expire}, {@link Operation.Persist} and {@link Query.TimeToLive}, which came
   * with 5, and no {@link Operation.ExpireParts}, {@link Operation.PersistParts}, {@link
   * Operation.WithPartDeadlines} and {@link Query.PartTimeToLive} and {@link Query.UntilExpiry},
   * which came with 6, and no {@link Query.Range}, which came with 7, and no {@link
   * CrdtType#isLater} types with their operations and no {@link Operation.Bound} with a first
   * value, which came with 8, and no {@link Request.Evaluate}, which came with 9, and no {@link
   * Reply.Elsewhere}, which came with 10, and no {@link Partitioning.Hash#TAG}, which came with 11,
   * and no {@link Partitioning#homes}, which came with 12, and no {@link Reply.Answer#age}, which
   * came with 13.
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

  /** Most calls, and most guards, of one {@link Request.Evaluate}. */
  int PROGRAM_MAX = 10_000;

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
}
