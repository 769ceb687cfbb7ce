package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.osier.bench.cluster.Directories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB alone, with the settings of a datacenter's store. A call writes a batch of load.objects
 * records of a counter's size.
 */
final class RocksTarget implements Target {
  private static final int KEY_BYTES = 13;
  private static final int VALUE_BYTES = 19;

  private final Path directory;
  private final Options options;
  private final RocksDB db;
  private final WriteOptions write;

  RocksTarget(Config config) throws IOException {
    RocksDB.loadLibrary();
    directory = Files.createTempDirectory("osier-rocksdb");
    options =
        new Options()
            .setCreateIfMissing(true)
            .setWriteBufferSize(8L << 20)
            .setMaxWriteBufferNumber(8)
            .setLevel0FileNumCompactionTrigger(8)
            .setMaxBytesForLevelBase(64L << 20);
    write = new WriteOptions().setSync(config.getString("durability").equals("sync"));
    try {
      db = RocksDB.open(options, directory.toString());
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
  }

  @Override
  public int nodes() {
    return 1;
  }

  @Override
  public Calls calls(int node, Config load) {
    int objects = load.getInt("objects");
    int keys = load.getInt("keys");
    Random random = new Random(1);
    byte[] keyBytes = new byte[KEY_BYTES];
    byte[] value = new byte[VALUE_BYTES];
    return new Calls() {
      @Override
      public Call call(String operation) {
        return (key, number) -> {
          try (WriteBatch batch = new WriteBatch()) {
            for (int i = 0; i < objects; i++) {
              ByteBuffer.wrap(keyBytes).putInt(KEY_BYTES - Integer.BYTES, random.nextInt(keys));
              random.nextBytes(value);
              batch.put(keyBytes, value);
            }
            db.write(write, batch);
            return CompletableFuture.completedFuture(null);
          } catch (RocksDBException e) {
            return CompletableFuture.failedFuture(e);
          }
        };
      }

      @Override
      public void close() {
        // Nothing of its own.
      }
    };
  }

  @Override
  public void close() {
    db.close();
    write.close();
    options.close();
    Directories.deleteQuietly(directory);
  }
}
