package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Entries that are read from outside: what is kept of them, and what cannot be read. */
final class OutsideTest {
  private static final ReplicaId SELF = TestEntries.SELF;

  private final TestEntries outside = new TestEntries();

  /** A map of registers that lies outside. */
  private Causal map() {
    Causal map = Causal.bottom(CrdtType.OR_MAP);
    Operation.UpdateFields assigned =
        new Operation.UpdateFields(
            List.of(
                assign("small", "a"),
                assign("large", "a".repeat(5_000)),
                assign("larger", "a".repeat(70_000)),
                assign("largest", "a".repeat(600_000))));
    Causal whole = map.join(map.prepare(assigned, SELF, 1, 0, 1, 0));
    return outside.decomposed(whole);
  }

  private static Operation.FieldUpdate assign(String field, String value) {
    return new Operation.FieldUpdate(
        new FieldId(field, CrdtType.LWW_REGISTER), new Operation.Assign(Value.of(value)));
  }

  private int asksOf(Causal map, String field) {
    outside.given = 0;
    for (int i = 0; i < 3; i++) {
      assertThat(((OrMap) map.store()).has(new FieldId(field, CrdtType.LWW_REGISTER))).isTrue();
    }
    return outside.given;
  }

  /** An update asks several times for the cell that it changes. */
  @Test
  void cellThatWasReadLast_isKept() {
    Causal map = map();
    assertThat(asksOf(map, "small")).isEqualTo(1);
    assertThat(asksOf(map, "large")).isEqualTo(1);
    assertThat(asksOf(map, "larger")).isEqualTo(1);
    assertThat(asksOf(outside.decomposed(Decomposition.whole(map)), "small"))
        .as("of another object")
        .isEqualTo(1);
    assertThat(asksOf(map, "largest")).as("too large").isEqualTo(3);
  }

  /** Of 900 maps with a large field each kept that, and nobody counted them. */
  @Test
  void cellsOfManyObjects_areNotKept() {
    List<Value> elements = IntStream.range(0, 7_000).mapToObj(Value::of).toList();
    Operation add =
        new Operation.UpdateFields(
            List.of(
                new Operation.FieldUpdate(
                    new FieldId("set", CrdtType.AW_SET), new Operation.Add(elements))));
    Causal first = outside.decomposed(updated(Causal.bottom(CrdtType.OR_MAP), 1, add));
    List<Causal> maps = new ArrayList<>();
    long before = usedBytes();
    for (int i = 0; i < 100; i++) {
      Causal map = outside.decomposedAs(first);
      assertThat(((OrMap) map.store()).has(new FieldId("set", CrdtType.AW_SET))).isTrue();
      maps.add(map);
    }
    assertThat(usedBytes() - before).isLessThan(8 << 20);
    assertThat(maps.getLast().store().heapBytes()).isLessThan(4_000);
  }

  private static long usedBytes() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void cellsThatAreKept_areBoundedInBytes() {
    ReadCells read = new ReadCells();
    Object object = new Object();
    for (int i = 0; i < 10_000; i++) {
      int bytes = i % 100 == 0 ? 300_000 : 50 * (i % 100);
      read.keep(object, i, null, bytes, i);
      assertThat(read.find(object, i, i)).isNotNull();
      assertThat(read.heapBytes()).isBetween((long) bytes, ReadCells.HEAP_BYTES_MAX);
    }
    read.keep(object, -1, null, ReadCells.HEAP_BYTES_MAX, -1);
    assertThat(read.find(object, -1, -1)).isNull();
    for (int i = 0; i < 500; i++) {
      read.keep(object, i, null, 0, i);
    }
    assertThat(read.heapBytes()).as("of what was replaced nothing is counted").isLessThan(20_000);
  }

  @Test
  void malformedCell_isTheSourcesFailure() {
    Causal map = map();
    outside.entries.replaceAll((key, cell) -> new byte[] {(byte) 0xFF, 1});
    assertThatThrownBy(() -> map.read(new Query.Select(List.of("small"))))
        .isInstanceOf(OsierException.class)
        .hasMessage("the store here");
    assertThatThrownBy(() -> map.read(new Query.Whole())).hasMessage("the store here");
  }

  @Test
  void malformedKey_isTheSourcesFailure() {
    Causal map = map();
    outside.entries.put(new byte[] {5}, new byte[] {1});
    assertThatThrownBy(() -> map.read(new Query.Whole())).hasMessage("the store here");
  }

  private static Causal updated(Causal object, long number, Operation operation) {
    return object.join(
        object.prepare(operation, SELF, number, object.context().last(SELF), number, 0));
  }

  /** Removals are remembered: a set that was emptied is as long as ever. */
  @Test
  void page_doesNotLookThroughWhatWasRemoved_whenItHasSeenAllThatIsThere() {
    List<Value> removed = IntStream.range(0, 5_000).mapToObj(Value::of).toList();
    Causal emptied = updated(Causal.bottom(CrdtType.RW_SET), 1, new Operation.Remove(removed));
    Query page = new Query.Range(Optional.empty(), Optional.empty(), false, 10);
    Causal set = outside.decomposed(emptied);
    outside.given = 0;
    assertThat(set.read(page)).isEqualTo(new Reading.Many(List.of()));
    assertThat(outside.given).isLessThan(200);
    Value first = Value.of(-1);
    set = outside.decomposed(updated(emptied, 6_000, new Operation.Add(List.of(first))));
    outside.given = 0;
    assertThat(set.read(page)).isEqualTo(new Reading.Many(List.of(first)));
    assertThat(outside.given).isLessThan(200);
  }
}
