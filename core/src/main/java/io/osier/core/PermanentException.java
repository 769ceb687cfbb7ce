package io.osier.core;

import org.jspecify.annotations.Nullable;

/**
 * Give this up: neither a pause nor another datacenter helps. If a transaction, a session's past or
 * a watcher's position has ended, a new one can be begun; otherwise somebody has to grant a right,
 * upgrade or repair. Nothing was done.
 */
public non-sealed class PermanentException extends OsierException {
  private static final long serialVersionUID = 1L;

  protected PermanentException(ErrorCode code, @Nullable String reason, @Nullable Throwable cause) {
    super(code, reason, cause);
  }
}
