package io.osier.datacenter.store.memory;

import io.osier.core.ReplicaId;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.store.LeaseTerm;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
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

  /** Returns a copy of these entries; changes of one do not show in the other. */
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

  /**
   * Returns a source of the present entries, which stay as they are until the term ends. After that
   * the entries of that moment are read, as from a disk.
   *
   * @param numbered the replicas in the order of their numbers
   * @param present returns the entries of the moment; null if there are none
   */
  EntrySource source(
      List<ReplicaId> numbered,
      Supplier<@Nullable MemoryEntries> present,
      LeaseTerm term,
      LongSupplier nanos) {
    isShared = true;
    return new Source(entries, numbered, present, term, nanos);
  }

  private static final class Source implements EntrySource {
    private final NavigableMap<byte[], byte[]> then;
    private final List<ReplicaId> numberedThen;
    private final List<ReplicaId> numbered;
    private final Supplier<@Nullable MemoryEntries> present;
    private final LeaseTerm term;
    private final LongSupplier nanos;
    private boolean ended;

    Source(
        NavigableMap<byte[], byte[]> then,
        List<ReplicaId> numbered,
        Supplier<@Nullable MemoryEntries> present,
        LeaseTerm term,
        LongSupplier nanos) {
      this.then = then;
      this.numberedThen = List.copyOf(numbered);
      this.numbered = numbered;
      this.present = present;
      this.term = term;
      this.nanos = nanos;
    }

    private boolean hasEnded() {
      ended |= term.isOver(nanos.getAsLong());
      return ended;
    }

    private NavigableMap<byte[], byte[]> entries() {
      if (!hasEnded()) {
        return then;
      }
      MemoryEntries now = present.get();
      return now == null ? new TreeMap<>(Arrays::compareUnsigned) : now.entries;
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
      return entries().get(key);
    }

    @Override
    public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
      return EntrySource.pageOf(entries(), from, inclusive, down, max);
    }

    @Override
    public List<ReplicaId> replicas() {
      return hasEnded() ? List.copyOf(numbered) : numberedThen;
    }

    @Override
    public boolean hold(int millis, boolean isPresent) {
      if (hasEnded()) {
        return false;
      }
      term.hold(nanos.getAsLong(), millis, isPresent);
      return true;
    }

    @Override
    public boolean isOld() {
      return term.isOld(nanos.getAsLong());
    }
  }
}
