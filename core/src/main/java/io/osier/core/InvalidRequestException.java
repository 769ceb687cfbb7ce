package io.osier.core;

import org.jspecify.annotations.Nullable;

/**
 * Correct the call: it, or a setting, breaks a rule, which the message names together with what
 * would be right. Nothing was done, and the same call fails again, anywhere and at any time.
 */
public final class InvalidRequestException extends OsierException {
  private static final long serialVersionUID = 1L;

  InvalidRequestException(ErrorCode code, @Nullable String reason, @Nullable Throwable cause) {
    super(code, reason, cause);
  }
}
