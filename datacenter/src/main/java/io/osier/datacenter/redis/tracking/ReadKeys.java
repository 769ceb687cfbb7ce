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
 * The keys of a keyspace that clients have read since they were told of the keys' last change, with
 * the clients' numbers. Not thread-safe.
 */
final class ReadKeys {
  /** Bytes of heap of a key with one reader, besides the key itself: entry, set, number. */
  private static final long KEY_BYTES =
      HeapSize.object(8 * HeapSize.REFERENCE)
          + HeapSize.object(2 * HeapSize.REFERENCE)
          + HeapSize.object(Long.BYTES);

  /** Bytes of heap of each further reader of a key, about. */
  private static final long READER_BYTES = 96;

  /**
   * The numbers of the clients that have read each key; the keys in the order in which they were
   * noted. Nearly always a key has one reader, in an immutable set.
   */
  private final LinkedHashMap<Key, Set<Long>> readers = new LinkedHashMap<>();

  private long bytes;
  private long items;

  /**
   * Returns the bytes that {@link #note} would take; 0 if it is noted already that the client has
   * read the key.
   */
  long needed(Key key, long number) {
    Set<Long> of = readers.get(key);
    if (of == null) {
      return KEY_BYTES + key.heapBytes();
    }
    return of.contains(number) ? 0 : READER_BYTES;
  }

  /**
   * Notes that a client reads a key.
   *
   * @param number the client's number
   */
  void note(Key key, long number) {
    long more = needed(key, number);
    if (more == 0) {
      return;
    }
    Set<Long> of = readers.get(key);
    if (of == null) {
      readers.put(key, Set.of(number));
    } else {
      Set<Long> several = of;
      if (of.size() == 1) {
        several = LinkedHashSet.newLinkedHashSet(2);
        several.addAll(of);
      }
      several.add(number);
      readers.put(key, several); // the key stays where it was
    }
    bytes += more;
    items++;
  }

  /**
   * Forgets who has read a key that has changed, except for its author.
   *
   * @param author the client that has made the change and knows it; 0 if none does
   * @return the other clients that have read the key
   */
  List<Long> changed(Key key, long author) {
    Set<Long> of = readers.get(key);
    if (of == null) {
      return List.of();
    }
    List<Long> told = new ArrayList<>(of);
    boolean stays = told.remove(author);
    long gone = told.size() * READER_BYTES;
    if (stays) {
      readers.put(key, Set.of(author)); // the key stays where it was
    } else {
      readers.remove(key);
      gone += KEY_BYTES + key.heapBytes() - READER_BYTES;
    }
    bytes -= gone;
    items -= told.size();
    return told;
  }

  /** Returns the key that was noted first; null if there is none. */
  @Nullable Key eldest() {
    Map.Entry<Key, Set<Long>> first = readers.firstEntry();
    return first == null ? null : first.getKey();
  }

  int size() {
    return readers.size();
  }

  /** Returns the number of keys, where a key counts once for each of its readers. */
  long items() {
    return items;
  }

  long bytes() {
    return bytes;
  }
}
