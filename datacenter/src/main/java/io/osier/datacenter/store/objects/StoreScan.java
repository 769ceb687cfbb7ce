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

/** Walks a partition's objects in their order, those that are not yet in the store included. */
final class StoreScan {
  /** So many keys are listed first, then twice as many: few large objects fill a page. */
  private static final int FIRST_CHUNK = 8;

  private final VersionStore versions;
  private final ObjectCache objects;

  StoreScan(VersionStore versions, ObjectCache objects) {
    this.versions = versions;
    this.objects = objects;
  }

  /**
   * A page of objects in their order, those that are not yet in the store included. For any thread:
   * everything that was executed before the call is in it as it was then, or as it was later.
   *
   * @param limit at most so many of those that are in the store
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
    // An empty page would be no step.
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
   * A page of durable objects in their order. For any thread.
   *
   * @param to where they end; empty for no end
   * @param limit at most so many
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
        if (state != null) { // or it was dropped meanwhile
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

  /** Whether an object is in a page: behind one, and not behind another; empty for no bound. */
  static boolean isWithin(ObjectId object, Optional<ObjectId> after, Optional<ObjectId> last) {
    return (after.isEmpty() || object.compareTo(after.get()) > 0)
        && (last.isEmpty() || object.compareTo(last.get()) <= 0);
  }

  /**
   * What is not in the store yet, to be taken before the store is read: what becomes durable in
   * between is found there, and would be in neither if it were looked for the other way round. By
   * walking it: the size of a concurrent map that others change may be told as 0 while it is not.
   */
  private List<Map.Entry<Key, KeyObjects>> pending() {
    List<Map.Entry<Key, KeyObjects>> entries = new ArrayList<>();
    objects.pending().forEach((key, o) -> entries.add(Map.entry(key, o)));
    return entries;
  }

  /** New objects that were not in the store: few, unless the writer is far behind. */
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
