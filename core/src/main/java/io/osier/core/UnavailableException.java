package io.osier.core;

import org.jspecify.annotations.Nullable;

/**
 * Try another datacenter: none could be reached within the time limit, or the one that answered
 * does not take requests now. Nothing was done. A client with several endpoints has already tried
 * them all, except for {@link ErrorCode#STORE_FULL}.
 */
public final class UnavailableException extends OsierException {
  private static final long serialVersionUID = 1L;

  UnavailableException(ErrorCode code, @Nullable String reason, @Nullable Throwable cause) {
    super(code, reason, cause);
  }
}
