package io.osier.bench.storage;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.osier.datacenter.cli.Table;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Locale;
import java.util.Random;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** RocksDB alone, writing batches of the same size and bytes. */
final class RawRocks implements Part {
  /** As many as there are counters in the mixes, of each of which a group writes one record. */
  private static final int OBJECTS = 100_000;

  /** The sizes of such a record in a store, in bytes. */
  private static final int RAW_KEY = 13;

  private static final int RAW_VALUE = 19;

  @Override
  public Result measure(Scale scale, ArrayNode json) throws IOException, RocksDBException {
    Table table = new Table("updates a batch", "updates/s with sync", "without");
    Files.createDirectories(scale.dir());
    RocksDB.loadLibrary();
    for (int size : new int[] {16, 64, 256, 512}) {
      double sync = raw(scale, "s" + size, size, true);
      double async = raw(scale, "a" + size, size, false);
      table.add(
          Integer.toString(size),
          String.format(Locale.ROOT, "%,.0f", sync),
          String.format(Locale.ROOT, "%,.0f", async));
      json.addObject()
          .put("batch", size)
          .put("sync_updates_per_s", Math.round(sync))
          .put("async_updates_per_s", Math.round(async));
    }
    return new Result("raw: RocksDB alone, one thread, one record an update", table);
  }

  private static double raw(Scale scale, String name, int size, boolean sync)
      throws RocksDBException {
    Random random = new Random(1);
    byte[] key = new byte[RAW_KEY];
    byte[] value = new byte[RAW_VALUE];
    long updates = 0;
    try (Options options =
            new Options() // as of a store
                .setCreateIfMissing(true)
                .setWriteBufferSize(8L << 20)
                .setMaxWriteBufferNumber(8)
                .setLevel0FileNumCompactionTrigger(8)
                .setMaxBytesForLevelBase(64L << 20);
        RocksDB db = RocksDB.open(options, scale.dir().resolve(name).toString());
        WriteOptions write = new WriteOptions().setSync(sync)) {
      long began = System.nanoTime();
      while (System.nanoTime() - began < scale.seconds() * 1e9) {
        try (WriteBatch batch = new WriteBatch()) {
          for (int i = 0; i < size; i++) {
            ByteBuffer.wrap(key).putInt(RAW_KEY - Integer.BYTES, random.nextInt(OBJECTS));
            random.nextBytes(value);
            batch.put(key, value);
          }
          db.write(write, batch);
          updates += size;
        }
      }
      return updates / ((System.nanoTime() - began) / 1e9);
    }
  }
}
