package io.osier.datacenter.store;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.records.EncodedGroup;
import io.osier.datacenter.store.records.StoreHeader;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.propagation.host.Forgetting;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a stranger finds: a kill at an unlucky moment, another configuration, a late reader. */
final class StoreFaultsTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ObjectId FLAG = new ObjectId(Key.of("flag"), CrdtType.EW_FLAG);

  @TempDir private Path dir;

  private RocksDatabase open() {
    return RocksDatabase.open(dir, Durability.SYNC, "test", "eu", 1);
  }

  private static CrdtState delta(CrdtState state, int number) {
    return state.prepare(new Operation.SetFlag(true), SELF, number, number - 1, number, 0);
  }

  private static Change state() {
    return new Change.PutState(
        new StoredState(
            SELF, 2, 2, 1, 0, VersionVector.EMPTY, Map.of(), true, true, Forgetting.NOTHING));
  }

  /** An eviction's snapshot waits in front of a drop, and both come to the disk together. */
  @Test
  void snapshotOfAnEviction_doesNotSurviveADrop_thatIsWrittenWithIt() {
    RocksDatabase database = open();
    RocksVersions versions = database.partition("shop", 0, Partitioning.byKey(1));
    RocksVersions other = database.partition("bank", 0, Partitioning.byKey(1));
    CrdtState first = delta(CrdtState.bottom(FLAG.type()), 1);
    CrdtState second = first.join(delta(first, 2));
    VersionVector at = second.context().toVersionVector();
    Change operation = new Change.PutOperation(FLAG, first.context().toVersionVector(), first);
    Change snapshot = new Change.PutSnapshot(FLAG, at, second);
    Change drop = new Change.DropObject(FLAG);
    database.write(List.of(versions.encode(List.of(operation))));
    database.write(
        List.of(
            versions.encode(List.of(snapshot)),
            other.encode(List.of(snapshot)),
            versions.encode(List.of(drop))));
    assertThat(versions.load(FLAG.key())).isEmpty();
    assertThat(other.load(FLAG.key())).as("another partition's").hasSize(1);
    database.write(List.of(versions.encode(List.of(drop)), versions.encode(List.of(operation))));
    assertThat(versions.load(FLAG.key())).as("what is written after the drop").hasSize(1);
    database.close();
  }

  /** It is asked twice a second, and an fsync of nothing is work for the disk all the same. */
  @Test
  void flush_syncsWhatWasWrittenSinceTheLastOne_andOtherwiseNothing() {
    RocksDatabase database = RocksDatabase.open(dir, Durability.ASYNC, "test", "eu", 1);
    RocksVersions versions = database.partition("shop", 0, Partitioning.byKey(1));
    assertThat(database.flush()).as("what a former life has left").isTrue();
    assertThat(database.flush()).isFalse();
    database.write(List.of(versions.encode(List.of(state()))));
    assertThat(database.flush()).isTrue();
    assertThat(database.flush()).isFalse();
    database.close();
  }

  /** One partition's thread gives a replica its number, and another's group is written first. */
  @Test
  void replicasNumber_isWrittenWithTheFirstRecordThatUsesIt() {
    RocksDatabase database = open();
    RocksVersions slow = database.partition("shop", 0, Partitioning.byKey(2));
    RocksVersions fast = database.partition("shop", 1, Partitioning.byKey(2));
    CrdtState delta = delta(CrdtState.bottom(FLAG.type()), 1);
    Change operation = new Change.PutOperation(FLAG, delta.context().toVersionVector(), delta);
    EncodedGroup lost = slow.encode(List.of(operation));
    database.write(List.of(fast.encode(List.of(operation))));
    assertThat(lost.isEmpty()).isFalse();
    database.closeUnclean();
    RocksDatabase again = open();
    assertThat(again.partition("shop", 1, Partitioning.byKey(2)).load(FLAG.key()))
        .extracting(VersionStore.Loaded::state)
        .containsExactly(CrdtState.bottom(FLAG.type()).join(delta));
    assertThat(again.partition("shop", 0, Partitioning.byKey(2)).load(FLAG.key())).isEmpty();
    again.close();
  }

  /** Keys belong to partitions by their number: with another one they would not be found. */
  @Test
  void partitions_cannotBecomeMore_onceSomethingWasWritten() {
    RocksDatabase database = open();
    RocksVersions first = database.partition("shop", 0, Partitioning.byKey(2));
    database.partition("shop", 1, Partitioning.byKey(2));
    database.write(List.of(first.encode(List.of(state()))));
    database.close();
    RocksDatabase again = open();
    refused(ErrorCode.CONFIGURATION, () -> again.partition("shop", 0, Partitioning.byKey(3)))
        .hasMessageContaining("osier.keyspaces.shop.partitions")
        .hasMessageContaining("has 2, which cannot become 3");
    again.partition("shop", 0, Partitioning.byKey(2));
    again.close();
  }

  @Test
  void hash_staysAsItWas_onceSomethingWasWritten() {
    Partitioning byTag = new Partitioning(2, Partitioning.Hash.TAG);
    Partitioning byKey = Partitioning.byKey(2);
    RocksDatabase database = open();
    database.partition("shop", 0, byTag); // as nothing is written, it may still become another
    RocksVersions shop = database.partition("shop", 0, byKey);
    RocksVersions tags = database.partition("tags", 0, byTag);
    database.write(List.of(shop.encode(List.of(state())), tags.encode(List.of(state()))));
    database.close();
    RocksDatabase again = open();
    refused(ErrorCode.CONFIGURATION, () -> again.partition("shop", 0, byTag))
        .hasMessageContaining("osier.keyspaces.shop.hash")
        .hasMessageContaining("is key, which cannot become tag");
    refused(ErrorCode.CONFIGURATION, () -> again.partition("tags", 0, byKey))
        .hasMessageContaining("osier.keyspaces.tags.hash")
        .hasMessageContaining("is tag, which cannot become key");
    again.partition("shop", 0, byKey);
    again.partition("tags", 0, byTag);
    again.drop("tags");
    RocksVersions other = again.partition("tags", 0, byKey);
    again.write(List.of(other.encode(List.of(state()))));
    again.partition("tags", 0, byKey);
    again.close();
  }

  /** Programs that know no tags do not open a store that has them, and open all others. */
  @Test
  void headersFormat_isALaterOne_onlyWhereSomethingIsHashedByTag() {
    StoreHeader header =
        StoreHeader.ofNextLife(
            Optional.empty(), "osier", "eu", StoreSettings.Durability.ASYNC, 1, true);
    for (Partitioning.Hash hash : Partitioning.Hash.values()) {
      StoreHeader with =
          header.withPartitions(dir, "shop", new Partitioning(2, hash), false, Set.of());
      assertThat(with.encode()[0]).isEqualTo((byte) (hash == Partitioning.Hash.TAG ? 9 : 8));
      assertThat(StoreHeader.decode(with.encode())).isEqualTo(with);
      assertThat(with.closed().byTag()).isEqualTo(with.byTag());
      assertThat(with.without("shop").encode()[0]).isEqualTo((byte) 8);
    }
  }

  @Test
  void startThatWasKilledBetweenTwoPartitions_isFollowedByAnother() {
    RocksDatabase database = open();
    database.partition("shop", 0, Partitioning.byKey(3));
    database.closeUnclean();
    RocksDatabase again = open();
    for (int i = 0; i < 3; i++) {
      assertThat(again.partition("shop", i, Partitioning.byKey(3)).state()).isEmpty();
    }
    again.close();
  }

  /** RocksDB would read freed memory, and the process would be gone. */
  @Test
  void closedStore_saysSo_toWhoStillReads() {
    RocksDatabase database = open();
    RocksVersions versions = database.partition("shop", 0, Partitioning.byKey(1));
    database.close();
    for (Runnable late :
        List.<Runnable>of(
            () -> versions.load(FLAG.key()),
            () -> versions.objects(Optional.empty(), 1),
            versions::state,
            database::figures,
            database::prune,
            database::flush,
            () -> database.backup(dir.resolve("late")),
            () -> database.write(List.of()))) {
      refused(ErrorCode.SHUTTING_DOWN, late::run);
    }
    database.closeUnclean(); // and a second time
  }

  /** The former store is aside already, and the backup not yet in its place. */
  @Test
  void restoreThatWasKilled_isNotTakenForANewStore() throws IOException {
    Files.createDirectories(dir.resolve("db.restoring"));
    OsierException e = catchThrowableOfType(OsierException.class, this::open);
    assertThat(e).as("a start with nothing").isNotNull();
    assertThat(e.code()).isEqualTo(ErrorCode.CONFIGURATION);
    assertThat(e).hasMessageContaining("'osier restore'");
  }

  /** The former store is the one that was to be replaced. */
  @Test
  void restoreThatWasKilledBeforeTheFormerStoreWasAside_doesNotGoOnWithTheFormerOne()
      throws IOException {
    open().close();
    Files.createDirectories(dir.resolve("db.restoring"));
    OsierException e = catchThrowableOfType(OsierException.class, this::open);
    assertThat(e).as("a start with the former store").isNotNull();
    assertThat(e.code()).isEqualTo(ErrorCode.CONFIGURATION);
    assertThat(e).hasMessageContaining("to start with the former store");
    Files.delete(dir.resolve("db.restoring"));
    open().close();
  }

  /** RocksDB has made its first MANIFEST and not yet a log: nothing was ever written. */
  @Test
  void firstStartThatWasKilledBeforeThereWasALog_isNoDamage() throws IOException {
    Path database = Files.createDirectories(dir.resolve("db"));
    byte[] comparator = "leveldb.BytewiseComparator".getBytes(StandardCharsets.US_ASCII);
    ByteBuffer edit = ByteBuffer.allocate(100);
    edit.put((byte) 1).put((byte) comparator.length).put(comparator);
    edit.put(new byte[] {2, 0, 3, 2, 4, 0}).flip();
    ByteBuffer log = ByteBuffer.allocate(100).order(ByteOrder.LITTLE_ENDIAN);
    CRC32C crc = new CRC32C();
    crc.update(1);
    crc.update(edit.duplicate());
    log.putInt(Integer.rotateRight((int) crc.getValue(), 15) + 0xa282ead8);
    log.putShort((short) edit.remaining()).put((byte) 1).put(edit).flip();
    byte[] manifest = new byte[log.remaining()];
    log.get(manifest);
    Files.write(database.resolve("MANIFEST-000001"), manifest);
    Files.writeString(database.resolve("CURRENT"), "MANIFEST-000001\n");
    RocksDatabase opened = open();
    assertThat(opened.life()).isEqualTo(1);
    opened.close();
  }
}
