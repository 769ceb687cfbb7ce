package io.osier.proxy;

import io.osier.core.OsierException;
import java.util.Optional;

/**
 * How a session begins. Immutable.
 *
 * @param datacenter the endpoint that all its requests go to ({@link Session#pin}); empty for the
 *     nearest one
 * @param past what it must see at least; empty for nothing
 */
public record SessionOptions(Optional<String> datacenter, Optional<SessionToken> past) {
  /** At the nearest datacenter, without a past. */
  public static final SessionOptions DEFAULT =
      new SessionOptions(Optional.empty(), Optional.empty());

  /** At one datacenter alone; see {@link Session#pin}. */
  public SessionOptions at(String endpoint) {
    return new SessionOptions(Optional.of(endpoint), past);
  }

  /** Going on where another session was when the token was taken. */
  public SessionOptions after(SessionToken token) {
    return new SessionOptions(datacenter, Optional.of(token));
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
}
