package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class UpdateRecordsTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ObjectId SET = new ObjectId(Key.of("set"), CrdtType.AW_SET);

  private CrdtState state = CrdtState.bottom(CrdtType.AW_SET);
  private KeyObjects objects = KeyObjects.NOTHING;
  private int inserted;

  /** Inserts elements and returns what is written. */
  private List<Change> insert(int count) {
    List<Value> elements =
        IntStream.range(inserted, inserted + count)
            .mapToObj(i -> Value.of("elem" + (100_000 + i)))
            .toList();
    inserted += count;
    long before = state.context().through(SELF);
    CrdtState delta =
        state.prepare(new Operation.Add(elements), SELF, before + count, before, before + count, 0);
    state = state.join(delta);
    objects = objects.with(state, 1);
    List<Change> changes = new ArrayList<>();
    objects = UpdateRecords.add(SET, before == 0, List.of(delta), state, null, objects, 1, changes);
    return changes;
  }

  private static long snapshotBytes(List<Change> changes) {
    long bytes = 0;
    for (Change change : changes) {
      bytes +=
          switch (change) {
            case Change.PutInPlace p -> p.state().sizeBytes();
            case Change.PutSnapshot p -> p.state().sizeBytes();
            default -> 0;
          };
    }
    return bytes;
  }

  /** Before, each 256th insert wrote the whole set: of 20,000 elements 1,300 bytes an insert. */
  @ParameterizedTest
  @ValueSource(ints = {1_000, 20_000})
  void insert_anySize_boundsBytesWrittenAndOperationsToRead(int size) {
    insert(size);
    long snapshots = 0;
    long operationsMax = 0;
    int inserts = size / 2;
    for (int i = 0; i < inserts; i++) {
      snapshots += snapshotBytes(insert(1));
      operationsMax = Math.max(operationsMax, objects.written(CrdtType.AW_SET).operations());
    }
    assertThat(snapshots).isPositive(); // it is written as a whole now and then
    // The last one belongs to operations before the first insert.
    assertThat(snapshots).isLessThanOrEqualTo(256L * inserts + state.sizeBytes());
    assertThat(operationsMax).isLessThanOrEqualTo(Math.max(256, state.sizeBytes() / 256));
  }

  @ParameterizedTest
  @ValueSource(ints = {50, 20_000})
  void evicted_afterFewOperations_isWorthASnapshotOnlyIfItIsSmall(int size) {
    insert(size);
    for (int i = 0; i < 10; i++) {
      insert(1);
    }
    List<Change> few = UpdateRecords.ofEvicted(SET.key(), objects);
    assertThat(snapshotBytes(few)).isEqualTo(size < 1_000 ? state.sizeBytes() : 0);
    for (int i = 0; i < 200; i++) {
      insert(1);
    }
    assertThat(snapshotBytes(UpdateRecords.ofEvicted(SET.key(), objects))).isPositive();
  }

  /**
   * The small one is put in its place with each update. Before, that was taken for a snapshot of
   * the large one, too, whose operations gathered.
   */
  @Test
  void largeObject_besideASmallOne_countsItsOwnOperations() {
    insert(20_000);
    ObjectId counter = new ObjectId(SET.key(), CrdtType.PN_COUNTER);
    CrdtState count = CrdtState.bottom(CrdtType.PN_COUNTER);
    long snapshots = 0;
    for (int i = 1; i <= 2_000; i++) {
      CrdtState delta =
          count.prepare(new Operation.Increment(1), SELF, i, count.context().through(SELF), i, 0);
      count = count.join(delta);
      objects =
          UpdateRecords.add(
              counter,
              i == 1,
              List.of(delta),
              count,
              null,
              objects.with(count, 1),
              1,
              new ArrayList<>());
      snapshots += snapshotBytes(insert(1));
      if (i == 1_000) {
        List<Change> evicted = UpdateRecords.ofEvicted(SET.key(), objects);
        assertThat(snapshotBytes(evicted)).as("of the large one").isEqualTo(state.sizeBytes());
      }
    }
    assertThat(snapshots).isPositive(); // it is written as a whole now and then
  }
}
