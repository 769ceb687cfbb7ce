package io.osier.proxy;

import java.time.Duration;
import java.util.Optional;

/**
 * What was read, and how old it may be; see {@link ObjectSpace#aged}.
 *
 * @param age how old it may have been, at most, when it was answered: none of the datacenters that
 *     hold the keyspace could be reached, and a copy answered in their place; of several reads the
 *     oldest. Empty if all of it is current
 */
public record Aged<T>(T value, Optional<Duration> age) {
  /** Whether all of it was answered by who holds the keyspace, or by a copy that is up to date. */
  public boolean isCurrent() {
    return age.isEmpty();
  }
}
