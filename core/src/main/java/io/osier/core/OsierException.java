package io.osier.core;

import org.jspecify.annotations.Nullable;

/**
 * An error with a stable code and a message that says what is wrong and what would be right. What
 * the client library throws is of one of five classes, by what its caller does: mend the call, try
 * elsewhere, wait, give up, or look what was done. docs/API.md has the codes of each.
 */
public sealed class OsierException extends RuntimeException
    permits InvalidRequestException,
        UnavailableException,
        TransientException,
        PermanentException,
        AmbiguousException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final String reason;

  /** An error of its own, of none of the classes below; {@link #of} chooses one. */
  public OsierException(ErrorCode code, String reason) {
    this(code, reason, null);
  }

  /**
   * An error with a cause.
   *
   * @param reason what is wrong, and what would be right; the code is put before it
   */
  public OsierException(ErrorCode code, @Nullable String reason, @Nullable Throwable cause) {
    super(reason, cause);
    this.code = code;
    String text = String.valueOf(reason);
    String prefix = code + ": ";
    this.reason = text.startsWith(prefix) ? text.substring(prefix.length()) : text;
  }

  /** The error of a code, of the class that says what its caller does. */
  public static OsierException of(ErrorCode code, @Nullable String reason) {
    return of(code, reason, null);
  }

  /** As {@link #of(ErrorCode, String)}, with a cause. */
  public static OsierException of(
      ErrorCode code, @Nullable String reason, @Nullable Throwable cause) {
    return switch (code) {
      case INVALID_ARGUMENT,
          UNKNOWN_KEYSPACE,
          WRONG_TYPE,
          KEY_TOO_LARGE,
          VALUE_TOO_LARGE,
          OVERFLOW,
          CONFIGURATION ->
          new InvalidRequestException(code, reason, cause);
      case UNAVAILABLE, SHUTTING_DOWN, REFUSED_BY_PEERS, STORE_FULL ->
          new UnavailableException(code, reason, cause);
      case OVERLOADED, TIMEOUT, SESSION_BEHIND, NOT_ENOUGH_RIGHTS ->
          new TransientException(code, reason, cause);
      case SESSION_LOST,
          MALFORMED,
          VERSION_MISMATCH,
          DUPLICATE_DC,
          INTERNAL,
          STORE_DAMAGED,
          TRANSACTION_ENDED,
          SNAPSHOT_TOO_OLD,
          TRANSACTION_FORGOTTEN,
          NOT_AUTHENTICATED,
          FORBIDDEN,
          NOT_A_MEMBER,
          HISTORY_TOO_SHORT,
          WATCHER_TOO_SLOW,
          CANCELLED ->
          new PermanentException(code, reason, cause);
    };
  }

  /** This error, or if it is of none of the classes below its like that is. */
  public final OsierException classified() {
    return getClass() == OsierException.class ? of(code, reason, this) : this;
  }

  /** The code, and the {@link #reason}. */
  @Override
  public String getMessage() {
    return code + ": " + reason;
  }

  /** What is wrong, and what would be right, without the code. */
  public final String reason() {
    return reason;
  }

  /** What a failure says, without a code: for a message that has a code of its own. */
  public static String reasonOf(Throwable failure) {
    return failure instanceof OsierException known
        ? known.reason()
        : String.valueOf(failure.getMessage());
  }

  /** The stable code. */
  public final ErrorCode code() {
    return code;
  }
}
