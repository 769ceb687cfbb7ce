package io.osier.crdt.types;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.management.ThreadMXBean;
import io.osier.core.CausalContext;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.KeyOrder;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.TestEntries;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.state.ObjectForm;
import io.osier.crdt.tree.KeyBounds;
import io.osier.crdt.tree.ReadEntries;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Entries that are read from outside: which are cached, and which cannot be read. */
final class BackingEntriesTest {
  private static final ReplicaId SELF = TestEntries.SELF;

  private TestEntries outside = new TestEntries();

  /** Returns a map of registers that lies outside. */
  private CrdtState map() {
    CrdtState map = CrdtState.bottom(CrdtType.OR_MAP);
    Operation.UpdateFields assigned =
        new Operation.UpdateFields(
            List.of(
                assign("small", "a"),
                assign("large", "a".repeat(5_000)),
                assign("larger", "a".repeat(70_000)),
                assign("largest", "a".repeat(600_000))));
    CrdtState whole = map.join(map.prepare(assigned, SELF, 1, 0, 1, 0));
    return outside.decomposed(whole);
  }

  private static Operation.FieldUpdate assign(String field, String value) {
    return new Operation.FieldUpdate(
        new FieldId(field, CrdtType.LWW_REGISTER), new Operation.Assign(Value.of(value)));
  }

  private int asksOf(CrdtState map, String field) {
    outside.given = 0;
    for (int i = 0; i < 3; i++) {
      assertThat(((OrMap) map.store()).isSeen(new FieldId(field, CrdtType.LWW_REGISTER))).isTrue();
    }
    return outside.given;
  }

  /** An update looks up several times the cell that it changes. */
  @Test
  void cellThatWasReadLast_isKept() {
    CrdtState map = map();
    assertThat(asksOf(map, "small")).isEqualTo(1);
    assertThat(asksOf(map, "large")).isEqualTo(1);
    assertThat(asksOf(map, "larger")).isEqualTo(1);
    assertThat(asksOf(outside.decomposed(Decomposition.whole(map)), "small"))
        .as("of another object")
        .isEqualTo(1);
    assertThat(asksOf(map, "largest")).as("too large").isEqualTo(3);
  }

  /** Each of 900 maps with a large field kept it in memory, uncounted. */
  @Test
  void cellsOfManyObjects_areNotKept() {
    List<Value> elements = IntStream.range(0, 7_000).mapToObj(Value::of).toList();
    Operation add =
        new Operation.UpdateFields(
            new FieldId("set", CrdtType.AW_SET), new Operation.Add(elements));
    CrdtState first = outside.decomposed(updated(CrdtState.bottom(CrdtType.OR_MAP), 1, add));
    List<CrdtState> maps = new ArrayList<>();
    long before = usedBytes();
    for (int i = 0; i < 100; i++) {
      CrdtState map = outside.decomposedAs(first);
      assertThat(((OrMap) map.store()).isSeen(new FieldId("set", CrdtType.AW_SET))).isTrue();
      maps.add(map);
    }
    assertThat(usedBytes() - before).isLessThan(ReadEntries.HEAP_BYTES_MAX + (4 << 20));
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
    ReadEntries read = new ReadEntries();
    Object object = new Object();
    for (int i = 0; i < 10_000; i++) {
      int bytes = i % 100 == 0 ? 300_000 : 50 * (i % 100);
      read.keep(object, i, null, bytes, i);
      assertThat(read.find(object, i, i)).isNotNull();
      assertThat(read.find(new Object(), i, i)).isNull();
    }
    assertThat(read.heapBytes()).isBetween(1L << 20, ReadEntries.HEAP_BYTES_MAX);
    read.keep(object, -1, null, 1 << 20, -1);
    assertThat(read.find(object, -1, -1)).isNull();
  }

  @Test
  void malformedCell_isTheSourcesFailure() {
    CrdtState map = map();
    outside.entries.replaceAll((key, cell) -> new byte[] {(byte) 0xFF, 1});
    assertThatThrownBy(() -> map.read(new Query.Select(List.of("small"))))
        .isInstanceOf(OsierException.class)
        .hasMessage("STORE_DAMAGED: the store here");
    assertThatThrownBy(() -> map.read(new Query.Whole()))
        .hasMessage("STORE_DAMAGED: the store here");
  }

  @Test
  void malformedKey_isTheSourcesFailure() {
    CrdtState map = map();
    outside.entries.put(new byte[] {5}, new byte[] {1});
    assertThatThrownBy(() -> map.read(new Query.Whole()))
        .hasMessage("STORE_DAMAGED: the store here");
  }

  /** Whatever the decoder throws: a number that is cut off gives another error than a wrong one. */
  @Test
  void cellThatIsCutOffOrHasWrongBits_isTheSourcesFailure_orAnotherCell() {
    Operation.UpdateFields update =
        new Operation.UpdateFields(
            List.of(
                assign("text", "a".repeat(20)),
                new Operation.FieldUpdate(
                    new FieldId("set", CrdtType.AW_SET),
                    new Operation.Add(List.of(Value.of("x"), Value.of(7)))),
                new Operation.FieldUpdate(
                    new FieldId("count", CrdtType.PN_COUNTER), new Operation.Increment(300))));
    CrdtState whole = outside.decomposed(updated(CrdtState.bottom(CrdtType.OR_MAP), 1, update));
    for (byte[] key : List.copyOf(outside.entries.keySet())) {
      byte[] cell = requireNonNull(outside.entries.get(key));
      for (int i = 0; i < cell.length; i++) {
        outside.entries.put(key, Arrays.copyOf(cell, i));
        CrdtState cut = outside.decomposedAs(whole);
        assertThatThrownBy(() -> cut.read(new Query.Whole()))
            .hasMessage("STORE_DAMAGED: the store here");
        for (int bit = 0; bit < 8; bit++) {
          byte[] flipped = cell.clone();
          flipped[i] ^= (byte) (1 << bit);
          outside.entries.put(key, flipped);
          Throwable failure =
              catchThrowable(() -> outside.decomposedAs(whole).read(new Query.Whole()));
          assertThat(
                  failure == null || "STORE_DAMAGED: the store here".equals(failure.getMessage()))
              .as("%s", failure)
              .isTrue();
        }
      }
      outside.entries.put(key, cell);
    }
  }

  private CrdtState withSums(long... sums) {
    byte[] head =
        WireOutput.bytesOf(
            out -> {
              out.presetReplica(SELF);
              out.writeRanges(CausalContext.EMPTY.withRange(SELF, 0, 1));
              for (long sum : sums) {
                out.writeNumber(sum);
              }
            });
    int form = ObjectForm.of(CrdtType.AW_SET, false);
    return Decomposition.readHead(form, List.of(SELF), new WireInput(head), outside);
  }

  @Test
  void sumsThatDoNotFitTogether_areMalformed() {
    assertThat(withSums(2, 14, 2, 2).read(new Query.Size())).isEqualTo(new Reading.Count(2));
    for (long[] sums :
        new long[][] {
          {2, 14, 3, 2}, {2, 14, 2, 3}, {2, 5, 2, 2}, {2, 1L << 60, 2, 2}, {1L << 40, 14, 2, 2}
        }) {
      assertThatThrownBy(() -> withSums(sums)).isInstanceOf(MalformedException.class);
    }
  }

  /** The head's count of entries may be wrong. */
  @Test
  void countOfEntries_isNoReasonToAllocate() {
    CrdtState set = withSums(20_000_000, 60_000_000, 20_000_000, 20_000_000);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(set.read(new Query.Whole())).isEqualTo(new Reading.Many(List.of()));
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1_000_000);
  }

  private static CrdtState updated(CrdtState object, long number, Operation operation) {
    return object.join(
        object.prepare(operation, SELF, number, object.context().last(SELF), number, 0));
  }

  private static CrdtState removed(CrdtState set, long number, Value element) {
    return updated(set, number, new Operation.Remove(List.of(element)));
  }

  /** Returns an equal set without any entry in memory. */
  private CrdtState written(CrdtState set) {
    TestEntries next = new TestEntries();
    Decomposition.all(set, List.of(SELF), next.entries::put);
    outside = next;
    return Decomposition.rebased(set, set, next);
  }

  /**
   * Returns the first key of the page that is read for the first or last element, which must be the
   * expected one.
   */
  private byte @Nullable [] beginOfPage(CrdtState set, boolean down, Value expected) {
    outside.pages.clear();
    Query end = new Query.Range(Optional.empty(), Optional.empty(), down, 1);
    assertThat(set.read(end)).isEqualTo(new Reading.Many(List.of(expected)));
    return outside.pages.getFirst();
  }

  /**
   * In front of the first element of a queue lie the tombstones of all elements that were removed
   * there, which took a second to be passed each time.
   */
  @Test
  void page_ofAnEnd_beginsWhereTheEntriesDo() {
    List<Value> elements = IntStream.range(0, 100).mapToObj(Value::of).toList();
    Operation add = new Operation.Add(elements);
    CrdtState queue = outside.decomposed(updated(CrdtState.bottom(CrdtType.AW_SET), 1, add));
    for (boolean down : new boolean[] {false, true}) {
      Value first = Value.of(down ? 99 : 0);
      assertThat(beginOfPage(queue, down, first)).isNull();
      assertThat(beginOfPage(queue, down, first)).isEqualTo(KeyOrder.of(first));
    }
    queue = removed(removed(queue, 201, Value.of(0)), 202, Value.of(99));
    assertThat(beginOfPage(queue, false, Value.of(1))).isEqualTo(KeyOrder.of(Value.of(0)));
    queue = written(queue);
    assertThat(beginOfPage(queue, false, Value.of(1))).isEqualTo(KeyOrder.of(Value.of(0)));
    assertThat(beginOfPage(queue, false, Value.of(1))).isEqualTo(KeyOrder.of(Value.of(1)));
    assertThat(beginOfPage(queue, true, Value.of(98))).isEqualTo(KeyOrder.of(Value.of(99)));
    CrdtState anew = Decomposition.remembering(outside.decomposedAs(queue), queue);
    assertThat(beginOfPage(anew, false, Value.of(1))).isEqualTo(KeyOrder.of(Value.of(1)));
    List<Value> beyond = List.of(Value.of(-7), Value.of(300));
    queue = written(updated(queue, 203, new Operation.Add(beyond)));
    assertThat(beginOfPage(queue, false, Value.of(-7))).isEqualTo(KeyOrder.of(Value.of(-7)));
    assertThat(beginOfPage(queue, true, Value.of(300))).isEqualTo(KeyOrder.of(Value.of(300)));
  }

  @Test
  void page_fromInFrontOfAllEntries_beginsWhereTheyDo() {
    Operation add = new Operation.Add(List.of(Value.of(5), Value.of(6)));
    CrdtState set = outside.decomposed(updated(CrdtState.bottom(CrdtType.AW_SET), 1, add));
    assertThat(beginOfPage(set, false, Value.of(5))).isNull();
    Optional<Query.Bound> before =
        Optional.of(new Query.Bound(new Part.Element(Value.of(-9)), true));
    Reading some = set.read(new Query.Range(before, Optional.empty(), false, 9));
    assertThat(some).isEqualTo(new Reading.Many(List.of(Value.of(5), Value.of(6))));
    assertThat(outside.pages.getLast()).isEqualTo(KeyOrder.of(Value.of(5)));
  }

  /** The set was emptied, and a few elements were added. */
  @Test
  void page_whereNothingLiesOutside_isNotRead() {
    List<Value> elements = IntStream.range(0, 100).mapToObj(Value::of).toList();
    Operation add = new Operation.Add(elements);
    CrdtState set = outside.decomposed(updated(CrdtState.bottom(CrdtType.AW_SET), 1, add));
    set = written(updated(set, 201, new Operation.Remove(elements)));
    set = updated(set, 202, new Operation.Add(List.of(Value.of(7))));
    assertThat(beginOfPage(set, false, Value.of(7))).isEqualTo(KeyOrder.of(Value.of(0)));
    CrdtState same = set;
    assertThatThrownBy(() -> beginOfPage(same, true, Value.of(7)))
        .isInstanceOf(NoSuchElementException.class);
    assertThat(beginOfPage(written(set), true, Value.of(7))).isEqualTo(KeyOrder.of(Value.of(7)));
  }

  @Test
  void bounds_ofLongKeys_areShorter() {
    byte[] key = new byte[1_000];
    Arrays.fill(key, (byte) 0xFF);
    byte[] least = KeyBounds.UNKNOWN.beginningWith(key, false).begin(null, false);
    assertThat(least).hasSize(KeyBounds.BYTES_MAX).isEqualTo(Arrays.copyOf(key, 256));
    assertThat(KeyBounds.UNKNOWN.beginningWith(key, true).begin(null, true)).isNull();
    key[200] = 5;
    byte[] greatest = KeyBounds.UNKNOWN.beginningWith(key, true).begin(null, true);
    assertThat(Arrays.compareUnsigned(requireNonNull(greatest), key)).isPositive();
    assertThat(greatest).hasSizeLessThanOrEqualTo(KeyBounds.BYTES_MAX);
    assertThat(greatest[200]).isEqualTo((byte) 6);
  }

  /** Removals are remembered: an emptied set has as many entries as before. */
  @Test
  void page_doesNotLookThroughWhatWasRemoved_whenItHasSeenAllThatIsThere() {
    List<Value> removed = IntStream.range(0, 5_000).mapToObj(Value::of).toList();
    CrdtState emptied =
        updated(CrdtState.bottom(CrdtType.RW_SET), 1, new Operation.Remove(removed));
    Query page = new Query.Range(Optional.empty(), Optional.empty(), false, 10);
    CrdtState set = outside.decomposed(emptied);
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
