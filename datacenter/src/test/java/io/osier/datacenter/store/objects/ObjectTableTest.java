package io.osier.datacenter.store.objects;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.testing.HeapSize;
import io.osier.testing.ScaledTries;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ObjectTableTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);

  static KeyObjects counter(long value) {
    CrdtState bottom = CrdtState.bottom(CrdtType.PN_COUNTER);
    CrdtState state =
        bottom.join(bottom.prepare(new Operation.Increment(value), EU, value, 0, 1, 0));
    return KeyObjects.NOTHING.with(state, 0);
  }

  static long value(KeyObjects objects) {
    return ((Reading.Count) objects.states().getFirst().read(new Query.Whole())).value();
  }

  /** Many times as many as a segment holds: it is divided, and the directory grows. */
  @Test
  void manyKeys_areAllThere() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 10_000);
    int keys = 20 * SegmentTable.SEGMENT_SLOTS_MAX;
    for (int i = 0; i < keys; i++) {
      assertThat(table.put(Key.of("key" + i), counter(i + 1))).isTrue();
    }
    for (int i = 0; i < keys; i += 2) {
      assertThat(table.remove(Key.of("key" + i))).isTrue();
    }
    assertThat(table.size()).isEqualTo(keys / 2);
    for (int i = 0; i < keys; i++) {
      KeyObjects found = table.get(Key.of("key" + i));
      assertThat(found == null ? 0 : value(found)).isEqualTo(i % 2 == 0 ? 0 : i + 1);
    }
  }

  /** Keys that come and go leave places behind that others may have gone past. */
  @Test
  void keysThatComeAndGo_leaveRoom() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 1_000);
    for (int i = 0; i < 20_000; i++) {
      table.put(Key.of("key" + i), counter(1));
      if (i >= 10) {
        assertThat(table.remove(Key.of("key" + (i - 10)))).isTrue();
      }
    }
    assertThat(table.size()).isEqualTo(10);
    assertThat(table.table().slots()).isLessThan(1_000);
  }

  /** All have one {@link Key#hashCode}: placed by it, each would be compared with all others. */
  @Test
  void chosenKeys_doNotMeet() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 10_000);
    List<Key> keys = new ArrayList<>();
    for (int i = 0; i < 1 << 14; i++) {
      StringBuilder text = new StringBuilder();
      for (int bit = 0; bit < 14; bit++) {
        text.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      keys.add(Key.of(text.toString()));
    }
    keys.forEach(key -> table.put(key, counter(1)));
    assertThat(keys).allMatch(key -> table.get(key) != null);
    assertThat(table.table().longestSearch()).isLessThan(SegmentTable.SEGMENT_SLOTS_MAX / 4);
  }

  /** Otherwise what is read all the time would be evicted as if it were not. */
  @Test
  void keyThatIsRead_countsAsUsed() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 0);
    Key key = Key.of("key");
    table.put(key, counter(1));
    byte[] packed = (byte[]) requireNonNull(table.table().get(key, table.table().hash(key)));
    for (Runnable read : List.<Runnable>of(() -> table.get(key), () -> table.stored(key))) {
      assertThat(PackedObjects.takeUse(packed)).isFalse();
      read.run();
      assertThat(PackedObjects.takeUse(packed)).isTrue();
    }
  }

  /** Where all is packed that the share has no room for. */
  @Test
  void packedKey_comesToBeUnpackedIfItIsChangedOften_andNotIfItIsChangedOnce() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 100_000);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 1_000; i++) {
        table.put(Key.of("key" + i), counter(1 + round));
      }
    }
    long packed = IntStream.range(0, 1_000).filter(i -> isPacked(table, "key" + i)).count();
    assertThat(packed).isBetween(600L, 900L);
    int changes = 0;
    for (int i = 0; i < 1_000; i++) {
      for (int n = 0; n < 40 && isPacked(table, "key" + i); n++) {
        table.put(Key.of("key" + i), counter(10 + n));
        assertThat(value(requireNonNull(table.get(Key.of("key" + i))))).isEqualTo(10 + n);
        changes++;
      }
      assertThat(isPacked(table, "key" + i)).isFalse();
    }
    assertThat(changes).isGreaterThan(2_500);
    IntStream.range(0, 1_000).forEach(i -> table.remove(Key.of("key" + i)));
    assertThat(table.heapBytes()).isZero();
  }

  private static boolean isPacked(ObjectTable table, String name) {
    Key key = Key.of(name);
    return table.table().get(key, table.table().hash(key)) instanceof byte[];
  }

  /** What is large is not packed whole: it would be unpacked for each use. */
  @Test
  void largeObjects_areNotPacked() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 0);
    CrdtState bottom = CrdtState.bottom(CrdtType.LWW_REGISTER);
    Operation assign = new Operation.Assign(Value.of("v".repeat(20_000)));
    KeyObjects large =
        KeyObjects.NOTHING.with(bottom.join(bottom.prepare(assign, EU, 1, 0, 1, 0)), 0);
    table.put(Key.of("large"), large);
    table.put(Key.of("small"), counter(1));
    assertThat(table.get(Key.of("large"))).isSameAs(large);
    assertThat(table.get(Key.of("small"))).isEqualTo(counter(1));
  }

  /** Each use would read all of it anew, and everything else would be evicted beside it. */
  @Test
  void objectThatIsLargerThanAllThatIsKept_staysWhileItIsTheLastOne() {
    List<Key> evicted = new ArrayList<>();
    ObjectTable table =
        new ObjectTable(KeyedHash.of(() -> 7), 0, 10_000, (key, objects) -> evicted.add(key));
    CrdtState bottom = CrdtState.bottom(CrdtType.LWW_REGISTER);
    Operation assign = new Operation.Assign(Value.of("v".repeat(20_000)));
    KeyObjects large =
        KeyObjects.NOTHING.with(bottom.join(bottom.prepare(assign, EU, 1, 0, 1, 0)), 0);
    table.get(Key.of("large"), key -> large);
    for (int i = 0; i < 10; i++) {
      table.put(Key.of("small" + i), counter(1));
      table.makeRoom();
    }
    assertThat(evicted).isEmpty();
    for (int i = 10; i < 1_000; i++) {
      table.put(Key.of("small" + i), counter(1));
      table.makeRoom();
    }
    assertThat(evicted).isNotEmpty().doesNotContain(Key.of("large"));
    table.put(Key.of("next"), large);
    table.makeRoom();
    assertThat(evicted).contains(Key.of("large")).doesNotContain(Key.of("next"));
    table.setBytesMax(0);
    assertThat(table.size()).isZero();
  }

  private static KeyObjects set(int from, int count, KeyObjects before) {
    CrdtState state =
        before.states().isEmpty() ? CrdtState.bottom(CrdtType.AW_SET) : before.states().getFirst();
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      elements.add(Value.of("element" + (10_000 + from + i)));
    }
    long last = state.context().last(EU);
    return before.with(
        state.join(state.prepare(new Operation.Add(elements), EU, last + 1, last, 1, 0)), 0);
  }

  private static KeyObjects found(ObjectTable table, String key) {
    return requireNonNull(table.get(Key.of(key)));
  }

  /** Of a large set the leaves are packed, once it is not in use. */
  @Test
  void largeSets_takeLittleMoreThanTheirBytes_onceTheyAreUnused() {
    KeyObjects built = set(0, 20_000, KeyObjects.NOTHING);
    long share = 2 * built.looseHeapBytes();
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), share);
    table.put(Key.of("set"), built);
    assertThat(table.get(Key.of("set"))).as("in use").isSameAs(built);
    for (int i = 0; i < 4; i++) {
      table.put(Key.of("other" + i), set(i, 20_000, KeyObjects.NOTHING));
    }
    KeyObjects packed = found(table, "set");
    assertThat(packed.equals(built)).isTrue();
    assertThat(packed.looseHeapBytes()).isZero();
    assertThat(packed.states().getFirst().heapBytes())
        .isLessThan(built.states().getFirst().heapBytes() / 4);

    // One change leaves the leaf packed.
    KeyObjects touched = set(5_000, 1, packed);
    assertThat(touched.looseHeapBytes()).isZero();
    table.put(Key.of("set"), touched);
    assertThat(table.get(Key.of("set"))).isSameAs(touched);

    // Many unpack a leaf or two: the share has room for those of many such sets.
    for (int i = 0; i < 4; i++) {
      KeyObjects hot = set(5_000, 40, found(table, "set"));
      assertThat(hot.looseHeapBytes()).isBetween(1L, 50_000L);
      table.put(Key.of("set"), hot);
      assertThat(table.get(Key.of("set"))).as("its leaf stays unpacked").isSameAs(hot);
    }
  }

  /** What the cache counts falls with it. */
  @Test
  void packedLeaves_countLess() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 0);
    KeyObjects built = set(0, 20_000, KeyObjects.NOTHING);
    table.put(Key.of("set"), built);
    long before = built.heapBytes(Key.of("set"));
    assertThat(table.heapBytes()).isBetween(before / 4, before * 3 / 4);
    table.remove(Key.of("set"));
    assertThat(table.heapBytes()).isZero();
  }

  /** Nothing of them could be packed, but all of it waits for that. */
  @Test
  void largeObjectsThatAreGone_leaveNothingBehind() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 1 << 20);
    for (int i = 0; i < 20; i++) {
      CrdtState bottom = CrdtState.bottom(CrdtType.LWW_REGISTER);
      Operation assign = new Operation.Assign(Value.of(new byte[4 << 20]));
      CrdtState state = bottom.join(bottom.prepare(assign, EU, 1, 0, 1, 0));
      table.put(Key.of("key" + i), KeyObjects.NOTHING.with(state, 0));
      assertThat(table.remove(Key.of("key" + i))).isTrue();
    }
    assertThat(table.size()).isZero();
    assertThat(new HeapSize().add(table)).isLessThan(5 << 20); // the last one may be there
  }

  /** One packs what the other one puts: no update is lost, and each is packed again. */
  @Test
  void largeSetsThatAreChangedWhileTheyArePacked_keepTheirUpdates() throws Exception {
    KeyObjects built = set(0, 2_000, KeyObjects.NOTHING);
    long share = built.looseHeapBytes() * 3 / 2; // room for one of two
    ExecutorService writers = Executors.newFixedThreadPool(2);
    try {
      int rounds = ScaledTries.scaled(200);
      for (int round = 0; round < rounds; round++) {
        ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), share);
        List<Future<Integer>> done = new ArrayList<>();
        for (String key : List.of("a", "b")) {
          done.add(writers.submit(() -> change(table, key, built)));
        }
        for (Future<Integer> changes : done) {
          assertThat(changes.get()).isEqualTo(20);
        }
        table.put(Key.of("c"), KeyObjects.NOTHING); // lets be packed what is too much
        long loose = found(table, "a").looseHeapBytes() + found(table, "b").looseHeapBytes();
        assertThat(loose).isLessThanOrEqualTo(share);
      }
    } finally {
      writers.shutdownNow();
    }
  }

  /** Puts what takes long to be packed, again and again, and looks whether it is there. */
  private static int change(ObjectTable table, String key, KeyObjects built) {
    int changes = 0;
    while (changes < 20) {
      changes++;
      KeyObjects.Written count = new KeyObjects.Written(changes, 0);
      CrdtType type = built.states().getFirst().type();
      table.put(Key.of(key), built.counting(type, count, false, 0));
      assertThat(found(table, key).written()).containsExactly(count);
    }
    return changes;
  }

  /**
   * Sets in use take several times their bytes in the heap. Counted like that they filled a cache
   * alone, and each counter was read from the disk again and again (osier bench soak).
   */
  @Test
  void setsInUse_leaveRoomForTheRest() {
    ObjectTable table =
        new ObjectTable(KeyedHash.of(() -> 7), 300_000, 2_000_000, (key, objects) -> {});
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) { // so large that it is not packed
      elements.add(Value.of(1_000_000_000L + i));
    }
    CrdtState bottom = CrdtState.bottom(CrdtType.AW_SET);
    CrdtState delta = bottom.prepare(new Operation.Add(elements), EU, 1, 0, 1, 0);
    KeyObjects set = KeyObjects.NOTHING.with(bottom.join(delta), 0);
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 20; i++) {
        table.put(Key.of("set" + i), set);
      }
      for (int i = 0; i < 1_000; i++) {
        table.put(Key.of("counter" + i), counter(round + 1));
      }
    }
    assertThat(table.size()).isEqualTo(1_020);
  }

  /** Lists of replicas are not numbered for ever: each life of a lossy store brings another one. */
  @Test
  void moreReplicasThanAreNumbered_areKeptAllTheSame() {
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 0);
    Map<Key, KeyObjects> wanted = new HashMap<>();
    for (int i = 1; i <= PackedObjects.LISTS_MAX + 100; i++) {
      CrdtState bottom = CrdtState.bottom(CrdtType.AW_SET);
      ReplicaId origin = new ReplicaId("eu", i);
      CrdtState delta = bottom.prepare(new Operation.Add(List.of(Value.of(i))), origin, 3, 0, 1, 0);
      KeyObjects objects = KeyObjects.NOTHING.with(bottom.join(delta), 0);
      Key key = Key.of("key" + i);
      wanted.put(key, objects);
      table.put(key, objects);
    }
    wanted.forEach((key, objects) -> assertThat(table.get(key)).isEqualTo(objects));
  }

  /**
   * While one thread changes keys, makes them and removes them, others see for each key only what
   * was put for this key, and never what was before what they have seen.
   */
  @Test
  void readers_seeWhatWasPutOfTheKey_inItsOrder() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    ObjectTable table = new ObjectTable(KeyedHash.of(() -> 7), 20_000);
    int keys = 3_000;
    int changes = ScaledTries.scaled(600_000);
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService readers = Executors.newFixedThreadPool(2);
    try {
      List<Future<Long>> reads = new ArrayList<>();
      for (int r = 0; r < 2; r++) {
        reads.add(readers.submit(reader(table, keys, random.nextLong(), done)));
      }
      long[] rounds = new long[keys];
      for (int i = 0; i < changes; i++) {
        int k = random.nextInt(keys);
        Key key = Key.of("key" + k);
        if (random.nextInt(8) == 0) {
          table.remove(key);
        } else {
          // Of each key other values: whoever sees another key's knows it.
          table.put(key, counter(++rounds[k] * keys + k));
        }
      }
      done.set(true);
      for (Future<Long> read : reads) {
        assertThat(read.get()).as("seed %d", seed).isPositive();
      }
    } finally {
      done.set(true);
      readers.shutdownNow();
    }
  }

  private static Callable<Long> reader(ObjectTable table, int keys, long seed, AtomicBoolean done) {
    return () -> {
      Random random = new Random(seed);
      long[] seen = new long[keys];
      long found = 0;
      while (!done.get()) {
        int k = random.nextInt(keys);
        KeyObjects objects = table.get(Key.of("key" + k));
        if (objects != null) {
          long value = value(objects);
          assertThat(value % keys).as("whose value it is").isEqualTo(k);
          assertThat(value).isGreaterThanOrEqualTo(seen[k]);
          seen[k] = value;
          found++;
        }
      }
      return found;
    };
  }
}
