package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The entries outside the heap that a join with a decomposed object reads, and brings into memory.
 */
final class DecomposedJoinTest {
  private static final ReplicaId SELF = TestEntries.SELF;
  private static final ReplicaId OTHER = new ReplicaId("us", 1);
  private static final int SIZE = 2_000;

  private TestEntries outside = new TestEntries();

  private static CrdtState updated(
      CrdtState object, ReplicaId by, long number, Operation operation) {
    return object.join(object.prepare(operation, by, number, object.context().last(by), number, 0));
  }

  private static CrdtState set() {
    List<Value> elements = IntStream.range(0, SIZE).mapToObj(Value::of).toList();
    return updated(CrdtState.bottom(CrdtType.AW_SET), SELF, 1, new Operation.Add(elements));
  }

  private static CrdtState map() {
    List<Operation.FieldUpdate> fields =
        IntStream.range(0, SIZE).mapToObj(i -> assign(i, "a")).toList();
    return updated(CrdtState.bottom(CrdtType.OR_MAP), SELF, 1, new Operation.UpdateFields(fields));
  }

  private static Operation.FieldUpdate assign(int field, String value) {
    return new Operation.FieldUpdate(
        new FieldId("f" + field, CrdtType.LWW_REGISTER), new Operation.Assign(Value.of(value)));
  }

  @Test
  void setThatWasClearedAndFilledAgain_isNotLookedThrough() {
    CrdtState whole = set();
    CrdtState mine = outside.decomposed(whole);
    CrdtState cleared = updated(whole, OTHER, 1, new Operation.Clear());
    CrdtState theirs = updated(cleared, OTHER, 2, new Operation.Add(List.of(Value.of(7))));
    outside.given = 0;
    assertThat(mine.join(theirs)).isEqualTo(theirs);
    assertThat(outside.given).isLessThan(10);
  }

  /**
   * The clearing of a map mentions each field: the map is read page by page, and not field by
   * field.
   */
  @Test
  void clearingOfAMap_isJoinedByAWalk() {
    CrdtState whole = map();
    CrdtState mine = outside.decomposed(whole);
    CrdtState clear = whole.prepare(new Operation.Clear(), OTHER, 1, 0, 1, 0);
    CrdtState joined = mine.join(clear);
    assertThat(outside.lookups).isZero();
    assertThat(joined).isEqualTo(whole.join(clear));
    Operation some = new Operation.RemoveFields(List.of("f7", "f1999", "none"));
    CrdtState removal = whole.prepare(some, OTHER, 1, 0, 1, 0);
    outside.given = 0;
    CrdtState rest = mine.join(removal);
    assertThat(outside.given).isLessThan(10);
    assertThat(rest).isEqualTo(whole.join(removal));
  }

  private static CrdtState added(CrdtState object, int number) {
    Operation add = new Operation.Add(List.of(Value.of("new " + number)));
    return updated(object, SELF, SIZE + 1L + number, add);
  }

  /**
   * Returns an equal object after all of it was written, so that its entries are known from memory.
   */
  private CrdtState rebased(CrdtState object) {
    outside = new TestEntries();
    Decomposition.all(object, List.of(SELF), outside.entries::put);
    return Decomposition.rebased(object, object, outside);
  }

  /**
   * Makes some additions that the other state does not know yet, some of which are in memory no
   * more; the first of them once more.
   *
   * @param rebases how often the entries in memory are moved to a later source
   */
  private CrdtState addedTo(CrdtState object, int rebases) {
    CrdtState mine = object;
    for (int i = 0; i < rebases; i++) {
      mine = rebased(added(mine, i));
    }
    Operation again = new Operation.Add(List.of(Value.of(7)));
    return updated(added(mine, rebases), SELF, SIZE + 100, again);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 5})
  void clearing_thatHasNotSeenWhatCameLately_doesNotLookThroughAll(int rebases) {
    CrdtState before = outside.decomposed(set());
    CrdtState cleared = updated(before, OTHER, 1, new Operation.Clear());
    CrdtState refilled = updated(cleared, OTHER, 2, new Operation.Add(List.of(Value.of("x"))));
    CrdtState mine = addedTo(before, rebases);
    CrdtState whole = Decomposition.whole(mine);
    for (CrdtState theirs : List.of(cleared, refilled)) {
      outside.given = 0;
      CrdtState joined = mine.join(theirs);
      assertThat(outside.given).isLessThan(20);
      assertThat(joined).isEqualTo(whole.join(theirs));
      int others = theirs == refilled ? 1 : 0;
      assertThat(joined.read(new Query.Size())).isEqualTo(new Reading.Count(rebases + 2L + others));
    }
  }

  /** Changed keys are not kept for ever. */
  @Test
  void clearing_thatHasNotSeenWhatIsLongAgo_looksThroughAll() {
    CrdtState before = outside.decomposed(set());
    CrdtState cleared = updated(before, OTHER, 1, new Operation.Clear());
    CrdtState mine = addedTo(before, 30);
    CrdtState whole = Decomposition.whole(mine);
    CrdtState refilled = updated(cleared, OTHER, 2, new Operation.Add(List.of(Value.of("x"))));
    for (CrdtState theirs : List.of(cleared, refilled)) {
      outside.given = 0;
      assertThat(mine.join(theirs)).isEqualTo(whole.join(theirs));
      assertThat(outside.given).as("once").isBetween(SIZE, SIZE + 200);
    }
  }

  private static List<Value> numbered(int from, int to, int step) {
    return IntStream.range(from, to)
        .filter(i -> (i - from) % step == 0)
        .mapToObj(Value::of)
        .toList();
  }

  /** Returns a state that has seen the first elements of {@link #set} and added one. */
  private static CrdtState small(int seen) {
    CrdtState some = CrdtState.bottom(CrdtType.AW_SET);
    if (seen > 0) {
      some = updated(some, SELF, 1, new Operation.Add(numbered(0, seen, 1)));
    }
    return updated(some, OTHER, 1, new Operation.Add(List.of(Value.of("x"))));
  }

  /**
   * Returns the join with a smaller state, after comparing it with the join from that side.
   *
   * @param kept whether unchanged entries stayed where they were
   * @param inMemory how many entries come into memory
   */
  private CrdtState joined(CrdtState mine, CrdtState theirs, boolean kept, int inMemory) {
    EntrySource source = Decomposition.source(mine);
    outside.given = 0;
    CrdtState joined = mine.join(theirs);
    int given = outside.given;
    assertThat(Decomposition.source(joined)).isSameAs(kept ? source : null);
    assertThat(Decomposition.inMemory(joined)).isEqualTo(inMemory);
    assertThat(joined).isEqualTo(theirs.join(Decomposition.whole(mine)));
    outside.given = given;
    return joined;
  }

  @Test
  void smallState_thatHasNotSeenALargeSet_leavesThatOutside() {
    CrdtState mine = outside.decomposed(set());
    for (int seen : new int[] {0, 300}) {
      CrdtState joined = joined(mine, small(seen), true, 1);
      assertThat(outside.given).as("each once").isLessThanOrEqualTo(SIZE);
      assertThat(joined.read(new Query.Size())).isEqualTo(new Reading.Count(SIZE + 1L));
    }
  }

  /** Then it is known which entries the state may not have seen: all of them. */
  @Test
  void smallState_thatHasNotSeenWhatCameLately_leavesThatOutside() {
    CrdtState inMemory = Decomposition.of(set());
    CrdtState joined = joined(inMemory, small(0), true, SIZE + 1);
    assertThat(joined.read(new Query.Size())).isEqualTo(new Reading.Count(SIZE + 1L));
    joined(rebased(inMemory), small(0), true, 1);
    assertThat(outside.given).as("each once").isLessThanOrEqualTo(SIZE);
  }

  @Test
  void smallState_withWhatWasRemovedHere_changesNothing() {
    CrdtState added = updated(set(), OTHER, 1, new Operation.Add(List.of(Value.of("x"))));
    Operation remove = new Operation.Remove(List.of(Value.of("x")));
    CrdtState whole = updated(added, SELF, SIZE + 1, remove);
    CrdtState theirs = small(0);
    assertThat(whole.join(theirs)).isEqualTo(whole);
    outside.replicas = List.of(SELF, OTHER);
    CrdtState joined = joined(outside.decomposed(whole), theirs, true, 0);
    assertThat(joined.read(new Query.Size())).isEqualTo(new Reading.Count(SIZE));
  }

  @Test
  void smallState_withoutManyOfWhatItHasSeen_isJoinedByLookingAtEachTwice() {
    CrdtState mine = outside.decomposed(set());
    CrdtState theirs = updated(small(900), OTHER, 2, new Operation.Remove(numbered(0, 900, 2)));
    CrdtState joined = joined(mine, theirs, true, 451);
    assertThat(outside.given).isLessThanOrEqualTo(2 * SIZE);
    assertThat(joined.read(new Query.Size())).isEqualTo(new Reading.Count(SIZE - 449L));
  }

  @Test
  void smallState_withoutMostEntries_leavesTheOthersInMemory() {
    CrdtState mine = outside.decomposed(set());
    for (int unseen : new int[] {20, 500}) {
      int seen = SIZE - unseen;
      CrdtState theirs = updated(small(seen), OTHER, 2, new Operation.Remove(numbered(0, seen, 1)));
      CrdtState joined = joined(mine, theirs, false, unseen + 1);
      assertThat(outside.given).isLessThanOrEqualTo(unseen == 20 ? SIZE : 2 * SIZE);
      assertThat(joined.read(new Query.Size())).isEqualTo(new Reading.Count(unseen + 1L));
    }
  }

  private static CrdtState withoutAll(CrdtState set, List<Value> elements) {
    long number = set.context().last(OTHER) + 1;
    return elements.isEmpty() ? set : updated(set, OTHER, number, new Operation.Remove(elements));
  }

  /**
   * Compared with the join from the other side, which puts all of the large set into the small one.
   */
  @Property(tries = 200)
  void smallState_isJoinedAsFromItsSide(
      @ForAll @IntRange(max = 200) int seen,
      @ForAll @IntRange(min = 1, max = 10) int step,
      @ForAll @IntRange(max = 200) int cleared) {
    Operation all = new Operation.Add(numbered(0, 200, 1));
    CrdtState whole = updated(CrdtState.bottom(CrdtType.AW_SET), SELF, 1, all);
    CrdtState theirs = small(seen);
    theirs = withoutAll(theirs, numbered(0, Math.min(seen, cleared), 1));
    theirs = withoutAll(theirs, numbered(0, seen, step));
    CrdtState expected = theirs.join(whole);
    assertThat(outside.decomposed(whole).join(theirs)).isEqualTo(expected);
    assertThat(whole.join(theirs)).isEqualTo(expected);
  }

  @Test
  void stateWithoutSomeEntries_isJoinedByLookingAtEachOnce() {
    CrdtState whole = set();
    CrdtState mine = outside.decomposed(whole);
    List<Value> some = IntStream.range(0, SIZE / 4).mapToObj(Value::of).toList();
    CrdtState theirs = updated(whole, OTHER, 1, new Operation.Remove(some));
    outside.given = 0;
    CrdtState joined = mine.join(theirs);
    assertThat(outside.given).isLessThanOrEqualTo(SIZE);
    assertThat(joined).isEqualTo(theirs);
  }

  @Test
  void readAnew_remembersWhatCameLately_ofTheSameVersionAlone() {
    CrdtState before = outside.decomposed(set());
    CrdtState cleared = updated(before, OTHER, 1, new Operation.Clear());
    CrdtState mine = addedTo(before, 1);
    TestEntries anew = new TestEntries();
    CrdtState read = anew.decomposed(Decomposition.whole(mine));
    CrdtState remembering = Decomposition.remembering(read, mine);
    assertThat(remembering).isEqualTo(mine);
    anew.given = 0;
    assertThat(remembering.join(cleared)).isEqualTo(mine.join(cleared));
    assertThat(anew.given).isLessThan(20);
    assertThat(Decomposition.remembering(read, added(mine, 200))).isSameAs(read);
    assertThat(Decomposition.remembering(read, Decomposition.whole(mine))).isSameAs(read);
  }

  /** So it is with a set that is read and not changed, whose source gets old. */
  @Test
  void readAnewManyTimes_doesNotForgetWhatCameLately() {
    CrdtState before = outside.decomposed(set());
    CrdtState cleared = updated(before, OTHER, 1, new Operation.Clear());
    CrdtState mine = addedTo(before, 1);
    CrdtState expected = mine.join(cleared);
    CrdtState whole = Decomposition.whole(mine);
    long heapBytes = 0;
    for (int i = 0; i < 40; i++) {
      outside = new TestEntries();
      mine = Decomposition.remembering(outside.decomposed(whole), mine);
      heapBytes = i == 0 ? mine.store().heapBytes() : heapBytes;
    }
    assertThat(mine.store().heapBytes()).isEqualTo(heapBytes);
    outside.given = 0;
    assertThat(mine.join(cleared)).isEqualTo(expected);
    assertThat(outside.given).isLessThan(20);
  }

  @Test
  void recentKeys_areBoundedInBytes_andCounted() {
    CrdtState mine = outside.decomposed(set());
    long before = mine.store().heapBytes();
    long number = SIZE;
    long most = 0;
    for (int i = 0; i < 12; i++) {
      List<Value> large =
          IntStream.range(100 * i, 100 * (i + 1))
              .mapToObj(k -> Value.of("%01000d".formatted(k)))
              .toList();
      mine = rebased(updated(mine, SELF, ++number, new Operation.Add(large)));
      number = mine.context().last(SELF);
      long taken = mine.store().heapBytes() - before;
      most = Math.max(most, taken);
      assertThat(taken).isGreaterThan(100_000);
    }
    assertThat(most).isBetween(200_000L, 270_000L);
  }

  @Test
  void versionsOfOneObject_areJoinedByWhatWasChanged() {
    CrdtState mine = outside.decomposed(set());
    CrdtState one = updated(mine, SELF, SIZE + 1, new Operation.Add(List.of(Value.of("x"))));
    CrdtState other = updated(mine, OTHER, 1, new Operation.Remove(List.of(Value.of(7))));
    CrdtState expected = Decomposition.whole(one).join(Decomposition.whole(other));
    outside.given = 0;
    CrdtState joined = one.join(other);
    assertThat(outside.given).isLessThan(10);
    assertThat(joined).isEqualTo(expected);
  }

  @Test
  void fieldsThatAreTheSame_stayOutside() {
    CrdtState whole = map();
    CrdtState mine = outside.decomposed(whole);
    CrdtState theirs =
        updated(whole, OTHER, 9, new Operation.UpdateFields(List.of(assign(7, "b"))));
    CrdtState joined = mine.join(theirs);
    assertThat(Decomposition.inMemory(joined)).isEqualTo(1);
    assertThat(joined).isEqualTo(theirs);
  }

  @Test
  void latestTimestamp_isThatOfWhatIsInMemory() {
    CrdtState mine = outside.decomposed(map());
    outside.given = 0;
    CrdtState changed =
        updated(mine, OTHER, 9, new Operation.UpdateFields(List.of(assign(7, "b"))));
    outside.given = 0;
    assertThat(changed.latestTimestamp()).isEqualTo(9);
    assertThat(outside.given).isZero();
  }
}
