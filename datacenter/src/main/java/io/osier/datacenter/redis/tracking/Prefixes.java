package io.osier.datacenter.redis.tracking;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Prefixes with the clients that track them. The prefixes of a key are found in one pass through
 * its bytes, however many prefixes there are: by the hashes of the key's beginnings, which nobody
 * can foresee. Not thread-safe.
 */
final class Prefixes {
  /** A prime, so that two texts have one hash for few bases only. */
  private static final long MODULUS = (1L << 61) - 1;

  /** A prefix with the clients that track it. */
  static final class Entry {
    final Prefix prefix;
    final Set<TrackedClient> clients = new HashSet<>();

    Entry(Prefix prefix) {
      this.prefix = prefix;
    }
  }

  /** The key under which prefixes are found: their length and hash. */
  private record Slot(int length, long hash) {}

  private final long base;
  private final Map<Slot, List<Entry>> slots = new HashMap<>();

  /** The lengths of the prefixes, and how many prefixes have each. */
  private final TreeMap<Integer, Integer> lengths = new TreeMap<>();

  private int size;

  /**
   * @param seed a number that nobody can guess
   */
  Prefixes(long seed) {
    this.base = 256 + Math.floorMod(seed, MODULUS - 512);
  }

  void add(Prefix prefix, TrackedClient client) {
    List<Entry> found = slots.computeIfAbsent(slot(prefix), s -> new ArrayList<>(1));
    Entry entry = find(found, prefix);
    if (entry == null) {
      entry = new Entry(prefix);
      found.add(entry);
      size++;
      lengths.merge(prefix.length(), 1, Integer::sum);
    }
    entry.clients.add(client);
  }

  void remove(Prefix prefix, TrackedClient client) {
    Slot slot = slot(prefix);
    List<Entry> found = slots.getOrDefault(slot, List.of());
    Entry entry = find(found, prefix);
    if (entry != null && entry.clients.remove(client) && entry.clients.isEmpty()) {
      found.remove(entry);
      if (found.isEmpty()) {
        slots.remove(slot);
      }
      size--;
      lengths.computeIfPresent(prefix.length(), (l, n) -> n == 1 ? null : n - 1);
    }
  }

  private Slot slot(Prefix prefix) {
    long hash = 0;
    for (byte b : prefix.bytes()) {
      hash = next(hash, b);
    }
    return new Slot(prefix.length(), hash);
  }

  private long next(long hash, byte b) {
    long high = Math.multiplyHigh(hash, base);
    long low = hash * base;
    // The bits above the lowest 61 are added, since 2^61 is 1 modulo the prime.
    long folded = (low & MODULUS) + (low >>> 61 | high << 3) + (b & 0xff) + 1;
    folded = (folded & MODULUS) + (folded >>> 61);
    return folded >= MODULUS ? folded - MODULUS : folded;
  }

  private static @Nullable Entry find(List<Entry> among, Prefix prefix) {
    for (Entry each : among) {
      if (each.prefix.equals(prefix)) {
        return each;
      }
    }
    return null;
  }

  /** Calls {@code found} with the prefixes of a key, the shortest first. */
  void of(byte[] key, Consumer<Entry> found) {
    long hash = 0;
    int at = 0;
    for (int length : lengths.keySet()) {
      if (length > key.length) {
        return;
      }
      while (at < length) {
        hash = next(hash, key[at++]);
      }
      List<Entry> some = slots.get(new Slot(length, hash));
      if (some != null) {
        for (Entry each : some) {
          if (each.prefix.isBeginOf(key)) {
            found.accept(each);
          }
        }
      }
    }
  }

  /** Returns the most prefixes that share a length and a hash; more than one only by chance. */
  int longestSlot() {
    return slots.values().stream().mapToInt(List::size).max().orElse(0);
  }

  int size() {
    return size;
  }
}
