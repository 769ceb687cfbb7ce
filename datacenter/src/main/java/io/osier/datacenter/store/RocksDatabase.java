package io.osier.datacenter.store;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.StoreSettings.Durability;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Checkpoint;
import org.rocksdb.ChecksumType;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * A datacenter's data in one RocksDB: the records of all its partitions share one log, so that one
 * write to the disk serves all of them. Thread-safe; one thread writes groups.
 *
 * <p>All records are in one column family: what a crash leaves is then a prefix of what was
 * written, whatever the durability.
 */
public final class RocksDatabase implements AutoCloseable, RecordKeys.Dictionary {
  private static final long WRITE_BUFFER_BYTES = 32L << 20;
  private static final long WAL_BYTES_MAX = 64L << 20;
  private static final long BLOCK_CACHE_BYTES = 64L << 20;
  private static final int PRUNE_OBJECTS_MAX = 10_000;
  private static final int PRUNE_KEYS_MAX = 10_000;
  private static final byte FORMAT = 1;
  private static final int FULL = 1;

  static {
    RocksDB.loadLibrary();
  }

  private final Path dir;
  private final Options options;
  private final LRUCache blocks;
  private final BloomFilter bloom;
  private final WriteOptions write;
  private final WriteOptions sync = new WriteOptions().setSync(true);
  private final RocksDB db;
  private final Durability durability;
  private final Map<ReplicaId, Integer> numbers = new ConcurrentHashMap<>();
  private final List<ReplicaId> replicas = new CopyOnWriteArrayList<>();
  private final Set<Prunable> prunable = new LinkedHashSet<>();
  private StoreHeader header;
  private final boolean resumed;

  private record Prunable(RecordKeys keys, ObjectId object) {}

  /** One partition's changes, in their order. */
  public record PartitionChanges(RocksVersions partition, List<Change> changes) {}

  /**
   * Opens a store, or makes one.
   *
   * @param incarnationMin a new incarnation is at least this
   * @throws OsierException CONFIGURATION if it belongs to another datacenter or process,
   *     STORE_DAMAGED if it cannot be read
   */
  public static RocksDatabase open(
      Path dir, Durability durability, String cluster, String dc, long incarnationMin) {
    return new RocksDatabase(dir, durability, cluster, dc, incarnationMin);
  }

  private RocksDatabase(
      Path dir, Durability durability, String cluster, String dc, long incarnationMin) {
    this.dir = dir;
    this.durability = durability;
    this.blocks = new LRUCache(BLOCK_CACHE_BYTES);
    this.bloom = new BloomFilter(10);
    this.options = options(durability);
    this.write =
        new WriteOptions()
            .setSync(durability == Durability.SYNC)
            .setDisableWAL(durability == Durability.NONE);
    this.db = openDatabase();
    try {
      StoreHeader before = readHeader(cluster, dc);
      readReplicas();
      // After an unclean stop the last updates may be lost, and their dots must not be given again.
      boolean kept = before != null && (before.clean() || before.durability() == Durability.SYNC);
      long incarnation =
          kept
              ? before.incarnation()
              : Math.max(incarnationMin, before == null ? 1 : before.incarnation() + 1);
      this.resumed = kept;
      this.header =
          new StoreHeader(
              cluster,
              dc,
              incarnation,
              before == null ? 1 : before.life() + 1,
              false,
              durability,
              before == null ? Map.of() : before.partitions());
      db.put(sync, RecordKeys.header(), header.encode());
    } catch (RocksDBException e) {
      closeAll();
      throw failure(e);
    } catch (MalformedException e) {
      closeAll();
      throw damaged(e);
    } catch (RuntimeException e) {
      closeAll();
      throw e;
    }
  }

  private Options options(Durability durability) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(blocks)
            .setFilterPolicy(bloom)
            .setChecksumType(ChecksumType.kXXH3)
            .setCacheIndexAndFilterBlocks(false);
    return new Options()
        .setCreateIfMissing(true)
        .setParanoidChecks(true)
        .setTableFormatConfig(table)
        .setCompressionType(CompressionType.LZ4_COMPRESSION)
        .setWriteBufferSize(WRITE_BUFFER_BYTES)
        .setMaxWriteBufferNumber(3)
        // What is replayed when the store is opened.
        .setMaxTotalWalSize(WAL_BYTES_MAX)
        .setMaxBackgroundJobs(2)
        .setKeepLogFileNum(2)
        .setMaxOpenFiles(512)
        // A record that was confirmed must not vanish silently; a torn last one was not confirmed.
        .setWalRecoveryMode(
            durability == Durability.SYNC
                ? WALRecoveryMode.TolerateCorruptedTailRecords
                : WALRecoveryMode.PointInTimeRecovery);
  }

  private RocksDB openDatabase() {
    try {
      Files.createDirectories(dir);
      StoreErrors.checkFiles(dir);
      return RocksDB.open(options, StoreFiles.database(dir).toString());
    } catch (IOException e) {
      closeAll();
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.store.dir: cannot make " + dir + ": " + e.getMessage(),
          e);
    } catch (RocksDBException e) {
      closeAll();
      throw failure(e);
    } catch (OsierException e) {
      closeAll();
      throw e;
    }
  }

  private StoreHeader readHeader(String cluster, String dc) throws RocksDBException {
    byte[] bytes = db.get(RecordKeys.header());
    if (bytes == null) {
      return null;
    }
    StoreHeader before = StoreHeader.decode(bytes);
    if (!before.cluster().equals(cluster) || !before.dc().equals(dc)) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.store.dir: "
              + dir
              + " holds the data of '"
              + before.dc()
              + "' in cluster '"
              + before.cluster()
              + "', not of '"
              + dc
              + "' in '"
              + cluster
              + "'");
    }
    return before;
  }

  private void readReplicas() throws RocksDBException {
    byte[] bytes;
    while ((bytes = db.get(RecordKeys.replica(replicas.size()))) != null) {
      add(new WireInput(bytes).readReplica());
    }
  }

  private void add(ReplicaId replica) {
    numbers.put(replica, replicas.size());
    replicas.add(replica);
  }

  /** An error of the store, with what to do about it. */
  OsierException failure(RocksDBException e) {
    return StoreErrors.of(dir, e);
  }

  OsierException damaged(Exception e) {
    return StoreErrors.damaged(dir, e);
  }

  // ---------------------------------------------------------------- identity

  /** The incarnation of this life. */
  public ReplicaId self() {
    return new ReplicaId(header.dc(), header.incarnation());
  }

  /** Counts the starts of this store, from 1. */
  public long life() {
    return header.life();
  }

  /** Whether the incarnation of the last life goes on, because nothing can have been lost. */
  public boolean isResumed() {
    return resumed;
  }

  /** Whether an update is durable only when it was written. */
  Durability durability() {
    return durability;
  }

  /**
   * The versions of a partition.
   *
   * @throws OsierException CONFIGURATION if the store has another number of partitions of it
   */
  public synchronized RocksVersions partition(String keyspace, int partition, int partitions) {
    String name = keyspace + "/" + partition;
    Map<String, Integer> known = new TreeMap<>(header.partitions());
    long stored = known.keySet().stream().filter(n -> n.startsWith(keyspace + "/")).count();
    if (!known.containsKey(name)) {
      if (stored > partition || known.size() >= RecordKeys.PARTITIONS_MAX) {
        throw new IllegalStateException("partition " + name + " cannot be added to " + known);
      }
      known.put(name, known.values().stream().mapToInt(n -> n).max().orElse(-1) + 1);
      header =
          new StoreHeader(
              header.cluster(),
              header.dc(),
              header.incarnation(),
              header.life(),
              false,
              durability,
              known);
      try {
        db.put(sync, RecordKeys.header(), header.encode());
      } catch (RocksDBException e) {
        throw failure(e);
      }
    } else if (stored > partitions) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.keyspaces."
              + keyspace
              + ".partitions: the store in "
              + dir
              + " has "
              + stored
              + ", which cannot become "
              + partitions);
    }
    return new RocksVersions(this, new RecordKeys(known.get(name)));
  }

  // ---------------------------------------------------------------- replicas

  @Override
  public int numberOf(ReplicaId replica) {
    Integer number = numbers.get(replica);
    if (number == null) {
      throw new IllegalStateException(replica + " has no number in the store");
    }
    return number;
  }

  @Override
  public ReplicaId replica(int number) {
    if (number < 0 || number >= replicas.size()) {
      throw new MalformedException("replica number " + number + " is not in the store");
    }
    return replicas.get(number);
  }

  /** Every replica that a record may name. */
  public Collection<ReplicaId> replicas() {
    return replicas;
  }

  private void number(WriteBatch batch, io.osier.core.VersionVector at) throws RocksDBException {
    for (int i = 0; i < at.size(); i++) {
      ReplicaId r = at.replica(i);
      if (!numbers.containsKey(r)) {
        WireOutput out = new WireOutput();
        out.writeReplica(r);
        batch.put(RecordKeys.replica(replicas.size()), out.toBytes());
        add(r);
      }
    }
  }

  // ---------------------------------------------------------------- writing

  /** Writes groups, altogether or not at all, as durably as configured. Only for one thread. */
  public void write(List<PartitionChanges> groups) {
    try (WriteBatch batch = new WriteBatch()) {
      for (PartitionChanges group : groups) {
        for (Change change : group.changes) {
          add(batch, group.partition.keys(), change);
        }
      }
      db.write(write, batch);
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  private void add(WriteBatch batch, RecordKeys keys, Change change) throws RocksDBException {
    switch (change) {
      case Change.PutOperation p -> {
        number(batch, p.at());
        batch.put(keys.version(p.object(), p.at(), false, this), content(p.delta(), p.at()));
      }
      case Change.PutSnapshot p -> {
        number(batch, p.at());
        batch.put(keys.version(p.object(), p.at(), true, this), content(p.state(), p.at()));
      }
      case Change.PutLogged p -> {
        byte[] key = p.object().key().toBytes();
        batch.put(
            keys.logged(p.number()),
            ByteBuffer.allocate(key.length + 1)
                .put((byte) p.object().type().number())
                .put(key)
                .array());
      }
      case Change.PutTransaction p ->
          batch.put(
              keys.transaction(p.number()),
              ByteBuffer.allocate(2 * Long.BYTES)
                  .putLong(p.transaction().high())
                  .putLong(p.transaction().low())
                  .array());
      case Change.DropTransactions d ->
          batch.deleteRange(keys.transaction(d.after() + 1), keys.transaction(d.through() + 1));
      case Change.PutRemoved p -> batch.put(keys.removed(p.object()), new byte[0]);
      case Change.DropRemoved d -> batch.delete(keys.removed(d.object()));
      case Change.PutState p -> batch.put(keys.state(), p.state().encode());
      case Change.DropLogged d ->
          batch.deleteRange(keys.firstLogged(d.after()), keys.firstLogged(d.through()));
      case Change.DropObject d -> drop(batch, keys, d.object());
      case Change.Prune p -> {
        synchronized (prunable) {
          prunable.add(new Prunable(keys, p.object()));
        }
      }
    }
  }

  /**
   * Deletes one by one what was written before: an object has few versions, and many deletions of
   * ranges make reading slow.
   */
  private void drop(WriteBatch batch, RecordKeys keys, ObjectId object) throws RocksDBException {
    try (Slice end = new Slice(keys.objectEnd(object));
        ReadOptions read = new ReadOptions().setIterateUpperBound(end).setFillCache(false);
        RocksIterator it = db.newIterator(read)) {
      for (it.seek(keys.objectBegin(object)); it.isValid(); it.next()) {
        batch.delete(it.key());
      }
      it.status();
    }
  }

  private static byte[] content(Causal content, io.osier.core.VersionVector at) {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(FORMAT);
          out.writeByte(content.isFull() ? FULL : 0);
          for (int i = 0; i < at.size(); i++) {
            out.presetReplica(at.replica(i));
          }
          content.writeBody(out);
        });
  }

  static Causal content(byte[] bytes, io.osier.core.VersionVector at, io.osier.crdt.CrdtType type) {
    WireInput in = new WireInput(bytes);
    int format = in.readByte();
    if (format != FORMAT) {
      throw new MalformedException("format " + format + " of a version is unknown");
    }
    boolean full = in.readByte() == FULL;
    for (int i = 0; i < at.size(); i++) {
      in.presetReplica(at.replica(i));
    }
    Causal content = Causal.readBody(type, full, in);
    in.expectEnd();
    return content;
  }

  /**
   * Drops versions that the newest snapshots of their objects contain; a background task.
   *
   * @return how many versions were dropped
   */
  public int prune() {
    List<Prunable> some = new ArrayList<>();
    synchronized (prunable) {
      prunable.stream().limit(PRUNE_OBJECTS_MAX).forEach(some::add);
      some.forEach(prunable::remove);
    }
    int dropped = 0;
    try (WriteBatch batch = new WriteBatch()) {
      for (Prunable p : some) {
        dropped += prune(batch, p);
        if (batch.count() >= PRUNE_KEYS_MAX) {
          writePruned(batch);
          batch.clear();
        }
      }
      writePruned(batch);
    } catch (RocksDBException e) {
      throw failure(e);
    }
    return dropped;
  }

  private void writePruned(WriteBatch batch) throws RocksDBException {
    if (batch.count() > 0) {
      try (WriteOptions lazy = new WriteOptions().setDisableWAL(durability == Durability.NONE)) {
        db.write(lazy, batch);
      }
    }
  }

  private int prune(WriteBatch batch, Prunable p) throws RocksDBException {
    byte[] begin = p.keys.objectBegin(p.object);
    int dropped = 0;
    try (Slice end = new Slice(p.keys.objectEnd(p.object));
        ReadOptions read = new ReadOptions().setIterateUpperBound(end).setFillCache(false);
        RocksIterator it = db.newIterator(read)) {
      io.osier.core.VersionVector newest = null;
      byte[] newestKey = null;
      List<byte[]> newer = new ArrayList<>();
      for (it.seek(begin); it.isValid(); it.next()) {
        byte[] key = it.key();
        io.osier.core.VersionVector at = RecordKeys.at(key, begin.length, this);
        if (RecordKeys.isSnapshot(key, begin.length) && (newest == null || newest.isAtMost(at))) {
          if (newestKey != null) {
            newer.add(newestKey);
          }
          newest = at;
          newestKey = key;
        } else if (newest != null && at.isAtMost(newest)) {
          batch.delete(key);
          dropped++;
        } else {
          newer.add(key);
        }
      }
      it.status();
      if (newest != null) {
        for (byte[] key : newer) {
          if (RecordKeys.at(key, begin.length, this).isAtMost(newest)) {
            batch.delete(key);
            dropped++;
          }
        }
      }
    }
    return dropped;
  }

  /** Makes what was written durable, where writes do not do so by themselves. */
  public void flush() {
    try {
      if (durability == Durability.ASYNC) {
        db.syncWal();
      }
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  RocksDB db() {
    return db;
  }

  /** Bytes of the tree's files. */
  public long fileBytes() {
    try {
      return db.getLongProperty("rocksdb.total-sst-files-size");
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  /**
   * Makes a consistent copy while everything goes on; hard links where the file system has them.
   *
   * @param to must not exist
   */
  public void backup(Path to) {
    try (Checkpoint checkpoint = Checkpoint.create(db)) {
      Files.createDirectories(to.getParent());
      if (durability == Durability.NONE) {
        try (org.rocksdb.FlushOptions wait = new org.rocksdb.FlushOptions().setWaitForFlush(true)) {
          db.flush(wait);
        }
      }
      checkpoint.createCheckpoint(to.toString());
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.STORE_FULL, "cannot make " + to + ": " + e.getMessage(), e);
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  /** Closes the store properly: its incarnation can go on. No group may be written any more. */
  @Override
  public void close() {
    try (org.rocksdb.FlushOptions wait = new org.rocksdb.FlushOptions().setWaitForFlush(true)) {
      db.flush(wait);
      db.put(sync, RecordKeys.header(), header.closed().encode());
    } catch (RocksDBException e) {
      throw failure(e);
    } finally {
      closeAll();
    }
  }

  /** Closes the store as a crash would. */
  public void closeUnclean() {
    closeAll();
  }

  private void closeAll() {
    if (db != null) {
      db.close();
    }
    write.close();
    sync.close();
    options.close();
    bloom.close();
    blocks.close();
  }
}
