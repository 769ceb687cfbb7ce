package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.core.time.TimeLimit;
import java.time.Duration;
import java.util.Optional;

/**
 * The options of a new session. Immutable.
 *
 * @param datacenter the endpoint to which all its requests go ({@link Session#pin}); empty for the
 *     nearest one
 * @param past what the session must see at least; empty for nothing
 * @param patience how long a call waits for what the session has seen before it goes on without it
 *     ({@link #goOnAfter}); empty for never
 */
public record SessionOptions(
    Optional<String> datacenter, Optional<SessionToken> past, Optional<Duration> patience) {
  /** The session uses the nearest datacenter, has seen nothing, and never gives up a guarantee. */
  public static final SessionOptions DEFAULT =
      new SessionOptions(Optional.empty(), Optional.empty(), Optional.empty());

  /** Returns these options for a session at one datacenter; see {@link Session#pin}. */
  public SessionOptions at(String endpoint) {
    return new SessionOptions(Optional.of(endpoint), past, patience);
  }

  /**
   * Returns these options for a session that sees at least as much as another session had seen when
   * the token was taken.
   */
  public SessionOptions after(SessionToken token) {
    return new SessionOptions(datacenter, Optional.of(token), patience);
  }

  /**
   * As {@link #after(SessionToken)}.
   *
   * @param token a result of {@link SessionToken#encode}
   * @throws OsierException INVALID_ARGUMENT if the text is no token
   */
  public SessionOptions after(String token) {
    return after(SessionToken.decode(token));
  }

  /**
   * Lets the session go on where it would fail with SESSION_BEHIND or SESSION_LOST: if no reachable
   * datacenter has received all that the session has seen, the session no longer waits for the
   * missing updates, and {@link Session#losses} names them. After a failover they are missing until
   * the lost datacenter returns, or for ever if that has lost its memory. An update of the session
   * that was under way may still wait for them; a read that follows does not wait, and may be done
   * before that update.
   *
   * @param patience how long each call waits first, at most half of the client's time limit
   */
  public SessionOptions goOnAfter(Duration patience) {
    return new SessionOptions(
        datacenter, past, Optional.of(TimeLimit.notNegative("patience", patience)));
  }
}
