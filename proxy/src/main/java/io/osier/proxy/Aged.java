package io.osier.proxy;

import java.time.Duration;
import java.util.Optional;

/**
 * A value that was read, and its greatest possible age; see {@link ObjectSpace#aged}.
 *
 * @param age the greatest age that the value may have had when the read was answered, if no holder
 *     of the keyspace could be reached and a copy answered instead; of several reads the greatest.
 *     Empty if the value is current
 */
public record Aged<T>(T value, Optional<Duration> age) {
  /** Returns whether holders of the keyspace, or copies that are up to date, answered all reads. */
  public boolean isCurrent() {
    return age.isEmpty();
  }
}
