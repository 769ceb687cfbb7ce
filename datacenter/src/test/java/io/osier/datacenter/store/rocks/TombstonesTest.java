package io.osier.datacenter.store.rocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.files.DamagedStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.TableProperties;

/** What was deleted goes from the tables before a page of what is behind it takes long. */
final class TombstonesTest {
  private static final int DELETED = 30_000;

  @TempDir private Path dir;

  private static byte[] key(int number) {
    return ByteBuffer.allocate(7).putShort((short) 0).put((byte) 'e').putInt(number).array();
  }

  private static long tombstones(RocksDB db) throws RocksDBException {
    long sum = 0;
    for (TableProperties table : db.getPropertiesOfAllTables().values()) {
      sum += table.getNumDeletions();
    }
    return sum;
  }

  /** As a queue leaves them; of two tables no other reason makes RocksDB compact them. */
  @Test
  void manyInARow_areCompacted() throws RocksDBException {
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      RocksDB db = database.db();
      for (int i = 0; i < DELETED + 1_000; i++) {
        db.put(key(i), new byte[] {1});
      }
      DamagedStore.flush(db);
      for (int i = 0; i < DELETED; i++) {
        db.delete(key(i));
      }
      DamagedStore.flush(db);
      await().untilAsserted(() -> assertThat(tombstones(db)).isZero());
      assertThat(db.get(key(DELETED))).isNotNull();
      assertThat(db.get(key(DELETED - 1))).isNull();
    }
  }
}
