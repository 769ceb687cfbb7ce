package io.osier.datacenter.redis.pubsub;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A channel of a keyspace, or a pattern of channels. Immutable. */
public final class Topic implements Comparable<Topic> {
  /** Longest name of a channel and longest pattern, in bytes. */
  public static final int NAME_BYTES_MAX = 1_024;

  private final boolean pattern;
  private final String keyspace;
  private final byte[] name;
  private final int hash;

  private Topic(boolean pattern, String keyspace, byte[] name) {
    this.pattern = pattern;
    this.keyspace = keyspace;
    this.name = name;
    this.hash = 31 * keyspace.hashCode() + Arrays.hashCode(name);
  }

  /**
   * Returns a channel.
   *
   * @param name the name, which nobody changes
   */
  public static Topic channel(String keyspace, byte[] name) {
    return new Topic(false, keyspace, name);
  }

  /**
   * Returns a pattern.
   *
   * @param pattern the pattern, which nobody changes
   */
  public static Topic pattern(String keyspace, byte[] pattern) {
    return new Topic(true, keyspace, pattern);
  }

  public boolean isPattern() {
    return pattern;
  }

  public String keyspace() {
    return keyspace;
  }

  /** Returns the channel's name, or the pattern; not to be changed. */
  public byte[] name() {
    return name;
  }

  /** Compares by an arbitrary total order, which sorted tables need. */
  @Override
  public int compareTo(Topic other) {
    int order = Integer.compare(hash, other.hash);
    if (order == 0) {
      order = Boolean.compare(pattern, other.pattern);
    }
    if (order == 0) {
      order = keyspace.compareTo(other.keyspace);
    }
    return order == 0 ? Arrays.compare(name, other.name) : order;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Topic t
        && hash == t.hash
        && pattern == t.pattern
        && keyspace.equals(t.keyspace)
        && Arrays.equals(name, t.name);
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
