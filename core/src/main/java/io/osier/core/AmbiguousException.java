package io.osier.core;

import org.jspecify.annotations.Nullable;

/**
 * Look before trying again: the update may have been done, in full or in part. An update that may
 * be done twice (an assignment, an element of a set) can be tried again at once.
 */
public abstract non-sealed class AmbiguousException extends OsierException {
  private static final long serialVersionUID = 1L;

  protected AmbiguousException(ErrorCode code, @Nullable String reason, @Nullable Throwable cause) {
    super(code, reason, cause);
  }
}
