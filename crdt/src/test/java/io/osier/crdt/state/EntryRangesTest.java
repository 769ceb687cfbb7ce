package io.osier.crdt.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.TestEntries;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The ranges and entries that turn one version into another one. */
final class EntryRangesTest {
  private static final ReplicaId SELF = TestEntries.SELF;
  private static final ReplicaId OTHER = new ReplicaId("us", 1);
  private static final int SIZE = 2_000;

  private static CrdtState added(CrdtState object, ReplicaId by, IntStream elements) {
    Operation add = new Operation.Add(elements.mapToObj(Value::of).toList());
    long last = object.context().last(by);
    return object.join(object.prepare(add, by, last + 1, last, last + 1, 0));
  }

  /** The only range of the small version there covers all entries of the large one here. */
  @Test
  void entriesThatGo_areReadOnce() {
    TestEntries outside = new TestEntries();
    CrdtState whole = added(CrdtState.bottom(CrdtType.AW_SET), SELF, IntStream.range(0, SIZE));
    CrdtState mine = outside.decomposed(whole);
    // Two elements have another dot, and one is new; all others are gone.
    CrdtState theirs =
        added(CrdtState.bottom(CrdtType.AW_SET), OTHER, IntStream.of(7, SIZE / 2, SIZE + 5));
    List<EntryRanges.Range> ranges =
        EntryRanges.of(theirs, EntryKey.NONE, Long.MAX_VALUE, Long.MAX_VALUE);
    EntryRanges.Some some =
        EntryRanges.entries(theirs, EntryKey.NONE, ranges, List.of(0), Long.MAX_VALUE);

    outside.given = 0;
    CrdtState version = EntryRanges.with(mine, EntryKey.NONE, ranges, some);

    assertThat(outside.given).isLessThan(SIZE + 200); // in pages
    assertThat(EntryRanges.completed(version, EntryRanges.Head.of(theirs))).isEqualTo(theirs);
    assertThat(version.read(new Query.Size())).isEqualTo(new Reading.Count(3));
    assertThat(version.store().sizeBytes()).isEqualTo(theirs.store().sizeBytes());
  }
}
