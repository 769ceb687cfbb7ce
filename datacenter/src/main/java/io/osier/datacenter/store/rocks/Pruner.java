package io.osier.datacenter.store.rocks;

import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.VersionSearch;
import io.osier.datacenter.store.records.PartitionObject;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.RecordValues;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Deletes versions that their object's newest snapshot, or its state in place, contains. The
 * objects to look at are noted in memory only: a note that is lost, in a crash or because there are
 * too many, leaves versions that are deleted after the object's next snapshot. Thread-safe; one
 * thread prunes.
 */
final class Pruner {
  private static final int OBJECTS_AT_ONCE_MAX = 10_000;
  private static final int KEYS_AT_ONCE_MAX = 10_000;

  /** The most bytes of notes; further notes are not taken. */
  private static final long NOTED_BYTES_MAX = 16L << 20;

  /** What a note takes besides its key, roughly. */
  private static final long NOTE_BYTES = 150;

  /** Decides what follows from an error of reading an object. */
  @FunctionalInterface
  interface Unreadable {
    /**
     * Throws the error unless it concerns this object alone, so that reading the others would fail,
     * too.
     */
    void met(RecordKeys partition, RocksDBException e) throws RocksDBException;
  }

  private final RocksDB db;
  private final RecordKeys.Dictionary dictionary;
  private final WriteOptions write;
  private final GapCompaction gaps;
  private final Unreadable onUnreadable;
  private final Set<PartitionObject> notes = new LinkedHashSet<>();
  private long notedBytes;

  /**
   * @param onUnreadable is told of objects that cannot be read; they stay as they are unless it
   *     throws
   */
  Pruner(
      RocksDB db,
      RecordKeys.Dictionary dictionary,
      WriteOptions write,
      GapCompaction gaps,
      Unreadable onUnreadable) {
    this.onUnreadable = onUnreadable;
    this.db = db;
    this.dictionary = dictionary;
    this.write = write;
    this.gaps = gaps;
  }

  /** Notes that an object has a new snapshot, and older versions. */
  void note(RecordKeys keys, ObjectId object) {
    PartitionObject note = new PartitionObject(keys, object);
    synchronized (notes) {
      if (notedBytes + bytes(note) <= NOTED_BYTES_MAX && notes.add(note)) {
        notedBytes += bytes(note);
      }
    }
  }

  private static long bytes(PartitionObject note) {
    return NOTE_BYTES + note.object().key().length();
  }

  private List<PartitionObject> take() {
    List<PartitionObject> some = new ArrayList<>();
    synchronized (notes) {
      notes.stream().limit(OBJECTS_AT_ONCE_MAX).forEach(some::add);
      for (PartitionObject note : some) {
        notes.remove(note);
        notedBytes -= bytes(note);
      }
    }
    return some;
  }

  /**
   * Prunes some of the noted objects, in the order of their records: one walk through all of them
   * costs less than a walk for each.
   *
   * @return how many versions were deleted
   */
  int prune() throws RocksDBException {
    List<PartitionObject> taken = take();
    if (taken.isEmpty()) {
      return 0; // not even a batch is made, as this is called twice a second
    }
    List<byte[]> objects = new ArrayList<>();
    taken.forEach(note -> objects.add(note.partition().objectBegin(note.object())));
    objects.sort(Arrays::compareUnsigned);
    int dropped = 0;
    try (WriteBatch batch = new WriteBatch();
        ReadOptions read =
            new ReadOptions()
                .setFillCache(false)
                .setMaxSkippableInternalKeys(TombstoneRanges.SKIPPED_MIN);
        RocksIterator it = db.newIterator(read)) {
      for (byte[] object : objects) {
        List<byte[]> superseded;
        try {
          superseded = superseded(it, object);
        } catch (RocksDBException e) {
          onUnreadable.met(new RecordKeys(RecordKeys.partitionOf(object)), e);
          continue; // the others can be read
        }
        for (byte[] key : superseded) {
          batch.delete(key);
          dropped++;
        }
        if (batch.count() >= KEYS_AT_ONCE_MAX) {
          db.write(write, batch);
          batch.clear();
        }
      }
      if (batch.count() > 0) {
        db.write(write, batch);
      }
    }
    return dropped;
  }

  /**
   * Returns the keys of the versions that an object's newest snapshot contains.
   *
   * @param many walks through many objects; it gives up where it meets many tombstones, which may
   *     be those of other objects after this one
   * @param begin the prefix of the object's records
   */
  private List<byte[]> superseded(RocksIterator many, byte[] begin) throws RocksDBException {
    try {
      return walk(many, begin);
    } catch (RocksDBException e) {
      if (e.getStatus() == null || e.getStatus().getCode() != Status.Code.Incomplete) {
        throw e;
      }
    }
    byte[] end = begin.clone();
    end[end.length - 1]++;
    try (Slice to = new Slice(end);
        ReadOptions read = new ReadOptions().setFillCache(false).setIterateUpperBound(to);
        RocksIterator it = db.newIterator(read)) {
      long tombstones = gaps.tombstones();
      List<byte[]> superseded = walk(it, begin);
      gaps.walked(begin, () -> end, tombstones, superseded.size());
      return superseded;
    }
  }

  private List<byte[]> walk(RocksIterator it, byte[] begin) throws RocksDBException {
    List<byte[]> superseded = new ArrayList<>();
    List<byte[]> others = new ArrayList<>();
    VersionVector newest = null;
    byte[] newestKey = null;
    for (it.seek(begin); it.isValid(); it.next()) {
      byte[] key = it.key();
      if (!RecordKeys.isOf(key, begin)) {
        break;
      }
      if (RecordKeys.isInPlace(key, begin.length)) {
        // Never deleted, however new other records are: it may have been replaced by now.
        newest = RecordValues.inPlaceAt(it.value(), dictionary);
        continue;
      }
      VersionVector at = RecordKeys.at(key, begin.length, dictionary);
      if (RecordKeys.isSnapshot(key, begin.length)
          && (newest == null || VersionSearch.isNewer(at, newest))) {
        if (newestKey != null) {
          others.add(newestKey);
        }
        newest = at;
        newestKey = key;
      } else if (newest != null && at.isAtMost(newest)) {
        superseded.add(key);
      } else {
        others.add(key);
      }
    }
    it.status();
    if (newest != null) {
      for (byte[] key : others) {
        if (RecordKeys.at(key, begin.length, dictionary).isAtMost(newest)) {
          superseded.add(key);
        }
      }
    }
    return superseded;
  }
}
