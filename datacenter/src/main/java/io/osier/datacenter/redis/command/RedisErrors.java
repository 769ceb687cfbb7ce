package io.osier.datacenter.redis.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Locale;

/** The errors that clients read, in Redis' words. Static, for any thread. */
public final class RedisErrors {
  public static final String WRONG_TYPE =
      "WRONGTYPE Operation against a key holding the wrong kind of value";

  public static final String SYNTAX = "ERR syntax error";
  public static final String NO_INTEGER = "ERR value is not an integer or out of range";
  public static final String NO_FLOAT = "ERR value is not a valid float";
  public static final String OUT_OF_RANGE = "ERR value is out of range";
  public static final String OVERFLOW = "ERR increment or decrement would overflow";
  public static final String INFINITE = "ERR increment would produce NaN or Infinity";
  public static final String NO_KEY = "ERR no such key";

  public static final String TOO_LONG =
      "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

  public static final String OTHER_SLOT = "CROSSSLOT Keys in request don't hash to the same slot";

  /** The error of a command that has begun again too often. */
  public static final String BUSY =
      "BUSY nothing was done: others changed the key all the time; try again";

  private static final String NOTHING_DONE = "BUSY nothing was done: ";

  private RedisErrors() {}

  /**
   * Returns whether a connection must end instead of answering: the outcome of a request is
   * unknown, the datacenter shuts down, or what the connection was shown earlier is out of reach.
   * Every client understands the end of a connection, and a new connection has been shown nothing.
   * A request that waits for updates ({@link ProgressRequest.Reach}) is answered that they have not
   * come.
   */
  public static boolean endConnection(List<Request> asked, Reply[] replies) {
    for (int i = 0; i < replies.length; i++) {
      if (replies[i] instanceof Reply.Failure f
          && (endsConnection(f.code())
              || (f.code() == ErrorCode.SESSION_BEHIND
                  && !(asked.get(i) instanceof ProgressRequest.Reach)))) {
        return true;
      }
    }
    return false;
  }

  private static boolean endsConnection(ErrorCode code) {
    return code == ErrorCode.TIMEOUT
        || code == ErrorCode.SHUTTING_DOWN
        || code == ErrorCode.MALFORMED;
  }

  public static RespValue.Err of(Reply.Failure failure) {
    return new RespValue.Err(text(failure.code(), failure.message()));
  }

  /** Returns the error of a command of which other parts may have been done. */
  public static RespValue.Err ofPart(Reply.Failure failure) {
    String text = text(failure.code(), failure.message());
    return new RespValue.Err(
        text.startsWith(NOTHING_DONE)
            ? "BUSY only a part was done: " + text.substring(NOTHING_DONE.length())
            : text);
  }

  /** Returns the error for what a command has thrown. */
  public static RespValue.Err of(RuntimeException e) {
    return new RespValue.Err(
        switch (e) {
          case RedisException wrong -> wrong.error();
          case OsierException known -> text(known.code(), known.reason());
          default -> "ERR internal error in the datacenter: " + e;
        });
  }

  public static RedisException arity(String command) {
    return new RedisException(
        "ERR wrong number of arguments for '" + command.toLowerCase(Locale.ROOT) + "' command");
  }

  /**
   * Checks how many words a command or subcommand has.
   *
   * @param least at least 2 for a subcommand, else 1
   * @throws RedisException if there are fewer or more words
   */
  public static void checkArity(byte[][] words, int least, int most) {
    if (words.length < least || words.length > most) {
      String part = least > 1 && words.length > 1 ? "|" + RespDecoder.text(words[1]) : "";
      throw arity(RespDecoder.text(words[0]) + part);
    }
  }

  /**
   * Returns the error that a subcommand is unknown.
   *
   * @param known those that the command has
   */
  public static RedisException unknownPart(byte[][] words, String... known) {
    return new RedisException(
        "ERR unknown subcommand '"
            + RespDecoder.shown(words[1])
            + "'. "
            + RespDecoder.text(words[0]).toUpperCase(Locale.ROOT)
            + " has "
            + String.join(", ", known)
            + ".");
  }

  public static RedisException syntax() {
    return new RedisException(SYNTAX);
  }

  public static RedisException wrongType() {
    return new RedisException(WRONG_TYPE);
  }

  static String text(ErrorCode code, String reason) {
    String line = reason.replace('\r', ' ').replace('\n', ' ');
    return switch (code) {
      case WRONG_TYPE -> WRONG_TYPE;
      case OVERFLOW -> OVERFLOW;
      case VALUE_TOO_LARGE, KEY_TOO_LARGE -> TOO_LONG + ": " + line;
      case UNKNOWN_KEYSPACE -> "ERR DB index is out of range";
      case NOT_AUTHENTICATED -> "NOAUTH Authentication required.";
      case FORBIDDEN -> "NOPERM " + line;
      case UNAVAILABLE, SESSION_BEHIND, NOT_A_MEMBER -> "LOADING " + line;
      case OVERLOADED, NOT_ENOUGH_RIGHTS -> NOTHING_DONE + line;
      case STORE_FULL, REFUSED_BY_PEERS -> "MISCONF " + line;
      case MALFORMED -> "ERR Protocol error: " + line;
      default -> "ERR " + line;
    };
  }
}
