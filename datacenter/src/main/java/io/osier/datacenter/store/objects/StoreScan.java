package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.VersionStore;
import io.osier.propagation.host.StoredObjects.Entry;
import io.osier.propagation.host.StoredObjects.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Walks a partition's objects in order, those included that are not yet in the store. */
final class StoreScan {
  /**
   * How many keys are listed first; then twice as many each time: a few large objects fill a page.
   */
  private static final int FIRST_CHUNK = 8;

  private final VersionStore versions;
  private final ObjectCache objects;

  StoreScan(VersionStore versions, ObjectCache objects) {
    this.versions = versions;
    this.objects = objects;
  }

  /**
   * Returns a page of objects in order, those included that are not yet in the store. For any
   * thread: every object is as it was when the call began, or later.
   *
   * @param limit the most objects to take from the store
   * @param bytesMax the page ends with the object that makes it so large
   */
  Page page(Optional<ObjectId> after, int limit, long bytesMax) {
    List<Map.Entry<Key, KeyObjects>> pending = pending();
    TreeMap<ObjectId, CrdtState> found = new TreeMap<>();
    Optional<ObjectId> last = after;
    boolean end = false;
    long bytes = 0;
    int looked = 0;
    int chunk = Math.min(limit, FIRST_CHUNK);
    // A page without objects would be no progress.
    while (!end && bytes < bytesMax && (looked < limit || found.isEmpty())) {
      int wanted = looked < limit ? Math.min(chunk, limit - looked) : chunk;
      List<ObjectId> stored = versions.objects(last, wanted);
      int read = 0;
      while (read < stored.size() && bytes < bytesMax) {
        ObjectId object = stored.get(read++);
        last = Optional.of(object);
        CrdtState state = objects.peek(object, false);
        if (state != null) {
          found.put(object, state);
          bytes += state.sizeBytes();
        }
      }
      looked += read;
      end = read == stored.size() && read < wanted;
      chunk = Math.min(limit, 2 * chunk);
    }
    addPending(pending, after, end ? Optional.empty() : last, found);
    return page(found, end);
  }

  /**
   * Returns a page of durable objects in order. For any thread.
   *
   * @param to the key before which the page ends; empty for no end
   * @param limit the most objects
   * @param bytesMax the page ends with the object that makes it so large
   */
  Page durablePage(Optional<ObjectId> after, Optional<Key> to, int limit, long bytesMax) {
    List<Entry> entries = new ArrayList<>();
    Optional<ObjectId> last = after;
    long bytes = 0;
    while (true) {
      int wanted = limit - entries.size();
      List<ObjectId> stored = versions.objects(last, to, wanted);
      for (ObjectId object : stored) {
        last = Optional.of(object);
        CrdtState state = objects.peek(object, true);
        if (state != null) { // else it was dropped meanwhile
          entries.add(new Entry(object, state));
          bytes += state.sizeBytes();
          if (bytes >= bytesMax) {
            return new Page(entries, false);
          }
        }
      }
      if (stored.size() < wanted) {
        return new Page(entries, true);
      }
      if (entries.size() == limit) {
        return new Page(entries, false);
      }
    }
  }

  static Page page(TreeMap<ObjectId, CrdtState> found, boolean end) {
    List<Entry> entries = new ArrayList<>(found.size());
    found.forEach((object, state) -> entries.add(new Entry(object, state)));
    return new Page(entries, end);
  }

  /** Returns whether an object is after one place and not after another; empty for no bound. */
  static boolean isWithin(ObjectId object, Optional<ObjectId> after, Optional<ObjectId> last) {
    return (after.isEmpty() || object.compareTo(after.get()) > 0)
        && (last.isEmpty() || object.compareTo(last.get()) <= 0);
  }

  /**
   * Returns the objects that are not in the store yet. Called before the store is read: an object
   * that becomes durable in between is found there, and the other order would miss it. Walks the
   * map, since the size of a concurrent map may be 0 while others change it, though it is not
   * empty.
   */
  private List<Map.Entry<Key, KeyObjects>> pending() {
    List<Map.Entry<Key, KeyObjects>> entries = new ArrayList<>();
    objects.pending().forEach((key, o) -> entries.add(Map.entry(key, o)));
    return entries;
  }

  /** Adds new objects that were not in the store: few, unless the writer is far behind. */
  private static void addPending(
      List<Map.Entry<Key, KeyObjects>> pending,
      Optional<ObjectId> after,
      Optional<ObjectId> last,
      Map<ObjectId, CrdtState> found) {
    for (Map.Entry<Key, KeyObjects> e : pending) {
      for (CrdtState state : e.getValue().states()) {
        ObjectId object = new ObjectId(e.getKey(), state.type());
        if (isWithin(object, after, last)) {
          found.putIfAbsent(object, state);
        }
      }
    }
  }
}
