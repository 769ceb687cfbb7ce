package io.osier.core;

import org.jspecify.annotations.Nullable;

/** An error with a stable code and a message that says what is wrong and what would be right. */
public class OsierException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final String message;

  /** An error of its own. */
  public OsierException(ErrorCode code, String message) {
    super(message);
    this.code = code;
    this.message = message;
  }

  /** An error with a cause. */
  public OsierException(ErrorCode code, @Nullable String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
    this.message = String.valueOf(message);
  }

  /** What is wrong, and what would be right. */
  @Override
  public String getMessage() {
    return message;
  }

  /** The stable code. */
  public ErrorCode code() {
    return code;
  }
}
