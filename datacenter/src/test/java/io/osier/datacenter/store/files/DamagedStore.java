package io.osier.datacenter.store.files;

import static java.util.Objects.requireNonNull;

import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.rocks.RocksDatabase;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** A store of a datacenter that was damaged while nobody had it open. */
public final class DamagedStore {
  private static final int EVERY_BYTES = 1_000;

  private DamagedStore() {}

  /** Writes what is in memory to a table. */
  public static void flush(RocksDB db) throws RocksDBException {
    try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
      db.flush(wait);
    }
  }

  /** What stands in the tables of a store that is closed, by file: how many bytes are data. */
  private static Map<String, Long> tables(Path dir) throws RocksDBException {
    Map<String, Long> tables = new TreeMap<>();
    try (RocksDB db = RocksDB.openReadOnly(StoreLayout.database(dir).toString())) {
      for (var table : db.getPropertiesOfAllTables().entrySet()) {
        tables.put(
            Path.of(table.getKey()).getFileName().toString(), table.getValue().getDataSize());
      }
    }
    return tables;
  }

  /** The largest table of a closed store. */
  static Path largest(Path dir) throws IOException {
    try (Stream<Path> files = Files.list(StoreLayout.database(dir))) {
      return files
          .filter(f -> f.toString().endsWith(".sst"))
          .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
          .orElseThrow();
    }
  }

  private static long size(Path dir, Path file) throws RocksDBException {
    String name = file.getFileName().toString();
    return requireNonNull(tables(dir).get(name), name);
  }

  /** Flips a bit in the middle of the data of a closed store's largest table. */
  public static void damageOneBlock(Path dir) throws IOException, RocksDBException {
    Path file = largest(dir);
    flip(file, size(dir, file) / 2);
  }

  /** Flips a bit in each block of data of a closed store's largest table. */
  public static void damageAllBlocks(Path dir) throws IOException, RocksDBException {
    Path file = largest(dir);
    long end = size(dir, file);
    for (long at = 10; at < end; at += EVERY_BYTES) {
      flip(file, at);
    }
  }

  /** Flips a bit of a byte. */
  public static void flip(Path file, long at) throws IOException {
    try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
      f.seek(at);
      int b = f.read();
      f.seek(at);
      f.write(b ^ 0x04);
    }
  }

  /** Brings all that a closed store has in its log into a table. */
  public static void flush(Path dir, String cluster, String dc) throws RocksDBException {
    RocksDatabase database = RocksDatabase.open(dir, Durability.SYNC, cluster, dc, 1);
    try {
      flush(database.db());
    } finally {
      database.close();
    }
  }
}
