package io.osier.proxy;

import io.osier.core.Grant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A user as the datacenters have it.
 *
 * @param hasPassword whether the user can log in with one
 * @param fromFile whether configuration files name it, and not a command
 * @param madeBy the user who made it; empty if it is of a file, or there were no users
 * @param madeAt when; empty if it is of a file
 */
public record UserStatus(
    String name,
    boolean hasPassword,
    List<Grant> rights,
    boolean fromFile,
    Optional<String> madeBy,
    Optional<Instant> madeAt) {
  public UserStatus {
    rights = List.copyOf(rights);
  }
}
