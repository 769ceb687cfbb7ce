package io.osier.proxy;

import io.osier.core.AmbiguousException;
import io.osier.core.ErrorCode;

/** An update was sent and no answer came: it may or may not have been done. */
public final class OutcomeUnknownException extends AmbiguousException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception of a call that may have been done; public for programs' tests, too. */
  public OutcomeUnknownException(ErrorCode code, String message) {
    super(code, message + "; the update may or may not have been done", null);
  }
}
