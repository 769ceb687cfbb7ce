package io.osier.datacenter.frontend;

import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * As whom a connection has logged in, with the user found last, since that is asked for each
 * request. Used by the connection's loop only.
 */
final class ConnectionUser {
  private final Identity identity;
  private @Nullable Users seen;
  private Optional<User> user = Optional.empty();

  ConnectionUser(Identity identity) {
    this.identity = identity;
  }

  /** The user, as it is among these; empty if it is not any more. */
  @SuppressWarnings("ReferenceEquality") // other users are another object
  Optional<User> in(Users users) {
    if (seen != users) {
      user = identity.in(users);
      seen = users;
    }
    return user;
  }

  /** As whom it has logged in; for any thread. */
  Identity identity() {
    return identity;
  }
}
