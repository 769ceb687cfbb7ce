package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The stale copies: their subscription has ended, so the holders may have newer states. What is
 * shown of their keys is still noted, since they never show less than that either. Any thread may
 * look up and note what was shown; everything else is guarded by the lock of {@link Copies}.
 */
final class StaleCopies {
  private final Map<ObjectName, Copy> copies = new ConcurrentHashMap<>();

  /** The ended subscriptions of the copies. */
  private final Set<Subscription> ended = ConcurrentHashMap.newKeySet();

  int size() {
    return copies.size();
  }

  boolean isEmpty() {
    return copies.isEmpty();
  }

  @Nullable Copy find(ObjectName name) {
    return copies.get(name);
  }

  @Nullable Copy find(String keyspace, Key key) {
    return copies.isEmpty() ? null : copies.get(new ObjectName(keyspace, key));
  }

  List<Copy> all() {
    return List.copyOf(copies.values());
  }

  /** Returns any of them; null if there is none. */
  @Nullable Copy any() {
    for (Copy copy : copies.values()) {
      return copy;
    }
    return null;
  }

  /** Returns those of a partition. */
  List<Copy> of(String keyspace, int partition) {
    return copies.values().stream().filter(c -> isOf(c.of(), keyspace, partition)).toList();
  }

  /** Notes that forwarded answers have shown these updates of a partition, of unknown keys. */
  void sees(String keyspace, int partition, VersionVector seen) {
    for (Subscription of : ended) {
      if (isOf(of, keyspace, partition)) {
        of.sees(seen);
      }
    }
  }

  private static boolean isOf(Subscription of, String keyspace, int partition) {
    return of.partition() == partition && of.keyspace().equals(keyspace);
  }

  /** Adds a copy with states whose subscription ends. */
  void add(Copy copy) {
    ended.add(copy.of());
    copies.put(copy.name(), copy);
  }

  void remove(Copy copy) {
    copies.remove(copy.name(), copy);
    copy.of().remove(copy);
    if (copy.of().copies().isEmpty()) {
      ended.remove(copy.of());
    }
  }
}
