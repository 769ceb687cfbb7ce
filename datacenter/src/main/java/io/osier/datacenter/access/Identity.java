package io.osier.datacenter.access;

import io.osier.core.scram.ScramCredential;
import java.util.Optional;

/**
 * As whom a connection has logged in.
 *
 * @param by the credential that the password was compared with; empty for the default user, and for
 *     one with a certificate
 */
public record Identity(String user, Optional<ScramCredential> by) {
  /** Of a connection that does not log in. */
  public static final Identity DEFAULT = new Identity(Users.DEFAULT, Optional.empty());

  /**
   * The user, as it is now: empty if there is none of the name any more, or if the password is not
   * the one any more that was given at the login.
   */
  public Optional<User> in(Users users) {
    return users.find(user).filter(u -> by.isEmpty() || u.credential().equals(by));
  }
}
