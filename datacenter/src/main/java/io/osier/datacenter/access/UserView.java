package io.osier.datacenter.access;

import io.osier.core.Grant;
import java.util.List;

/**
 * A user as shown to an operator.
 *
 * @param hasPassword whether the user can log in with a password
 * @param fromFile whether it comes from the configuration file, and no command has changed users
 *     yet
 * @param by the author of its creation; empty if it comes from the file
 * @param atMillis when it was made, in milliseconds since 1970; 0 if it comes from the file
 */
public record UserView(
    String name,
    boolean hasPassword,
    List<Grant> grants,
    boolean fromFile,
    String by,
    long atMillis) {
  public UserView {
    grants = List.copyOf(grants);
  }
}
