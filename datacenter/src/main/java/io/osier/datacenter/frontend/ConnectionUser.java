package io.osier.datacenter.frontend;

import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a connection, with the user that was found for it last, since each request looks
 * it up. For the connection's loop only.
 */
final class ConnectionUser {
  private final Identity identity;
  private @Nullable Users seen;
  private Optional<User> user = Optional.empty();

  ConnectionUser(Identity identity) {
    this.identity = identity;
  }

  /** Returns the user as it is among these; empty if it no longer exists. */
  @SuppressWarnings("ReferenceEquality") // other users are another object
  Optional<User> in(Users users) {
    if (seen != users) {
      user = identity.in(users);
      seen = users;
    }
    return user;
  }

  /** Returns the identity; for any thread. */
  Identity identity() {
    return identity;
  }
}
