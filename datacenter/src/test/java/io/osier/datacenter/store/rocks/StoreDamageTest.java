package io.osier.datacenter.store.rocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.files.DamagedStore;
import io.osier.datacenter.store.files.StoreFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/** Each kind of file, deleted, cut off, with a bit flipped: nobody may say that all is well. */
final class StoreDamageTest {
  private static final int KEYS = 2_000;

  @TempDir private Path dir;

  private static byte[] key(int i) {
    return ByteBuffer.allocate(5).put((byte) 0x7f).putInt(i).array();
  }

  private static byte[] value(int i) {
    byte[] value = new byte[100];
    new Random(i).nextBytes(value);
    return value;
  }

  private static RocksDatabase open(Path at) {
    return RocksDatabase.open(at, Durability.SYNC, "test", "eu", 1);
  }

  /** A store as a crash leaves it: half of the keys in a table, half in the log. */
  private Path store() throws RocksDBException {
    Path at = dir.resolve("good");
    RocksDatabase database = open(at);
    try (WriteOptions write = new WriteOptions();
        FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      for (int i = 0; i < KEYS; i++) {
        if (i == KEYS / 2) {
          database.db().flush(flush);
        }
        database.db().put(write, key(i), value(i));
      }
    } finally {
      database.closeUnclean();
    }
    return at;
  }

  private static Path copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.resolve("db"));
    try (Stream<Path> files = Files.list(from.resolve("db"))) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve("db").resolve(file.getFileName()));
      }
    }
    return to;
  }

  /** The largest file whose name matches. */
  private static Path file(Path store, String pattern) throws IOException {
    try (Stream<Path> files = Files.list(store.resolve("db"))) {
      return files
          .filter(f -> f.getFileName().toString().matches(pattern))
          .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
          .orElseThrow();
    }
  }

  /** How many keys are right; throws if the store cannot be opened or read. */
  private static int readAll(Path store) throws RocksDBException {
    RocksDatabase database = open(store);
    try {
      int right = 0;
      for (int i = 0; i < KEYS; i++) {
        byte[] value = database.db().get(key(i));
        if (value != null) {
          assertThat(value).as("never wrong data").isEqualTo(value(i));
          right++;
        }
      }
      return right;
    } catch (RocksDBException e) {
      throw database.open().failure(e);
    } finally {
      database.closeUnclean();
    }
  }

  private static OsierException failureOf(org.assertj.core.api.ThrowableAssert.ThrowingCallable c) {
    return catchThrowableOfType(OsierException.class, c);
  }

  @Test
  void wholeStore_isVerified() throws Exception {
    Path store = store();
    Path note = StoreFiles.damageNote(store);
    Files.createFile(note); // of what was dropped since, say
    assertThat(StoreFiles.verify(store).logEndsEarly()).isFalse();
    assertThat(note).doesNotExist();
    assertThat(readAll(store)).isEqualTo(KEYS);
  }

  @ParameterizedTest
  @CsvSource({
    "CURRENT, delete",
    "MANIFEST-.*, delete",
    ".*\\.sst, delete",
    ".*\\.log, delete",
    "CURRENT, cut",
    "MANIFEST-.*, cut",
    ".*\\.sst, cut",
    "CURRENT, flip",
    "MANIFEST-.*, flip",
    ".*\\.sst, flip",
    ".*\\.log, flip",
  })
  void damage_isFoundByVerifyAndByTheStart(String pattern, String damage) throws Exception {
    Path good = store();
    List<Path> stores = new ArrayList<>();
    long length = Files.size(file(good, pattern));
    int places = damage.equals("flip") ? 12 : 1;
    for (int i = 0; i < places; i++) {
      Path store = copy(good, dir.resolve("bad" + i));
      Path file = file(store, pattern);
      switch (damage) {
        case "delete" -> Files.delete(file);
        case "cut" -> cut(file, length / 2);
        default -> DamagedStore.flip(file, (2 * i + 1) * length / (2L * places));
      }
      stores.add(store);
    }
    for (Path store : stores) {
      OsierException verify = failureOf(() -> StoreFiles.verify(store));
      OsierException start = failureOf(() -> readAll(store));
      assertThat(verify).as("verify of %s", store).isNotNull();
      for (OsierException e : start == null ? List.of(verify) : List.of(verify, start)) {
        assertThat(e.code()).as(e.getMessage()).isEqualTo(ErrorCode.STORE_DAMAGED);
        assertThat(e).hasMessageContaining("'osier rebuild'").hasMessageContaining("damaged");
      }
      if (start == null) {
        assertThat(readAll(store)).as("the damage is where it does no harm").isEqualTo(KEYS);
      }
    }
  }

  @Test
  void logThatEndsWithinARecord_isAsAfterACrash() throws Exception {
    Path store = store();
    Path log = file(store, ".*\\.log");
    cut(log, Files.size(log) - 30);
    assertThat(StoreFiles.verify(store).logEndsEarly()).isTrue();
    assertThat(readAll(store)).isEqualTo(KEYS - 1);
  }

  /** RocksDB makes these anew, and a datacenter does not read them. */
  @ParameterizedTest
  @CsvSource({"OPTIONS-.*", "IDENTITY", "LOG"})
  void filesWithoutData_mayBeMissing(String pattern) throws Exception {
    Path store = store();
    Files.delete(file(store, pattern));
    StoreFiles.verify(store);
    assertThat(readAll(store)).isEqualTo(KEYS);
  }

  @Test
  void storeInUse_andOneOfAnother_areNotDamaged() throws Exception {
    Path store = store();
    RocksDatabase first = open(store);
    try {
      assertThat(failureOf(() -> open(store)))
          .hasMessageContaining("in use by another process")
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.CONFIGURATION));
    } finally {
      first.closeUnclean();
    }
    Path file = dir.resolve("file");
    Files.writeString(file, "no directory");
    assertThat(failureOf(() -> open(file)).code()).isEqualTo(ErrorCode.CONFIGURATION);
  }

  private static void cut(Path file, long length) throws IOException {
    try (RandomAccessFile f = new RandomAccessFile(file.toFile(), "rw")) {
      f.setLength(length);
    }
  }
}
