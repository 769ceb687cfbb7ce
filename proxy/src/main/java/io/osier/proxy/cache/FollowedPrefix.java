package io.osier.proxy.cache;

import io.osier.core.Key;
import java.time.Duration;
import java.util.Optional;

/**
 * A prefix of keys of one keyspace whose changes are followed.
 *
 * @param key the prefix; empty for all keys
 * @param atMost how long an answer may be kept
 */
public record FollowedPrefix(String keyspace, Optional<Key> key, Duration atMost) {
  /** Returns the prefix of keys that begin with a text; of all keys if the text is empty. */
  public static FollowedPrefix of(String keyspace, String text, Duration atMost) {
    return new FollowedPrefix(
        keyspace, text.isEmpty() ? Optional.empty() : Optional.of(Key.of(text)), atMost);
  }

  public boolean isOfTheSameKeys(FollowedPrefix other) {
    return keyspace.equals(other.keyspace) && key.equals(other.key);
  }

  boolean covers(String of, Key some) {
    return keyspace.equals(of) && (key.isEmpty() || some.startsWith(key.get()));
  }

  public int length() {
    return key.map(Key::length).orElse(0);
  }

  @Override
  public String toString() {
    return keyspace + " " + key.map(Key::toString).orElse("") + "*";
  }
}
