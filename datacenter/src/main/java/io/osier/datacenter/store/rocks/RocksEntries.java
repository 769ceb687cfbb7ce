package io.osier.datacenter.store.rocks;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.store.records.RecordKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/** The entries of a decomposed object in an {@link OpenDatabase}. Thread-safe. */
final class RocksEntries implements EntrySource {
  private final OpenDatabase database;
  private final RecordKeys.Dictionary dictionary;
  private final GapCompaction gaps;
  private final RecordKeys keys;
  private final SnapshotLease lease;
  private final byte[] begin;
  private final byte[] end;
  private final List<ReplicaId> replicas;

  RocksEntries(
      OpenDatabase database,
      RecordKeys.Dictionary dictionary,
      GapCompaction gaps,
      RecordKeys keys,
      ObjectId object,
      SnapshotLease lease) {
    this.database = database;
    this.dictionary = dictionary;
    this.gaps = gaps;
    this.keys = keys;
    this.lease = lease;
    this.begin = keys.entriesBegin(object);
    this.end = keys.entriesEnd(object);
    this.replicas = dictionary.numbered();
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    byte[] entry = RecordKeys.entry(begin, key);
    return database
        .use(keys, db -> lease.read(options -> Optional.ofNullable(db.get(options, entry))))
        .orElse(null);
  }

  @Override
  public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
    return database.use(
        keys,
        db ->
            lease.read(
                options -> {
                  try (Slice least = new Slice(begin);
                      Slice greatest = new Slice(end);
                      ReadOptions bounded =
                          new ReadOptions(options)
                              .setIterateLowerBound(least)
                              .setIterateUpperBound(greatest);
                      RocksIterator iterator = db.newIterator(bounded)) {
                    long tombstones = gaps.tombstones();
                    begin(iterator, from, inclusive, down);
                    List<Entry> page = new ArrayList<>();
                    while (page.size() < max && iterator.isValid()) {
                      byte[] key = iterator.key();
                      page.add(
                          new Entry(
                              Arrays.copyOfRange(key, begin.length, key.length), iterator.value()));
                      move(iterator, down);
                    }
                    iterator.status(); // an error must not look like the end
                    walked(iterator, from, down, tombstones, page.size());
                    return page;
                  }
                }));
  }

  private void walked(
      RocksIterator iterator, byte @Nullable [] from, boolean down, long tombstones, int came) {
    byte[] began = from == null ? (down ? end : begin) : RecordKeys.entry(begin, from);
    Supplier<byte[]> ended = () -> iterator.isValid() ? iterator.key() : down ? begin : end;
    gaps.walked(began, ended, tombstones, came);
  }

  private void begin(
      RocksIterator iterator, byte @Nullable [] from, boolean inclusive, boolean down) {
    if (from == null) {
      if (down) {
        iterator.seekToLast();
      } else {
        iterator.seekToFirst();
      }
      return;
    }
    byte[] entry = RecordKeys.entry(begin, from);
    if (down) {
      iterator.seekForPrev(entry);
    } else {
      iterator.seek(entry);
    }
    if (!inclusive && iterator.isValid() && Arrays.equals(iterator.key(), entry)) {
      move(iterator, down);
    }
  }

  private static void move(RocksIterator iterator, boolean down) {
    if (down) {
      iterator.prev();
    } else {
      iterator.next();
    }
  }

  @Override
  public List<ReplicaId> replicas() {
    return lease.hasEnded() ? dictionary.numbered() : replicas;
  }

  @Override
  public OsierException failure(MalformedException e) {
    return database.damaged(e);
  }

  @Override
  public boolean hold(int millis, boolean isPresent) {
    boolean isHeld = lease.hold(System.nanoTime(), millis, isPresent);
    database.checkThere(keys);
    return isHeld;
  }

  @Override
  public boolean isOld() {
    return lease.isOld(System.nanoTime());
  }
}
