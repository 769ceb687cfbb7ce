package io.osier.datacenter.store.rocks;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.codec.MalformedException;
import io.osier.datacenter.store.DamagedRanges;
import io.osier.datacenter.store.files.RocksSettings;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.StartNumbers;
import io.osier.datacenter.store.records.StoreHeader;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * A store's records of itself: its datacenter, its starts, and the numbers of its partitions. Any
 * thread may read; changes need the {@link RocksDatabase}'s lock. Methods that throw a {@link
 * RocksDBException} are called while the database is open.
 */
final class StoreCatalog {
  private final RocksDB db;
  private final RocksSettings settings;
  private final Path dir;
  private final boolean readOnly;
  private final boolean resumed;
  private final StartNumbers starts;
  private volatile StoreHeader header;

  /**
   * The numbers of partitions that were dropped since the start, which are not given again before
   * the next one.
   */
  private final Set<Integer> dropped = ConcurrentHashMap.newKeySet();

  private StoreCatalog(
      RocksDB db,
      RocksSettings settings,
      Path dir,
      boolean readOnly,
      boolean resumed,
      StartNumbers starts,
      StoreHeader header) {
    this.db = db;
    this.settings = settings;
    this.dir = dir;
    this.readOnly = readOnly;
    this.resumed = resumed;
    this.starts = starts;
    this.header = header;
  }

  /**
   * Goes on as the last start; writes nothing.
   *
   * @throws OsierException STORE_FULL if there was no start yet
   */
  static StoreCatalog ofLastLife(
      RocksDB db, RocksSettings settings, Path dir, Optional<StoreHeader> header)
      throws RocksDBException, MalformedException {
    StartNumbers starts = starts(db);
    StoreHeader last =
        header.orElseThrow(
            () ->
                new OsierException(
                    ErrorCode.STORE_FULL,
                    "the disk of "
                        + dir
                        + " is full, and nothing is stored there yet; make room on the disk"));
    return new StoreCatalog(db, settings, dir, true, true, starts, last);
  }

  /**
   * Writes the header of a new start.
   *
   * @param resumed whether the last start's incarnation goes on
   */
  static StoreCatalog ofNextLife(
      RocksDB db, RocksSettings settings, Path dir, StoreHeader header, boolean resumed)
      throws RocksDBException, MalformedException {
    StartNumbers starts = starts(db);
    try (WriteBatch life = new WriteBatch()) {
      life.put(RecordKeys.starts(), starts.encode());
      life.put(RecordKeys.header(), header.encode());
      db.write(settings.sync(), life);
    }
    return new StoreCatalog(db, settings, dir, false, resumed, starts, header);
  }

  /** Draws this start's number, and puts it in front of the stored ones. */
  private static StartNumbers starts(RocksDB db) throws RocksDBException, MalformedException {
    Optional<StartNumbers> told =
        Optional.ofNullable(db.get(RecordKeys.starts())).map(StartNumbers::decode);
    return StartNumbers.with(new SecureRandom().nextLong(1, Long.MAX_VALUE), told);
  }

  StoreHeader header() {
    return header;
  }

  /** Returns the random numbers of this start of the store and of earlier ones, newest first. */
  List<Long> starts() {
    return starts.numbers();
  }

  boolean isResumed() {
    return resumed;
  }

  /**
   * Returns the number of a partition, which gets one if it has none.
   *
   * @throws OsierException CONFIGURATION if the store has other partitions of the keyspace
   */
  int numberOf(String keyspace, int partition, Partitioning partitioning) throws RocksDBException {
    StoreHeader with =
        header.withPartitions(dir, keyspace, partitioning, isUsed(keyspace), dropped);
    if (!with.equals(header)) {
      if (!readOnly) {
        write(with);
      }
      header = with;
    }
    return header.numberOf(keyspace, partition);
  }

  /** Returns whether anything was ever written in a keyspace. */
  private boolean isUsed(String keyspace) throws RocksDBException {
    for (int i = 0; i < header.partitionsOf(keyspace); i++) {
      if (db.get(new RecordKeys(header.numberOf(keyspace, i)).state()) != null) {
        return true;
      }
    }
    return false;
  }

  private void write(StoreHeader header) throws RocksDBException {
    db.put(settings.sync(), RecordKeys.header(), header.encode());
  }

  /** Writes that the store was closed properly. */
  void writeClosed() throws RocksDBException {
    write(header.closed());
  }

  // ---------------------------------------------------------------- dropped keyspaces

  /**
   * Marks a keyspace as dropped, before anything is deleted: threads that still read must not take
   * what is left for all of it.
   */
  void beginDrop(String keyspace) {
    for (int i = 0; i < header.partitionsOf(keyspace); i++) {
      dropped.add(header.numberOf(keyspace, i));
    }
  }

  /**
   * Deletes all records of a keyspace.
   *
   * @param damage forgets its ranges in the keyspace
   */
  void drop(String keyspace, DamagedRanges damage) throws RocksDBException {
    StoreHeader without = header.without(keyspace);
    List<byte[]> ranges = new ArrayList<>();
    try (WriteBatch deletions = new WriteBatch()) {
      for (int i = 0; i < header.partitionsOf(keyspace); i++) {
        int number = header.numberOf(keyspace, i);
        byte[] from = RecordKeys.partitionBegin(number);
        byte[] to = RecordKeys.partitionBegin(number + 1);
        deletions.deleteRange(from, to);
        ranges.add(from);
        ranges.add(to);
        damage.gone(header.nameOf(number));
      }
      deletions.put(RecordKeys.header(), without.encode());
      db.write(settings.sync(), deletions);
    }
    header = without;
    if (!ranges.isEmpty()) {
      db.deleteFilesInRanges(db.getDefaultColumnFamily(), ranges, false);
    }
  }

  /** Returns whether any partition was dropped since the start. */
  boolean hasDropped() {
    return !dropped.isEmpty();
  }

  /** Returns whether a partition was dropped since the start. */
  boolean isDropped(RecordKeys partition) {
    return dropped.contains(partition.partition());
  }

  /** Throws UNKNOWN_KEYSPACE if a partition was dropped. */
  void checkThere(RecordKeys partition) {
    if (isDropped(partition)) {
      throw new OsierException(
          ErrorCode.UNKNOWN_KEYSPACE, "the keyspace was dropped before all was read of it");
    }
  }

  // ---------------------------------------------------------------- names

  /** Returns a partition's name, in words. */
  String nameOf(RecordKeys partition) {
    return header.nameOf(partition.partition());
  }

  /** Returns the partitions that have records in the file that an error names, in words. */
  String partitionsOf(String message) {
    String file = DamagedRanges.fileOf(message);
    for (LiveFileMetaData live :
        file.isEmpty() ? List.<LiveFileMetaData>of() : db.getLiveFilesMetaData()) {
      if (live.fileName().endsWith(file)) {
        return header.nameOf(RecordKeys.partitionOf(live.smallestKey()))
            + " to "
            + header.nameOf(RecordKeys.partitionOf(live.largestKey()));
      }
    }
    return "the store";
  }
}
