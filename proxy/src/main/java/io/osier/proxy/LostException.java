package io.osier.proxy;

import io.osier.core.ErrorCode;

/** Says why a request has no answer. The client's callers see an OsierException in its place. */
public final class LostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean sent;
  private final ErrorCode code;
  private final String inWords;

  /**
   * Makes the error of a request without an answer.
   *
   * @param code TIMEOUT if the time limit ended, UNAVAILABLE if the connection was lost, or what is
   *     wrong with the request
   * @param sent whether the request may have reached the datacenter
   */
  public LostException(ErrorCode code, boolean sent, String message) {
    super(message, null, false, false);
    this.code = code;
    this.sent = sent;
    this.inWords = message;
  }

  /** Returns whether the request may have reached the datacenter. */
  public boolean isSent() {
    return sent;
  }

  /** Returns TIMEOUT, UNAVAILABLE, or what is wrong with the request. */
  public ErrorCode code() {
    return code;
  }

  @Override
  public String getMessage() {
    return inWords;
  }
}
