package io.osier.datacenter.store.rocks;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.files.DamagedStore;
import io.osier.datacenter.store.records.RecordKeys;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** What rewrites a store whose blocks are damaged, and what is written to it. */
@SuppressWarnings("NullAway.Init") // each test opens its store first
final class DamagedCompactionTest extends DamagedBlocks {
  /** More than RocksDB would wait for. */
  private static final int TABLES = 40;

  /** The others of the same go are pruned all the same. */
  @Test
  void pruning_passesWhatCannotBeRead() throws Exception {
    makeDamaged(true);
    RocksVersions others = database.partition("bank", 0, Partitioning.byKey(1));
    VersionVector at = delta().context().toVersionVector();
    for (RocksVersions partition : List.of(versions, others)) {
      Change operation = new Change.PutOperation(object(3), at, delta());
      Change snapshot = new Change.PutSnapshot(object(3), at, state());
      Change prune = new Change.Prune(object(3));
      database.write(List.of(partition.encode(List.of(operation, snapshot, prune))));
    }
    assertThat(database.prune()).as("the operation of the whole one").isEqualTo(1);
    assertIsReported();
  }

  /** A disk that fails is the whole store's trouble, and is told of. */
  @Test
  void pruning_endsWithAnErrorThatIsNoDamage() throws Exception {
    makeDamaged(true);
    RecordKeys keys = new RecordKeys(0);
    Status full = new Status(Status.Code.IOError, Status.SubCode.NoSpace, "No space left");
    assertThatThrownBy(() -> database.open().unreadable(keys, new RocksDBException(full)))
        .isInstanceOf(RocksDBException.class);
    assertThat(database.damage().isEmpty()).isTrue();
    Status damaged = new Status(Status.Code.Corruption, Status.SubCode.None, "wrong checksum");
    database.open().unreadable(keys, new RocksDBException(damaged));
    assertThat(database.damage().isEmpty()).isFalse();
  }

  /** RocksDB takes no write any more once a compaction has met damage. */
  @Test
  void whereDamageIsKnown_nothingIsCompactedThatMayWait() throws Exception {
    makeDamaged(true);
    TombstoneRanges.Range range = TombstoneRanges.Range.between(new byte[] {0}, new byte[] {1});
    database.gaps().gaps().met(range, 2 * TombstoneRanges.SKIPPED_MIN);
    assertThat(database.hasGap()).isTrue();
    assertThatThrownBy(() -> versions.load(object(5).key())).isInstanceOf(OsierException.class);
    assertThat(database.hasGap()).isFalse();
    database.closeUnclean();
    database = open();
    database.gaps().gaps().met(range, 2 * TombstoneRanges.SKIPPED_MIN);
    assertThat(database.hasGap()).as("met in the last life").isFalse();
  }

  /** Otherwise it would take no updates before it has told a peer of those that it had. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whereDamageIsKnown_writesGoOn_howeverManyTablesThereAre(boolean inTheLastLife)
      throws Exception {
    makeDamaged(true);
    assertThatThrownBy(() -> versions.load(object(5).key())).isInstanceOf(OsierException.class);
    if (inTheLastLife) {
      database.closeUnclean();
      database = open();
      versions = database.partition("shop", 0, Partitioning.byKey(1));
    }
    long before = tables();
    for (int i = 0; i < TABLES; i++) {
      for (int j = 0; j < RECORDS; j += 10) { // each table reaches over all that is damaged
        database.db().put(new RecordKeys(0).inPlace(object(j)), new byte[] {1});
      }
      DamagedStore.flush(database.db());
    }
    assertThat(tables()).as("that no compaction has touched").isEqualTo(before + TABLES);
    database.write(List.of(versions.encode(List.of(new Change.PutInPlace(WHOLE, state(), true)))));
    assertThatThrownBy(() -> versions.load(object(5).key())).isInstanceOf(OsierException.class);
  }

  private long tables() throws RocksDBException {
    return Long.parseLong(database.db().getProperty("rocksdb.num-files-at-level0"));
  }

  /** RocksDB joins its files by itself: nobody has asked for that, and nobody would be told. */
  @Test
  void compaction_thatMeetsDamage_isReported_andSoIsTheWriteAfterIt() throws Exception {
    makeDamaged(true);
    try {
      database.db().compactRange();
    } catch (RocksDBException e) {
      assertThat(e).hasMessageContaining("checksum");
    }
    await().until(() -> !database.damage().all().isEmpty());
    assertThat(database.damage().all().getFirst().where())
        .isEqualTo("in the background (compaction)");
    assertThat(database.damage().all().getFirst().what()).contains(".sst");
    refused(
        ErrorCode.STORE_DAMAGED,
        () ->
            database.write(
                List.of(versions.encode(List.of(new Change.PutTypes(Set.of(CrdtType.EW_FLAG)))))));
  }
}
