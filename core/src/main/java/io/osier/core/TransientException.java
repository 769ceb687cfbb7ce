package io.osier.core;

import org.jspecify.annotations.Nullable;

/**
 * Wait, and try again: a queue is full, the time was too short, or what the session has seen or the
 * rights of a bounded counter are still on their way. Nothing was done. Pause longer after each
 * failure.
 */
public final class TransientException extends OsierException {
  private static final long serialVersionUID = 1L;

  TransientException(ErrorCode code, @Nullable String reason, @Nullable Throwable cause) {
    super(code, reason, cause);
  }
}
