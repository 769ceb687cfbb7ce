package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.time.TimeLimit;
import io.osier.protocol.Request;
import java.time.Duration;

/**
 * The options of a new transaction. Immutable.
 *
 * @param clock a version vector that the snapshot covers at least, besides what the session has
 *     seen
 * @param past whether the snapshot is the oldest one that covers the clock; otherwise the newest
 * @param limit how long the transaction may stay open before the datacenter aborts it
 */
public record TransactionOptions(VersionVector clock, boolean past, Duration limit) {
  /** The newest snapshot, and a limit of one minute. */
  public static final TransactionOptions DEFAULT =
      new TransactionOptions(VersionVector.EMPTY, false, Duration.ofMinutes(1));

  public TransactionOptions {
    long millis = TimeLimit.millis(present(limit, "a transaction's time limit"));
    if (millis < 1 || millis > Request.TRANSACTION_LIMIT_MILLIS_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a transaction's time limit must be 1 to %s ms, not %s"
              .formatted(Request.TRANSACTION_LIMIT_MILLIS_MAX, limit));
    }
  }

  /** Returns these options with the newest snapshot, which must cover the given version vector. */
  public TransactionOptions atLeast(VersionVector atLeast) {
    return new TransactionOptions(atLeast, false, limit);
  }

  /**
   * Returns these options with a snapshot of the past: the oldest one that covers the given version
   * vector. If the vector was taken at the same datacenter, the snapshot is exactly what was
   * visible there at that time. Such a transaction can only read. It fails with SNAPSHOT_TOO_OLD if
   * the snapshot is older than the keyspace's {@code history}.
   */
  public TransactionOptions at(VersionVector then) {
    return new TransactionOptions(then, true, limit);
  }

  /** Returns these options with another time limit: 1 ms to ten minutes. */
  public TransactionOptions limit(Duration other) {
    return new TransactionOptions(clock, past, other);
  }
}
