package io.osier.datacenter.store.rocks;

import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.VersionSearch;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.RecordValues;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/** Walks through the records of a partition, from one key to another. Not thread-safe. */
final class RecordWalk implements Iterator<RecordWalk.Stored>, AutoCloseable {
  /**
   * A record whose content is decoded on demand: while the iterator is at it, or after it was kept.
   */
  final class Stored implements VersionSearch.Stored {
    private final byte[] key;
    private final int objectLength;
    private final VersionVector at;
    private final byte[] value;

    private Stored(byte[] key, byte[] value) {
      this.key = key;
      this.objectLength = RecordKeys.objectLength(key);
      this.at =
          isInPlace()
              ? RecordValues.inPlaceAt(value, dictionary)
              : RecordKeys.at(key, objectLength, dictionary);
      this.value = value;
    }

    private boolean isInPlace() {
      return RecordKeys.isInPlace(key, objectLength);
    }

    @Override
    public VersionVector at() {
      return at;
    }

    @Override
    public boolean isSnapshot() {
      return isInPlace() || RecordKeys.isSnapshot(key, objectLength);
    }

    @Override
    public boolean isAlone() {
      return isInPlace() && RecordValues.isAlone(value);
    }

    @Override
    public CrdtState content() {
      CrdtType type = CrdtType.of(key[objectLength - 1]);
      return isInPlace()
          ? inPlace.apply(RecordKeys.object(key), value)
          : RecordValues.version(value, at, type);
    }
  }

  private final RecordKeys.Dictionary dictionary;
  private final GapCompaction gaps;
  private final BiFunction<ObjectId, byte[], CrdtState> inPlace;
  private final Slice end;
  private final ReadOptions options;
  private final RocksIterator iterator;
  private final byte[] from;
  private final byte[] to;
  private final long tombstones;
  private long came;

  /**
   * @param inPlace decodes a state in place
   */
  RecordWalk(
      RocksDB db,
      RecordKeys.Dictionary dictionary,
      GapCompaction gaps,
      BiFunction<ObjectId, byte[], CrdtState> inPlace,
      byte[] from,
      byte[] to) {
    this.dictionary = dictionary;
    this.gaps = gaps;
    this.inPlace = inPlace;
    this.tombstones = gaps.tombstones();
    this.from = from;
    this.to = to;
    this.end = new Slice(to);
    this.options = new ReadOptions().setIterateUpperBound(end);
    this.iterator = db.newIterator(options);
    iterator.seek(from);
  }

  @Override
  public boolean hasNext() {
    return iterator.isValid();
  }

  /** Throws the iterator's error, which must not look like the end. */
  void checkEnd() throws RocksDBException {
    if (!iterator.isValid()) {
      iterator.status();
    }
    gaps.walked(from, () -> iterator.isValid() ? iterator.key() : to, tombstones, came);
  }

  @Override
  public Stored next() {
    if (!iterator.isValid()) {
      throw new NoSuchElementException();
    }
    Stored stored = new Stored(iterator.key(), iterator.value());
    skip();
    return stored;
  }

  /**
   * Returns the present record if it is a state in place, which is an object's first record;
   * otherwise null.
   */
  @Nullable Stored nextInPlace() {
    if (!hasNext()) {
      return null;
    }
    byte[] key = iterator.key();
    return RecordKeys.isInPlace(key, RecordKeys.objectLength(key)) ? next() : null;
  }

  byte[] key() {
    return iterator.key();
  }

  byte[] value() {
    return iterator.value();
  }

  void seek(byte[] to) {
    iterator.seek(to);
    came++;
  }

  /** Moves past the present record. */
  void skip() {
    iterator.next();
    came++;
  }

  @Override
  public void close() {
    iterator.close();
    options.close();
    end.close();
  }

  /** Returns the rest of the walk up to an end: the records of one object. */
  Iterator<Stored> until(byte[] end) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return RecordWalk.this.hasNext() && Arrays.compareUnsigned(key(), end) < 0;
      }

      @Override
      public Stored next() {
        return RecordWalk.this.next();
      }
    };
  }
}
