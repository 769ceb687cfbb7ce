package io.osier.datacenter.redis.tracking;

import io.osier.core.Key;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.command.RedisException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The first bytes of keys of whose changes a client hears; may be empty. Immutable. */
public final class Prefix implements Comparable<Prefix> {
  public static final Prefix EMPTY = new Prefix(new byte[0]);

  private final byte[] bytes;

  private Prefix(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * @param bytes the prefix, which nobody changes
   * @throws RedisException if it is longer than any key
   */
  static Prefix of(byte[] bytes) {
    if (bytes.length > Key.LENGTH_MAX) {
      throw new RedisException(
          "ERR a prefix has at most " + Key.LENGTH_MAX + " bytes, not " + bytes.length);
    }
    return new Prefix(bytes);
  }

  /** Returns its bytes; not to be changed. */
  public byte[] bytes() {
    return bytes;
  }

  int length() {
    return bytes.length;
  }

  boolean isBeginOf(byte[] other) {
    return bytes.length <= other.length
        && Arrays.equals(bytes, 0, bytes.length, other, 0, bytes.length);
  }

  /** Returns whether a key can begin with both. */
  boolean overlaps(Prefix other) {
    return isBeginOf(other.bytes) || other.isBeginOf(bytes);
  }

  @Override
  public int compareTo(Prefix other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Prefix p && Arrays.equals(bytes, p.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return RespDecoder.shown(bytes);
  }
}
