package io.osier.datacenter.redis;

/** What came is no command of the Redis protocol: nothing behind it can be read. */
public final class ProtocolError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param what without the words "Protocol error" in front of it
   */
  public ProtocolError(String what) {
    super("Protocol error: " + what, null, false, false);
  }
}
