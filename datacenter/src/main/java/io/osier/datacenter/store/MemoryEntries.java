package io.osier.datacenter.store;

import io.osier.core.ReplicaId;
import io.osier.crdt.EntrySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The entries of a decomposed object in {@link MemoryVersions}. Not thread-safe. */
final class MemoryEntries {
  private NavigableMap<byte[], byte[]> entries;
  private boolean isShared;

  MemoryEntries() {
    entries = new TreeMap<>(Arrays::compareUnsigned);
  }

  private MemoryEntries(NavigableMap<byte[], byte[]> entries) {
    this.entries = entries;
    this.isShared = true;
  }

  /** The same entries; what changes here does not there. */
  MemoryEntries copy() {
    isShared = true;
    return new MemoryEntries(entries);
  }

  void put(byte[] key, byte @Nullable [] cell) {
    if (isShared) {
      NavigableMap<byte[], byte[]> own = new TreeMap<>(Arrays::compareUnsigned);
      own.putAll(entries);
      entries = own;
      isShared = false;
    }
    if (cell == null) {
      entries.remove(key);
    } else {
      entries.put(key, cell);
    }
  }

  int size() {
    return entries.size();
  }

  /** The present entries, by whose numbers replicas are numbered. */
  EntrySource source(List<ReplicaId> numbered) {
    isShared = true;
    NavigableMap<byte[], byte[]> present = entries;
    List<ReplicaId> replicas = List.copyOf(numbered);
    return new EntrySource() {
      @Override
      public byte @Nullable [] get(byte[] key) {
        return present.get(key);
      }

      @Override
      public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
        NavigableMap<byte[], byte[]> all = down ? present.descendingMap() : present;
        NavigableMap<byte[], byte[]> rest = from == null ? all : all.tailMap(from, inclusive);
        List<Entry> page = new ArrayList<>();
        for (Map.Entry<byte[], byte[]> e : rest.entrySet()) {
          if (page.size() == max) {
            break;
          }
          page.add(new Entry(e.getKey(), e.getValue()));
        }
        return page;
      }

      @Override
      public List<ReplicaId> replicas() {
        return replicas;
      }
    };
  }
}
