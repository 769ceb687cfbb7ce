package io.osier.datacenter.redis.command;

/** A command is wrong; the message is the error as Redis words it. */
public final class RedisException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String error;

  /**
   * @param error for example {@code ERR syntax error}
   */
  public RedisException(String error) {
    super(error, null, false, false);
    this.error = error;
  }

  public String error() {
    return error;
  }
}
