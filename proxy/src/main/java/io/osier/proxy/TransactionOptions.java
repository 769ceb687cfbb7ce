package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.time.TimeLimit;
import io.osier.protocol.Request;
import java.time.Duration;

/**
 * How a transaction begins. Immutable.
 *
 * @param clock what its snapshot contains at least, besides what the session has seen
 * @param past whether the snapshot is the oldest one that contains the clock
 * @param limit how long it may stay open; then the datacenter aborts it
 */
public record TransactionOptions(VersionVector clock, boolean past, Duration limit) {
  /** The newest snapshot, one minute. */
  public static final TransactionOptions DEFAULT =
      new TransactionOptions(VersionVector.EMPTY, false, Duration.ofMinutes(1));

  public TransactionOptions {
    long millis = TimeLimit.millis(present(limit, "a transaction's time limit"));
    if (millis < 1 || millis > Request.TRANSACTION_LIMIT_MILLIS_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a transaction's time limit must be 1 to "
              + Request.TRANSACTION_LIMIT_MILLIS_MAX
              + " ms, not "
              + limit);
    }
  }

  /** A snapshot that contains at least what a clock does; the newest of those. */
  public TransactionOptions atLeast(VersionVector atLeast) {
    return new TransactionOptions(atLeast, false, limit);
  }

  /**
   * A snapshot of the past: the oldest that contains the clock. Where the clock was taken at the
   * same datacenter that is exactly what was visible then. Such a transaction only reads. It fails
   * with SNAPSHOT_TOO_OLD beyond the keyspace's {@code history}.
   */
  public TransactionOptions at(VersionVector then) {
    return new TransactionOptions(then, true, limit);
  }

  /** Another time limit: 1 ms to ten minutes. */
  public TransactionOptions limit(Duration other) {
    return new TransactionOptions(clock, past, other);
  }
}
