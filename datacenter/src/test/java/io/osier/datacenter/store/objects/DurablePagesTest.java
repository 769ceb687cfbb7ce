package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.StoredObjects;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What walks through a partition store, and what it tells of itself. */
final class DurablePagesTest extends PartitionStoreFixture {
  /** Of large objects few are read at once, whatever number is asked for. */
  @Test
  void pagesOfWhatIsDurable_areBoundedInBytes_andMissNothing() {
    List<ObjectId> all = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      ObjectId object = new ObjectId(Key.of("large" + i), CrdtType.LWW_REGISTER);
      update(object, new Operation.Assign(Value.of("x".repeat(1_000))));
      all.add(object);
    }
    commit();
    writeAll();
    update(all.getFirst(), new Operation.Assign(Value.of("not durable")));
    List<ObjectId> found = new ArrayList<>();
    StoredObjects.Page page = new StoredObjects.Page(List.of(), false);
    while (!page.end()) {
      Optional<ObjectId> after = found.isEmpty() ? Optional.empty() : Optional.of(found.getLast());
      page = store.pageDurable(after, Optional.empty(), 100, 2_500);
      assertThat(page.entries()).hasSizeLessThanOrEqualTo(3);
      for (StoredObjects.Entry entry : page.entries()) {
        assertThat(entry.state().sizeBytes()).as("durable").isGreaterThan(1_000);
        found.add(entry.object());
      }
    }
    assertThat(found).isEqualTo(all);
    assertThat(store.pageDurable(Optional.empty(), Optional.empty(), 4, 1 << 20).entries())
        .hasSize(4);
  }

  /** Some of them are not durable, and some were dropped. */
  @Test
  void pagesOfWhatIsThere_missNothing_howeverSmallTheyAre() {
    List<ObjectId> all = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      ObjectId object = new ObjectId(Key.of(String.format("%02d", i)), CrdtType.AW_SET);
      update(object, new Operation.Add(List.of(Value.of("x".repeat(100)))));
      all.add(object);
    }
    commit();
    writeAll();
    for (ObjectId gone : List.copyOf(all.subList(5, 40))) {
      update(gone, new Operation.Clear());
      commit();
      writeAll();
      assertThat(store.drop(gone)).isTrue();
      all.remove(gone);
    }
    commit();
    ObjectId last = new ObjectId(Key.of("99"), CrdtType.AW_SET);
    update(last, new Operation.Add(List.of(Value.of("not durable"))));
    all.add(last);
    for (int limit : List.of(1, 2, 7, 8, 9, 20, 59, 100)) {
      for (long bytes : List.of(1L, 300L, 1_000L, 1L << 20)) {
        List<ObjectId> found = new ArrayList<>();
        StoredObjects.Page page = new StoredObjects.Page(List.of(), false);
        while (!page.end()) {
          page = store.pageNow(found.stream().reduce((a, b) -> b), limit, bytes);
          assertThat(page.end() || !page.entries().isEmpty()).isTrue();
          page.entries().forEach(e -> found.add(e.object()));
        }
        assertThat(found).as("%d and %d bytes at a time", limit, bytes).isEqualTo(all);
      }
    }
  }

  /** After a start the partition asks for these: to find them must not cost a look at all. */
  @Test
  void removedObjects_areNoted_andFoundWithoutReadingAnyObject() {
    Random random = new Random(7);
    List<ObjectId> objects = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      objects.add(
          new ObjectId(
              Key.of(i % 3 == 0 ? "k" + (char) 0 + i : "k" + i),
              i % 2 == 0 ? CrdtType.AW_SET : CrdtType.PN_COUNTER));
    }
    for (int i = 0; i < 1_000; i++) {
      ObjectId object = objects.get(random.nextInt(objects.size()));
      Operation add =
          object.type() == CrdtType.AW_SET
              ? new Operation.Add(Value.of(i))
              : new Operation.Increment(1);
      CrdtState state = store.get(object);
      if (random.nextInt(10) == 0 && state != null && state.isSpent()) {
        store.drop(object); // or not, while it is being written
      } else {
        update(object, random.nextInt(3) == 0 ? new Operation.Clear() : add);
      }
      commit();
      if (random.nextInt(4) == 0) {
        writeAll();
      }
    }
    writeAll();
    List<ObjectId> spent =
        store.scan(Optional.empty(), 1_000).stream()
            .filter(e -> e.state().isSpent())
            .map(StoredObjects.Entry::object)
            .toList();
    assertThat(spent).isNotEmpty();
    long misses = store.figures().misses();
    List<ObjectId> found = new ArrayList<>(store.removed(Optional.empty(), 5));
    found.addAll(store.removed(Optional.of(found.getLast()), 1_000));
    assertThat(found).isEqualTo(spent);
    assertThat(store.figures().misses()).isEqualTo(misses);
  }

  @Test
  void figures_tellWhatTheCacheHolds_andWhatItMay() {
    assertThat(store.figures().cachedBytes()).isZero();
    assertThat(store.figures().cacheBytesMax()).isEqualTo(2_000);
    store.setCacheBytes(1 << 20);
    assertThat(store.figures().cacheBytesMax()).isEqualTo(1 << 20);
    ObjectId first = new ObjectId(Key.of("first"), CrdtType.AW_SET);
    update(first, new Operation.Add(List.of(Value.of("x".repeat(1_000)))));
    commit();
    assertThat(store.figures().cachedBytes()).as("while it is pending").isLessThan(1_000);
    writeAll();
    long one = store.figures().cachedBytes();
    assertThat(one).isGreaterThan(1_000);
    update(
        new ObjectId(Key.of("second"), CrdtType.AW_SET),
        new Operation.Add(List.of(Value.of("x".repeat(50_000)))));
    commit();
    writeAll();
    assertThat(store.figures().cachedBytes()).isGreaterThan(one + 50_000);
    store.setCacheBytes(10_000);
    assertThat(store.figures().cachedBytes()).isLessThanOrEqualTo(10_000);
  }

  @Test
  void figures_ofAStoreInMemory_haveNoLimit() {
    MemoryStore memory = new MemoryStore();
    ObjectId object = new ObjectId(Key.of("key"), CrdtType.PN_COUNTER);
    memory.put(object, CrdtState.bottom(CrdtType.PN_COUNTER));
    assertThat(memory.figures().cachedBytes()).isPositive();
    assertThat(memory.figures().cacheBytesMax()).isZero();
  }
}
