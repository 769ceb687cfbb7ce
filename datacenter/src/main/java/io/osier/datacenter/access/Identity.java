package io.osier.datacenter.access;

import io.osier.core.scram.ScramCredential;
import java.util.Optional;

/**
 * The user as which a connection has logged in.
 *
 * @param user the user's name
 * @param by the credential with which the password was compared; empty for the default user, and
 *     for a user with a certificate
 */
public record Identity(String user, Optional<ScramCredential> by) {
  /** The identity of a connection that does not log in. */
  public static final Identity DEFAULT = new Identity(Users.DEFAULT, Optional.empty());

  /**
   * Returns the user as it is now; empty if it no longer exists, or if its password has changed
   * since the login.
   */
  public Optional<User> in(Users users) {
    return users.find(user).filter(u -> by.isEmpty() || u.credential().equals(by));
  }
}
