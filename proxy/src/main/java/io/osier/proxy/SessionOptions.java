package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.core.time.TimeLimit;
import java.time.Duration;
import java.util.Optional;

/**
 * How a session begins. Immutable.
 *
 * @param datacenter the endpoint that all its requests go to ({@link Session#pin}); empty for the
 *     nearest one
 * @param past what it must see at least; empty for nothing
 * @param patience how long a call waits for what the session has seen before it goes on without it
 *     ({@link #goOnAfter}); empty for never
 */
public record SessionOptions(
    Optional<String> datacenter, Optional<SessionToken> past, Optional<Duration> patience) {
  /** At the nearest datacenter, without a past, and true to what it will have seen. */
  public static final SessionOptions DEFAULT =
      new SessionOptions(Optional.empty(), Optional.empty(), Optional.empty());

  /** At one datacenter alone; see {@link Session#pin}. */
  public SessionOptions at(String endpoint) {
    return new SessionOptions(Optional.of(endpoint), past, patience);
  }

  /** Going on where another session was when the token was taken. */
  public SessionOptions after(SessionToken token) {
    return new SessionOptions(datacenter, Optional.of(token), patience);
  }

  /**
   * As {@link #after(SessionToken)}.
   *
   * @param token what {@link SessionToken#encode} gave
   * @throws OsierException INVALID_ARGUMENT if it is no token
   */
  public SessionOptions after(String token) {
    return after(SessionToken.decode(token));
  }

  /**
   * Lets the session go on where it would fail with SESSION_BEHIND or SESSION_LOST: if no
   * datacenter that can be reached has what it has seen, it no longer asks for what is missing, and
   * {@link Session#losses} tells what that is. It is missing after a failover until the datacenter
   * that is gone returns, or for ever if that has lost its memory. An update of the session that
   * was under way then may still wait for it; a read that follows does not, and may come before it.
   *
   * @param patience how long each call waits first, at most half of the client's time limit
   */
  public SessionOptions goOnAfter(Duration patience) {
    return new SessionOptions(
        datacenter, past, Optional.of(TimeLimit.notNegative("patience", patience)));
  }
}
