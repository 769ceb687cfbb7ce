package io.osier.crdt;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * The key of an entry of a set or a map, as bytes whose unsigned order is the order of the keys.
 * Immutable; thread-safe.
 *
 * @param bytes not to be changed; empty if it stands for an end of all keys
 */
@SuppressWarnings("ArrayRecordComponent") // compared by content, and never changed
public record EntryKey(byte[] bytes) {
  /** Lies before the first key, or behind the last one. */
  public static final EntryKey NONE = new EntryKey(new byte[0]);

  /** Whether it stands for an end of all keys. */
  public boolean isNone() {
    return bytes.length == 0;
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof EntryKey k && Arrays.equals(bytes, k.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return isNone() ? "none" : HexFormat.of().formatHex(bytes);
  }
}
