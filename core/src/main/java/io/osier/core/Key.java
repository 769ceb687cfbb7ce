package io.osier.core;

import io.osier.core.memory.HeapSize;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A key: 1 to {@value #LENGTH_MAX} bytes, ordered as unsigned bytes. Immutable and safe for any
 * thread.
 */
public final class Key implements Comparable<Key> {
  /** Longest key that the formats can carry, in bytes; a keyspace's policy may allow less. */
  public static final int LENGTH_MAX = 4096;

  private final byte[] bytes;
  private final int hash;

  private Key(byte[] bytes) {
    if (bytes.length == 0 || bytes.length > LENGTH_MAX) {
      throw OsierException.of(
          bytes.length == 0 ? ErrorCode.INVALID_ARGUMENT : ErrorCode.KEY_TOO_LARGE,
          "a key has 1 to " + LENGTH_MAX + " bytes, not " + bytes.length);
    }
    this.bytes = bytes;
    this.hash = mix(Arrays.hashCode(bytes));
  }

  private static int mix(int h) {
    int x = h * 0x9E3779B9;
    return x ^ (x >>> 15);
  }

  /** Returns the key of a text, in UTF-8. */
  public static Key of(String text) {
    Utf8.length(Present.present(text, "a key"));
    return new Key(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the key of these bytes, which are copied. */
  public static Key of(byte[] bytes) {
    return new Key(Present.present(bytes, "a key").clone());
  }

  /** Returns the key of a range of bytes, which are copied. */
  public static Key of(byte[] bytes, int from, int to) {
    return new Key(Arrays.copyOfRange(bytes, from, to));
  }

  /** Returns the first key behind all that begin with this one; empty if no key is behind them. */
  public Optional<Key> afterPrefix() {
    int last = bytes.length - 1;
    while (last >= 0 && bytes[last] == (byte) 0xff) {
      last--;
    }
    if (last < 0) {
      return Optional.empty();
    }
    byte[] end = Arrays.copyOf(bytes, last + 1);
    end[last]++;
    return Optional.of(new Key(end));
  }

  /** Copies the bytes to another place. */
  public void copyTo(byte[] target, int at) {
    System.arraycopy(bytes, 0, target, at, bytes.length);
  }

  /** Returns a copy of the bytes. */
  public byte[] toBytes() {
    return bytes.clone();
  }

  /** Returns about how many bytes the key takes in the heap. */
  public long heapBytes() {
    return HeapSize.object(HeapSize.REFERENCE + 4) + HeapSize.array(bytes.length, 1);
  }

  /** Returns the number of bytes. */
  public int length() {
    return bytes.length;
  }

  /** Returns the byte at an index. */
  public byte byteAt(int index) {
    return bytes[index];
  }

  /** Returns the key's partition; only for {@link Partitioning#of}. */
  int partition(int partitions, boolean byTag) {
    int of = byTag ? tagHash() : hash;
    return (int) (((of & 0xffffffffL) * partitions) >>> 32);
  }

  /**
   * Returns the hash that the key's tag would have as a key; the key's own hash if it has no tag.
   */
  private int tagHash() {
    int from = tagStart();
    if (from == 0) {
      return hash;
    }
    int to = tagEnd(from);
    int of = 1; // as Arrays.hashCode begins
    for (int i = from; i < to; i++) {
      of = 31 * of + bytes[i];
    }
    return mix(of);
  }

  /** Returns where the key's tag begins; 0 if it has none. */
  int tagStart() {
    int from = indexOf('{', 0) + 1;
    return from > 0 && tagEnd(from) > from ? from : 0;
  }

  /** Returns the end of the tag that begins at {@code from}; -1 if it does not end. */
  int tagEnd(int from) {
    return indexOf('}', from);
  }

  /** Returns the first index of a byte from {@code from} on; -1 if there is none. */
  int indexOf(char wanted, int from) {
    for (int i = from; i < bytes.length; i++) {
      if (bytes[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  /** Returns a hash for a table whose keys others may choose. */
  public long hashBy(KeyedHash hash) {
    return hash.of(bytes, 0, bytes.length);
  }

  /** Whether this key begins with another one, or equals it. */
  public boolean startsWith(Key prefix) {
    return bytes.length >= prefix.bytes.length
        && Arrays.equals(bytes, 0, prefix.bytes.length, prefix.bytes, 0, prefix.bytes.length);
  }

  /** Whether a range of bytes equals this key. */
  public boolean isAt(byte[] other, int from, int length) {
    return length == bytes.length && Arrays.equals(bytes, 0, length, other, from, from + length);
  }

  /** As {@link #compareTo}, with the key that a range of bytes is. */
  public int compareTo(byte[] other, int from, int length) {
    return Arrays.compareUnsigned(bytes, 0, bytes.length, other, from, from + length);
  }

  @Override
  public int compareTo(Key other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(@Nullable Object o) {
    return o == this || (o instanceof Key k && k.hash == hash && Arrays.equals(bytes, k.bytes));
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /** Returns the key as text: as UTF-8 if it is, otherwise as 0x and hexadecimal digits. */
  @Override
  public String toString() {
    return Value.printable(bytes);
  }
}
