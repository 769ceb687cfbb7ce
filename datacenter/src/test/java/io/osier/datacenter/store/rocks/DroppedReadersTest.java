package io.osier.datacenter.store.rocks;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import io.osier.datacenter.partition.Reads;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.FlushOptions;
import org.rocksdb.MutableColumnFamilyOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Who reads of a keyspace while it is dropped. */
final class DroppedReadersTest {
  private static final ObjectId SET = new ObjectId(Key.of("set"), CrdtType.AW_SET);
  private static final int ELEMENTS = 20_000;

  @TempDir private Path dir;

  private static final long FILE_BYTES = 16 << 10;

  /** Writes a decomposed set, in many small files. */
  private static void fill(RocksDatabase database, RocksVersions versions) throws RocksDBException {
    List<Value> elements = LongStream.range(0, ELEMENTS).mapToObj(Value::of).toList();
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    Operation add = new Operation.Add(elements);
    CrdtState set = empty.join(empty.prepare(add, new ReplicaId("eu", 1), 1, 0, 1, 0));
    Change put = new Change.PutDecomposed(SET, Decomposition.of(set), List.of(), null, true);
    RocksDB db = database.db();
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      database.write(List.of(versions.encode(List.of(new Change.PutTypes(Set.of(SET.type()))))));
      db.flush(flush);
      database.write(List.of(versions.encode(List.of(put))));
      db.flush(flush);
    }
    db.setOptions(MutableColumnFamilyOptions.builder().setTargetFileSizeBase(FILE_BYTES).build());
    db.compactRange(); // files of the first level are not deleted
  }

  private static void assertUnknown(ThrowingCallable reader) {
    refused(ErrorCode.UNKNOWN_KEYSPACE, reader);
  }

  /** Before, the answer was an empty set, or a part of it: the files went from under the reader. */
  @Test
  void answerThatIsMadeAfterTheDrop_isARefusal() throws RocksDBException {
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      RocksVersions versions = database.partition("k", 0, Partitioning.byKey(1));
      fill(database, versions);
      CrdtState set = versions.load(SET.key()).getFirst().state();
      EntrySource entries = requireNonNull(Decomposition.source(set));
      List<EntrySource.Entry> page = entries.page(null, true, false, ELEMENTS);
      assertThat(page).hasSize(ELEMENTS);
      Supplier<Reply> later =
          Reads.later(
              List.of(set), Requests.read("k", SET.key(), SET.type(), new Query.Whole()), () -> 0);

      int files = database.db().getLiveFilesMetaData().size();
      database.drop("k");
      assertThat(database.db().getLiveFilesMetaData()).hasSizeLessThan(files);
      assertThat(later.get()).is(Failed.with(ErrorCode.UNKNOWN_KEYSPACE));
      assertUnknown(() -> set.read(new Query.Whole()));
      assertUnknown(() -> entries.page(null, true, false, ELEMENTS));
      assertUnknown(() -> entries.get(page.getFirst().key()));
      assertUnknown(() -> entries.hold(1_000, true));
      assertUnknown(() -> versions.load(SET.key()));
      assertUnknown(() -> versions.objects(Optional.empty(), 10));
      assertThat(versions.removed(Optional.empty(), 10)).as("in the background").isEmpty();
    }
  }

  @Test
  void readersOfOthers_goOn() throws RocksDBException {
    try (RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "c", "eu", 1)) {
      fill(database, database.partition("k", 0, Partitioning.byKey(1)));
      RocksVersions other = database.partition("other", 0, Partitioning.byKey(1));
      fill(database, other);
      CrdtState set = other.load(SET.key()).getFirst().state();
      database.drop("k");
      Reading.Many read = (Reading.Many) set.read(new Query.Whole());
      assertThat(read.values()).hasSize(ELEMENTS);
      assertThat(other.objects(Optional.empty(), 10)).containsExactly(SET);
    }
  }
}
