package io.osier.datacenter.redis.tracking;

import io.osier.core.Key;
import io.osier.core.memory.HeapSize;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which keys of a keyspace clients have read since they heard of a change, by the clients' numbers.
 * Not thread-safe.
 */
final class ReadKeys {
  /** What a key takes besides itself; and each further reader of it. */
  private static final long KEY_BYTES =
      HeapSize.object(8 * HeapSize.REFERENCE) + HeapSize.object(Long.BYTES + HeapSize.REFERENCE);

  private static final long READER_BYTES = 96;

  /** Who has read a key. */
  private static final class Readers {
    final long first;
    @Nullable Set<Long> more;

    Readers(long first) {
      this.first = first;
    }

    boolean has(long number) {
      Set<Long> others = more;
      return number == first || (others != null && others.contains(number));
    }

    void add(long number) {
      Set<Long> others = more == null ? new LinkedHashSet<>(2) : more;
      others.add(number);
      more = others;
    }

    List<Long> all() {
      List<Long> all = new ArrayList<>();
      all.add(first);
      Set<Long> others = more;
      if (others != null) {
        all.addAll(others);
      }
      return all;
    }
  }

  /** In the order in which they were noted. */
  private final LinkedHashMap<Key, Readers> readers = new LinkedHashMap<>();

  private long bytes;
  private long items;

  /** What noting that a client reads a key would take; 0 if it is noted. */
  long needed(Key key, long number) {
    Readers of = readers.get(key);
    if (of == null) {
      return KEY_BYTES + key.heapBytes();
    }
    return of.has(number) ? 0 : READER_BYTES;
  }

  /** Notes that a client reads a key. */
  void note(Key key, long number) {
    long more = needed(key, number);
    if (more == 0) {
      return;
    }
    Readers of = readers.get(key);
    if (of == null) {
      readers.put(key, new Readers(number));
    } else {
      of.add(number);
    }
    bytes += more;
    items++;
  }

  /**
   * A key has changed: forgets who has read it, but for who has changed it.
   *
   * @param author who still knows it; 0 if nobody does
   * @return those others who have read it
   */
  List<Long> changed(Key key, long author) {
    Readers of = readers.get(key);
    if (of == null) {
      return List.of();
    }
    List<Long> told = of.all();
    boolean stays = told.remove(author);
    long gone = told.size() * READER_BYTES;
    if (stays) {
      readers.put(key, new Readers(author)); // where it was
    } else {
      readers.remove(key);
      gone += KEY_BYTES + key.heapBytes() - READER_BYTES;
    }
    bytes -= gone;
    items -= told.size();
    return told;
  }

  /** The key that was noted first; null if there is none. */
  @Nullable Key eldest() {
    Map.Entry<Key, Readers> first = readers.firstEntry();
    return first == null ? null : first.getKey();
  }

  int size() {
    return readers.size();
  }

  /** How many there are, where a key counts for each of its readers. */
  long items() {
    return items;
  }

  long bytes() {
    return bytes;
  }
}
