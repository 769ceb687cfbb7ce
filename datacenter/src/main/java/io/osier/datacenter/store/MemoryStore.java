package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.Replica.Logged;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.jspecify.annotations.Nullable;

/**
 * Keeps objects in memory only. A hash map serves reads without a lock; an ordered set of keys,
 * touched when a key is new, serves scans.
 */
public final class MemoryStore implements ObjectStore {
  private final ConcurrentHashMap<Key, List<Causal>> states = new ConcurrentHashMap<>();
  private long forgotten;
  private final NavigableSet<Key> keys = new ConcurrentSkipListSet<>();

  /** An empty store. */
  public MemoryStore() {}

  @Override
  public @Nullable Causal get(ObjectId object) {
    for (Causal state : get(object.key())) {
      if (state.type() == object.type()) {
        return state;
      }
    }
    return null;
  }

  @Override
  public @Nullable Causal getDurable(ObjectId object) {
    return get(object); // nothing is ever more durable
  }

  @Override
  public List<Causal> get(Key key) {
    List<Causal> found = states.get(key);
    return found == null ? List.of() : found;
  }

  @Override
  public void put(ObjectId object, Causal state) {
    List<Causal> before = states.get(object.key());
    if (before == null) {
      states.put(object.key(), List.of(state));
      keys.add(object.key());
    } else if (before.size() == 1 && before.getFirst().type() == object.type()) {
      states.put(object.key(), List.of(state));
    } else {
      states.put(object.key(), KeyObjects.replaced(before, state));
    }
  }

  @Override
  public boolean drop(ObjectId object) {
    forgotten++;
    List<Causal> after = new ArrayList<>(get(object.key()));
    after.removeIf(s -> s.type() == object.type());
    if (after.isEmpty()) {
      states.remove(object.key());
      keys.remove(object.key());
    } else {
      states.put(object.key(), List.copyOf(after));
    }
    return true;
  }

  @Override
  public long forgotten() {
    return forgotten;
  }

  @Override
  public Optional<List<Causal>> durable(Key key) {
    return Optional.of(get(key));
  }

  @Override
  public List<Entry> scanDurable(Optional<ObjectId> after, int limit) {
    return scan(after, limit);
  }

  @Override
  public List<Logged> logged(long after, int limit) {
    return List.of(); // nothing of former lives is kept
  }

  @Override
  public List<Entry> scan(Optional<ObjectId> after, int limit) {
    List<Entry> found = new ArrayList<>(Math.min(limit, 1024));
    NavigableSet<Key> from = after.isEmpty() ? keys : keys.tailSet(after.get().key(), true);
    for (Key key : from) {
      for (Causal state : get(key)) {
        if (found.size() == limit) {
          return found;
        }
        CrdtType type = state.type();
        ObjectId object = new ObjectId(key, type);
        if (after.isEmpty() || object.compareTo(after.get()) > 0) {
          found.add(new Entry(object, state));
        }
      }
    }
    return found;
  }

  @Override
  public long size() {
    return states.size();
  }
}
