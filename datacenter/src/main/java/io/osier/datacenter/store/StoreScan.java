package io.osier.datacenter.store;

import io.osier.core.Key;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.ObjectStore.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Walks a partition's objects in their order, those that are not yet in the store included. */
final class StoreScan {
  private final VersionStore versions;
  private final ObjectCache objects;

  StoreScan(VersionStore versions, ObjectCache objects) {
    this.versions = versions;
    this.objects = objects;
  }

  /**
   * Objects in their order.
   *
   * @param after the first object is the one after this; empty for the beginning
   * @param limit at most so many; fewer only at the end
   * @param durable whether what is pending must not be seen
   */
  List<Entry> after(Optional<ObjectId> after, int limit, boolean durable) {
    List<Entry> entries = new ArrayList<>();
    Optional<ObjectId> from = after;
    while (true) {
      int wanted = limit - entries.size();
      List<ObjectId> stored = versions.objects(from, wanted);
      boolean atEnd = stored.size() < wanted;
      Optional<ObjectId> last = atEnd ? Optional.empty() : Optional.of(stored.getLast());
      TreeMap<ObjectId, Causal> found = new TreeMap<>();
      for (ObjectId object : stored) {
        Causal state = objects.peek(object, durable);
        if (state != null) {
          found.put(object, state);
        }
      }
      if (!durable) {
        addPending(from, last, found);
      }
      for (Map.Entry<ObjectId, Causal> e : found.entrySet()) {
        if (entries.size() == limit) {
          return entries;
        }
        entries.add(new Entry(e.getKey(), e.getValue()));
      }
      if (atEnd || entries.size() == limit) {
        return entries;
      }
      from = last; // some were dropped meanwhile; fewer than asked for would mean the end
    }
  }

  /** New objects that are not in the store yet: few, unless the writer is far behind. */
  private void addPending(
      Optional<ObjectId> after, Optional<ObjectId> last, Map<ObjectId, Causal> found) {
    for (Map.Entry<Key, KeyObjects> e : objects.pending().entrySet()) {
      for (Causal state : e.getValue().states()) {
        ObjectId object = new ObjectId(e.getKey(), state.type());
        if ((after.isEmpty() || object.compareTo(after.get()) > 0)
            && (last.isEmpty() || object.compareTo(last.get()) <= 0)) {
          found.put(object, state);
        }
      }
    }
  }
}
