package io.osier.datacenter.partition.history;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.datacenter.store.objects.MemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What former values are, and what of the budget they take. */
final class SnapshotHistoryTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final long RETAIN_NANOS = 1_000;
  private static final int ELEMENTS = 500;

  /** What an update of one element makes of a set of many, about, at most, in bytes. */
  private static final long UPDATE_BYTES_MAX = 2_500;

  private final Budget budget = new Budget("history", Long.MAX_VALUE / 2);
  private long number;

  /** A store that packs what is put into it at once, or nothing. */
  private static MemoryStore store(boolean packs) {
    return new MemoryStore(KeyedHash.of(() -> 7), packs ? 0 : Long.MAX_VALUE / 2);
  }

  private SnapshotHistory past(MemoryStore store) {
    return new SnapshotHistory(store, RETAIN_NANOS, budget, VersionVector.EMPTY, number, 0);
  }

  private static ObjectId set(int i) {
    return new ObjectId(Key.of("set" + i), CrdtType.AW_SET);
  }

  private Updates.Updated updated(CrdtState before, List<Value> added) {
    Updates.Updated updated =
        Updates.updateAt(
            before,
            0,
            new Operation.Add(added),
            new UpdateContext(SELF, number + 1, before.context().through(SELF), number + 1, 0));
    number = updated.delta().context().last(SELF);
    return updated;
  }

  private void fill(MemoryStore store, int sets) {
    List<Value> elements = LongStream.range(0, ELEMENTS).mapToObj(Value::of).toList();
    for (int i = 0; i < sets; i++) {
      store.put(set(i), updated(CrdtState.bottom(CrdtType.AW_SET), elements).after());
    }
  }

  /** Commits an addition; returns what the set was before it. */
  private CrdtState update(MemoryStore store, SnapshotHistory past, int i) {
    long first = number + 1;
    CrdtState before = requireNonNull(store.get(set(i)), "was filled");
    Updates.Updated updated = updated(before, List.of(Value.of("new " + first)));
    past.committing(set(i), before, updated.delta(), updated.after(), first, first);
    past.committed(number);
    store.put(set(i), updated.after());
    return before;
  }

  @Test
  void keptIs_whatTheNextWasMadeFrom() {
    MemoryStore store = store(true);
    fill(store, 1);
    SnapshotHistory past = past(store);
    long step = past.step();
    CrdtState before = update(store, past, 0);
    assertThat(past.at(set(0).key(), step).getFirst())
        .as("another one would share nothing with the next")
        .isSameAs(before);
  }

  @Test
  void ofOtherTypes_allAreKept() {
    MemoryStore store = store(true);
    fill(store, 1);
    ObjectId counter = new ObjectId(set(0).key(), CrdtType.PN_COUNTER);
    CrdtState none = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState one =
        none.join(none.prepare(new Operation.Increment(1), SELF, ++number, 0, number, 0));
    SnapshotHistory past = past(store);
    past.committing(counter, none, one, one, number, number);
    past.committed(number);
    store.put(counter, one);
    long step = past.step();
    CrdtState before = update(store, past, 0);
    assertThat(past.at(set(0).key(), step - 1)).as("the counter is new").containsExactly(before);
    assertThat(past.at(set(0).key(), step)).containsExactlyInAnyOrder(before, one);
  }

  /** The new values are packed, so the former ones are all that there is of theirs. */
  @Test
  void formerValuesOfPackedObjects_countWhole() {
    MemoryStore store = store(true);
    fill(store, 20);
    SnapshotHistory past = past(store);
    List<CrdtState> kept = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 20; i++) {
        kept.add(update(store, past, i));
      }
    }
    assertThat(budget.used())
        .isGreaterThan(kept.stream().mapToLong(CrdtState::heapBytes).sum())
        .isLessThan(2 * kept.stream().mapToLong(CrdtState::heapBytes).sum());
    past.expire(Long.MAX_VALUE / 2);
    assertThat(budget.used()).isZero();
  }

  @Test
  void formerValuesThatShareTheirParts_countOnce() {
    MemoryStore store = store(false);
    fill(store, 1);
    SnapshotHistory past = past(store);
    CrdtState kept = update(store, past, 0);
    for (int i = 1; i < 100; i++) {
      kept = update(store, past, 0);
    }
    assertThat(budget.used())
        .isBetween(kept.heapBytes(), kept.heapBytes() + 100 * UPDATE_BYTES_MAX);
    past.expire(Long.MAX_VALUE / 2);
    assertThat(budget.used()).isZero();
  }

  /** What it shared its parts with is gone, whether the oldest stays for a snapshot or not. */
  @Test
  void formerValueThatASnapshotNeeds_countsWholeInTheEnd() {
    MemoryStore store = store(false);
    fill(store, 1);
    SnapshotHistory past = past(store);
    long step = past.step();
    past.open(step);
    CrdtState first = update(store, past, 0);
    for (int i = 1; i < 10; i++) {
      CrdtState unused = update(store, past, 0);
    }
    past.expire(Long.MAX_VALUE / 2);
    assertThat(past.versions()).isEqualTo(1);
    assertThat(past.at(set(0).key(), step)).containsExactly(first);
    assertThat(budget.used()).isBetween(first.heapBytes(), first.heapBytes() + UPDATE_BYTES_MAX);
    past.close(step);
    assertThat(budget.used()).isZero();
  }
}
