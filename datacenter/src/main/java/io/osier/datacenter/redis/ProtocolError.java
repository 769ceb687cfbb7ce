package io.osier.datacenter.redis;

/**
 * Bytes of a client that are no command of the Redis protocol. What follows them cannot be read, so
 * the connection ends.
 */
public final class ProtocolError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param what the reason, without the words "Protocol error" in front of it
   */
  public ProtocolError(String what) {
    super("Protocol error: " + what, null, false, false);
  }
}
