package io.osier.datacenter.redis.command;

/** A command that is wrong. The message is the error in Redis' words. */
public final class RedisException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String error;

  /**
   * @param error the error as the client reads it, such as {@code ERR syntax error}
   */
  public RedisException(String error) {
    super(error, null, false, false);
    this.error = error;
  }

  public String error() {
    return error;
  }
}
