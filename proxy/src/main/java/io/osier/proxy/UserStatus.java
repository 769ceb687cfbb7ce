package io.osier.proxy;

import io.osier.core.Grant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A user as the datacenters know it.
 *
 * @param hasPassword whether the user can log in with a password
 * @param fromFile whether it comes from configuration files rather than a command
 * @param madeBy the user who made it; empty if it comes from a file, or there were no users
 * @param madeAt when it was made; empty if it comes from a file
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
