package io.osier.datacenter.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.datacenter.store.StoreSettings.Durability;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDBException;

/**
 * A store that an earlier version wrote is opened, and holds what was written. The one in the
 * resources was written by the code of commit 78edc64 with {@link #write}: half of it in tables,
 * half in the log, not closed properly.
 */
final class FormerStoreTest {
  private static final int TABLES_THROUGH = 60;

  @TempDir private Path dir;

  private static RocksDatabase open(Path at) {
    return RocksDatabase.open(at, Durability.SYNC, "test", "eu", 5);
  }

  /** Writes the store, with today's code. */
  private static void write(Path at) throws RocksDBException {
    RocksDatabase database = open(at);
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      RocksVersions first = database.partition("k", 0, 2);
      RocksVersions second = database.partition("k", 1, 2);
      List<List<Change>> groups = StoreScript.groups();
      for (int i = 0; i < groups.size(); i++) {
        if (i == TABLES_THROUGH) {
          database.db().flush(flush);
        }
        database.write(
            List.of(first.encode(groups.get(i)), second.encode(groups.get(groups.size() - 1 - i))));
      }
    } finally {
      database.closeUnclean();
    }
  }

  private static void unpack(Path to) throws IOException {
    Files.createDirectories(to.resolve("db"));
    try (InputStream in = FormerStoreTest.class.getResourceAsStream("/store-78edc64.zip");
        ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry e = zip.getNextEntry(); e != null; e = zip.getNextEntry()) {
        Files.copy(zip, to.resolve("db").resolve(e.getName()));
      }
    }
  }

  private static void checkContent(Path at, Function<Causal, Object> as) {
    MemoryVersions expected = new MemoryVersions();
    Set<Key> keys = new HashSet<>();
    for (List<Change> group : StoreScript.groups()) {
      expected.write(group);
      group.forEach(c -> keyOf(c).ifPresent(keys::add));
    }
    RocksDatabase database = open(at);
    try {
      assertThat(database.self()).isEqualTo(new ReplicaId("eu", 5));
      assertThat(database.isResumed()).isTrue();
      assertThat(database.replicas()).containsExactlyInAnyOrderElementsOf(expected.replicas());
      RocksVersions found = database.partition("k", 0, 2);
      for (Key key : keys) {
        assertThat(found.load(key).stream().map(VersionStore.Loaded::state))
            .as("%s", key)
            .map(as)
            .isEqualTo(expected.load(key).stream().map(l -> as.apply(l.state())).toList());
      }
      assertThat(found.objects(Optional.empty(), 10_000))
          .isEqualTo(expected.objects(Optional.empty(), 10_000))
          .hasSizeGreaterThan(50);
      assertThat(found.removed(Optional.empty(), 10_000))
          .isEqualTo(expected.removed(Optional.empty(), 10_000))
          .isNotEmpty();
      assertThat(found.logged(0, 10_000)).isEqualTo(expected.logged(0, 10_000)).isNotEmpty();
      assertThat(found.transactions()).isEqualTo(expected.transactions()).isNotEmpty();
      assertThat(found.state()).isEqualTo(expected.state()).isPresent();
    } finally {
      database.closeUnclean();
    }
  }

  private static Optional<Key> keyOf(Change change) {
    return switch (change) {
      case Change.PutOperation p -> Optional.of(p.object().key());
      case Change.PutSnapshot p -> Optional.of(p.object().key());
      case Change.DropObject d -> Optional.of(d.object()).map(ObjectId::key);
      default -> Optional.empty();
    };
  }

  @Test
  void storeOfAFormerVersion_isOpened_andHoldsWhatWasWritten() throws IOException {
    Path store = dir.resolve("former");
    unpack(store);
    checkContent(store, FormerStoreTest::shown);
  }

  @Test
  void storeOfThisVersion_isOpened_andHoldsWhatWasWritten() throws RocksDBException {
    Path store = dir.resolve("today");
    write(store);
    checkContent(store, state -> state);
  }

  /** How today's code writes the rows of a counter that was cleared may differ from then. */
  private static Object shown(Causal state) {
    return List.of(state.type(), state.context(), state.read(new Query.Whole()));
  }
}
