package io.osier.core;

import org.jspecify.annotations.Nullable;

/**
 * An error with a stable code and a message that says what is wrong and what would be right. The
 * client library throws five subclasses, by what the caller should do: correct the call, try
 * elsewhere, wait, give up, or look whether it was done. docs/API.md lists the codes of each.
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

  /** Creates an error of none of the subclasses; {@link #of} chooses one. */
  public OsierException(ErrorCode code, String reason) {
    this(code, reason, null);
  }

  /**
   * Creates an error with a cause.
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

  /** Returns an error with this code, of the subclass that fits it. */
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

  /** Returns this error, or if it is of none of the subclasses, the same error as one of them. */
  public final OsierException classified() {
    return getClass() == OsierException.class ? of(code, reason, this) : this;
  }

  /** Returns the code, and the {@link #reason}. */
  @Override
  public String getMessage() {
    return code + ": " + reason;
  }

  /** Returns what is wrong, and what would be right, without the code. */
  public final String reason() {
    return reason;
  }

  /** Returns a failure's message without a code, for a message that has a code of its own. */
  public static String reasonOf(Throwable failure) {
    return failure instanceof OsierException known
        ? known.reason()
        : String.valueOf(failure.getMessage());
  }

  /** Returns the stable code. */
  public final ErrorCode code() {
    return code;
  }
}
