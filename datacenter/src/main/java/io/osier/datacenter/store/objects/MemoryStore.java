package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Deadline;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoredKey;
import io.osier.propagation.host.StoredObjects.Logged;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps objects in memory only: packed, except those changed lately ({@link ObjectTable}). Scans
 * use a separate order of keys ({@link KeyOrder}), which changes only when a key is new or dropped.
 */
public final class MemoryStore implements ObjectStore {
  /** How many bytes of objects stay unpacked unless set otherwise. */
  private static final long UNPACKED_BYTES = 4L << 20;

  private final ObjectTable objects;
  private final KeyOrder keys = new KeyOrder();
  private final Deadlines deadlines = new Deadlines();
  private long forgotten;

  /** An empty store for keys that no stranger chooses: its hash is no secret. */
  public MemoryStore() {
    this(KeyedHash.of(() -> 1), UNPACKED_BYTES);
  }

  /**
   * @param unpackedBytesMax how many bytes of objects stay unpacked, about; all others are unpacked
   *     for each use
   */
  public MemoryStore(KeyedHash hash, long unpackedBytesMax) {
    objects = new ObjectTable(hash, unpackedBytesMax);
  }

  @Override
  public @Nullable CrdtState get(ObjectId object) {
    KeyObjects found = objects.get(object.key());
    return found == null ? null : found.of(object);
  }

  @Override
  public @Nullable CrdtState getDurable(ObjectId object) {
    return get(object); // nothing here is ever more durable
  }

  @Override
  public StoredKey stored(Key key) {
    StoredKey found = objects.stored(key);
    return found == null ? KeyObjects.NOTHING : found;
  }

  @Override
  public void put(ObjectId object, CrdtState state) {
    Key key = object.key();
    long hash = objects.table().hash(key);
    StoredKey before = objects.stored(key, hash);
    // First in their order: who finds a key there and nothing of it goes on to the next.
    if (before == null) {
      keys.add(key);
      before = KeyObjects.NOTHING;
    }
    KeyObjects others = KeyObjects.NOTHING;
    if (state.expires() || !before.isOnlyOf(state.form())) {
      others = new KeyObjects(before.states(), List.of(), false, 0);
      CrdtState old = others.of(object);
      if (state.expires() || (old != null && old.expires())) {
        deadlines.changed(object, old, state, change -> {}); // a version is noted nowhere
      }
    }
    objects.put(key, hash, others.with(state, 0));
  }

  @Override
  public List<Deadline> expiring(long untilMillis, int limit) {
    return deadlines.take(untilMillis, limit);
  }

  @Override
  public long nextExpiryMillis() {
    return deadlines.nextMillis();
  }

  @Override
  public @Nullable Deadline deadlineAfter(Deadline before) {
    return deadlines.after(before);
  }

  @Override
  public boolean drop(ObjectId object) {
    forgotten++;
    Key key = object.key();
    KeyObjects before = objects.get(key);
    if (before == null) {
      return true;
    }
    KeyObjects after = before.without(object.type(), 0);
    if (after.states().isEmpty()) {
      objects.remove(key);
      keys.remove(key);
    } else {
      objects.put(key, after);
    }
    return true;
  }

  @Override
  public long forgotten() {
    return forgotten;
  }

  @Override
  public Optional<StoredKey> durablyStored(Key key) {
    return Optional.of(stored(key));
  }

  @Override
  public List<Logged> logged(long after, int limit) {
    return List.of(); // nothing outlives the process
  }

  @Override
  public List<Entry> scan(Optional<ObjectId> after, int limit) {
    List<Entry> found = new ArrayList<>(Math.min(limit, 1024));
    Key from = after.map(ObjectId::key).orElse(KeyOrder.LEAST);
    List<Key> next = keys.from(from);
    while (!next.isEmpty()) {
      for (Key key : next) {
        for (CrdtState state : get(key)) {
          if (found.size() == limit) {
            return found;
          }
          ObjectId object = new ObjectId(key, state.type());
          if (after.isEmpty() || object.compareTo(after.get()) > 0) {
            found.add(new Entry(object, state));
          }
        }
      }
      next = keys.after(next.getLast());
    }
    return found;
  }

  @Override
  public long size() {
    return objects.size();
  }

  @Override
  public Figures figures() {
    return new Figures(objects.size(), objects.heapBytes(), 0, 0, 0, 0);
  }
}
