package io.osier.proxy;

import io.osier.core.ErrorCode;

/** Why a request has no answer. What a client's caller sees instead is an OsierException. */
public final class LostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean sent;
  private final ErrorCode code;
  private final String inWords;

  /**
   * A request without an answer.
   *
   * @param code TIMEOUT if the time was over, otherwise UNAVAILABLE, or what is wrong with it
   * @param sent whether it may have reached the datacenter
   */
  public LostException(ErrorCode code, boolean sent, String message) {
    super(message, null, false, false);
    this.code = code;
    this.sent = sent;
    this.inWords = message;
  }

  /** Whether the request may have reached the datacenter. */
  public boolean isSent() {
    return sent;
  }

  /** TIMEOUT, UNAVAILABLE, or what is wrong with the request. */
  public ErrorCode code() {
    return code;
  }

  @Override
  public String getMessage() {
    return inWords;
  }
}
