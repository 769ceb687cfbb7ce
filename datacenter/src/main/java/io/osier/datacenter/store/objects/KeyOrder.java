package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Keeps keys in order, in few bytes: leaves of about a kilobyte, each one array, in a skip list by
 * their lower bounds. A leaf is replaced as a whole, so readers see the old or the new one.
 *
 * <p>One thread changes it; any may read.
 */
final class KeyOrder {
  /** A larger leaf is split. */
  static final int LEAF_BYTES_MAX = 1_024;

  /** The lower bound of the first leaf: no key is before it. */
  static final Key LEAST = Key.of(new byte[] {0});

  private static final byte[] EMPTY = {};

  /**
   * The leaves by their lower bounds: ascending keys, each after its length, none below the bound.
   */
  private final ConcurrentNavigableMap<Key, byte[]> leaves = new ConcurrentSkipListMap<>();

  KeyOrder() {
    leaves.put(LEAST, EMPTY);
  }

  void add(Key key) {
    Map.Entry<Key, byte[]> leaf = leaves.floorEntry(key);
    byte[] keys = leaf.getValue();
    int at = place(keys, key);
    byte[] added = new byte[keys.length + lengthOf(key)];
    System.arraycopy(keys, 0, added, 0, at);
    int behind = PackedObjects.put(key, added, at);
    System.arraycopy(keys, at, added, behind, keys.length - at);
    if (added.length <= LEAF_BYTES_MAX || keys.length == 0) {
      leaves.put(leaf.getKey(), added);
      return;
    }
    // Keys that are added in order fill their leaves.
    int middle = at == keys.length ? at : middle(added);
    // The right half first: a reader finds each key in one of the two at every moment.
    leaves.put(keyAt(added, middle), Arrays.copyOfRange(added, middle, added.length));
    leaves.put(leaf.getKey(), Arrays.copyOf(added, middle));
  }

  /** Removes a key, which must be there. */
  void remove(Key key) {
    Map.Entry<Key, byte[]> leaf = leaves.floorEntry(key);
    byte[] keys = leaf.getValue();
    int at = place(keys, key);
    int behind = at + lengthOf(key);
    byte[] left = new byte[keys.length - lengthOf(key)];
    System.arraycopy(keys, 0, left, 0, at);
    System.arraycopy(keys, behind, left, at, keys.length - behind);
    if (left.length == 0 && !leaf.getKey().equals(LEAST)) {
      leaves.remove(leaf.getKey());
    } else {
      leaves.put(leaf.getKey(), left);
    }
  }

  /**
   * Returns the next keys, ascending: those of one leaf.
   *
   * @param from the least key that is wanted
   * @return empty only if there is none
   */
  List<Key> from(Key from) {
    return next(from, true);
  }

  /** As {@link #from}, without the key itself. */
  List<Key> after(Key before) {
    return next(before, false);
  }

  private List<Key> next(Key bound, boolean inclusive) {
    List<Key> found = new ArrayList<>();
    Map.Entry<Key, byte[]> leaf = leaves.floorEntry(bound);
    while (leaf != null && found.isEmpty()) {
      byte[] keys = leaf.getValue();
      for (int at = place(keys, bound); at < keys.length; ) {
        Key key = keyAt(keys, at);
        if (inclusive || !key.equals(bound)) {
          found.add(key);
        }
        at += lengthOf(key);
      }
      leaf = leaves.higherEntry(leaf.getKey());
    }
    return found;
  }

  /** Returns how many leaves there are; for tests. */
  int leaves() {
    return leaves.size();
  }

  /** Returns the offset at which a key is, or would be inserted. */
  private static int place(byte[] keys, Key key) {
    int at = 0;
    while (at < keys.length) {
      int length = PackedObjects.length(keys, at);
      int from = at + PackedObjects.lengthBytes(length);
      if (key.compareTo(keys, from, length) <= 0) {
        return at;
      }
      at = from + length;
    }
    return at;
  }

  /**
   * Returns an offset between two keys near the middle: the first after it, unless that is the end.
   */
  private static int middle(byte[] keys) {
    int middle = 0;
    int at = 0;
    while (at < keys.length && middle < keys.length / 2) {
      middle = at;
      int length = PackedObjects.length(keys, at);
      at += PackedObjects.lengthBytes(length) + length;
    }
    return middle;
  }

  private static Key keyAt(byte[] keys, int at) {
    int length = PackedObjects.length(keys, at);
    int from = at + PackedObjects.lengthBytes(length);
    return Key.of(keys, from, from + length);
  }

  private static int lengthOf(Key key) {
    return PackedObjects.lengthBytes(key.length()) + key.length();
  }
}
