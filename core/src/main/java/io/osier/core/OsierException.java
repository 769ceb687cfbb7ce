package io.osier.core;

import org.jspecify.annotations.Nullable;

/** An error with a stable code and a message that says what is wrong and what would be right. */
public class OsierException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  /** An error of its own. */
  public OsierException(ErrorCode code, String message) {
    super(message);
    this.code = code;
  }

  /** An error with a cause. */
  public OsierException(ErrorCode code, @Nullable String message, Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** The stable code. */
  public ErrorCode code() {
    return code;
  }
}
