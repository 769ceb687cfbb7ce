package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.agent.Combiner.Outcome;
import io.osier.datacenter.store.objects.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;

final class CombinerTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final KeyspacePolicy POLICY = KeyspacePolicy.session("k", Duration.ofSeconds(1));

  private final MemoryStore store = new MemoryStore();
  private final AtomicLong due = new AtomicLong();
  private final Combiner combiner = new Combiner(store, POLICY, System::nanoTime, due::set);

  private void create(String key, CrdtType type, Operation operation) {
    CrdtState empty = CrdtState.bottom(type);
    store.put(
        new ObjectId(Key.of(key), type), empty.join(empty.prepare(operation, EU, 1, 0, 1, 0)));
  }

  private static Operation add(String... elements) {
    return new Operation.Add(java.util.Arrays.stream(elements).map(Value::of).toList());
  }

  private boolean increment(String key, long amount) {
    return combiner.add(Key.of(key), CrdtType.PN_COUNTER, new Operation.Increment(amount))
        != Outcome.REFUSED;
  }

  private boolean addTo(String key, Operation add) {
    return combiner.add(Key.of(key), CrdtType.AW_SET, add) != Outcome.REFUSED;
  }

  /** What is done with some objects. */
  private sealed interface Step {
    record Increment(int counter, long amount) implements Step {}

    record AddTo(int set, int element) implements Step {}

    record Take(int counter) implements Step {}

    record TakeAll() implements Step {}

    record TakeDue() implements Step {}
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> objects = Arbitraries.integers().between(0, 3);
    return Arbitraries.<Step>frequencyOf(
            Tuple.of(
                3,
                Combinators.combine(objects, Arbitraries.longs().between(-10, 9))
                    .as(Step.Increment::new)),
            Tuple.of(
                2,
                Combinators.combine(objects, Arbitraries.integers().between(0, 8))
                    .as(Step.AddTo::new)),
            Tuple.of(1, objects.map(Step.Take::new)),
            Tuple.of(1, Arbitraries.just(new Step.TakeAll())),
            Tuple.of(1, Arbitraries.just(new Step.TakeDue())))
        .list()
        .ofMaxSize(200)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  /** Whatever is taken out when: together it is what was acknowledged. */
  @Property(tries = 300)
  void whatIsTaken_isWhatWasAcknowledged(@ForAll("steps") List<Step> steps) {
    for (int i = 0; i < 4; i++) {
      create("c" + i, CrdtType.PN_COUNTER, new Operation.Increment(1));
      create("s" + i, CrdtType.AW_SET, add("a"));
    }
    Map<String, Long> sums = new HashMap<>();
    Map<String, Set<Value>> elements = new HashMap<>();
    Set<String> holding = new HashSet<>();
    long acknowledged = 0;
    long[] taken = {0};
    for (Step step : steps) {
      switch (step) {
        case Step.Increment i -> {
          String counter = "c" + i.counter;
          assertThat(increment(counter, i.amount)).isTrue();
          sums.merge(counter, i.amount, Long::sum);
          holding.add(counter);
          acknowledged++;
        }
        case Step.AddTo a -> {
          String set = "s" + a.set;
          Operation.Add add = (Operation.Add) add("e" + a.element, "f");
          assertThat(addTo(set, add)).isTrue();
          elements.computeIfAbsent(set, s -> new HashSet<>()).addAll(add.elements());
          holding.add(set);
          acknowledged++;
        }
        case Step.Take t -> {
          take(combiner.take(Key.of("c" + t.counter)), sums, elements, taken);
          holding.remove("c" + t.counter);
        }
        case Step.TakeAll t -> {
          take(combiner.takeAll(), sums, elements, taken);
          holding.clear();
        }
        case Step.TakeDue t -> {
          List<Input.Absorbed.Update> updates = combiner.takeDue(System.nanoTime());
          updates.forEach(u -> holding.remove(u.object().key().toString()));
          take(updates, sums, elements, taken);
        }
      }
      for (int k = 0; k < 4; k++) {
        assertThat(combiner.isHolding(Key.of("c" + k))).isEqualTo(holding.contains("c" + k));
        assertThat(combiner.isHolding(Key.of("s" + k))).isEqualTo(holding.contains("s" + k));
      }
      assertThat(combiner.isHolding()).isEqualTo(!holding.isEmpty());
      if (!holding.isEmpty()) {
        assertThat(combiner.dueNanos()).isLessThan(System.nanoTime() + 250_000_000);
      }
    }
    take(combiner.takeAll(), sums, elements, taken);
    assertThat(taken[0]).isEqualTo(acknowledged);
    assertThat(sums.values()).allMatch(sum -> sum == 0);
    assertThat(elements.values()).allMatch(Set::isEmpty);
  }

  private void take(
      List<Input.Absorbed.Update> updates,
      Map<String, Long> sums,
      Map<String, Set<Value>> elements,
      long[] taken) {
    for (Input.Absorbed.Update update : updates) {
      String key = update.object().key().toString();
      assertThat(combiner.isHolding(update.object().key())).as("until absorbed").isTrue();
      taken[0] += update.count();
      assertThat(update.sinceNanos()).isLessThanOrEqualTo(System.nanoTime());
      if (update.operation() instanceof Operation.Increment i) {
        sums.merge(key, -i.amount(), Long::sum);
      } else {
        List<Value> added = ((Operation.Add) update.operation()).elements();
        assertThat(added).doesNotHaveDuplicates();
        Set<Value> mine = requireNonNull(elements.get(key));
        assertThat(mine).containsExactlyInAnyOrderElementsOf(added);
        mine.clear();
      }
    }
    combiner.absorbed();
  }

  @Test
  void whatMayFail_isRefused() {
    assertThat(increment("new", 1)).as("no such object").isFalse();
    create("c", CrdtType.PN_COUNTER, new Operation.Increment(1));
    create("s", CrdtType.AW_SET, add("a"));
    assertThat(addTo("c", add("x"))).as("another type").isFalse();
    assertThat(increment("c", 1)).isTrue();
    assertThat(addTo("c", add("x"))).as("another type than what is held").isFalse();
    assertThat(increment("c", Long.MAX_VALUE)).as("too much for a window").isFalse();
    create("end", CrdtType.PN_COUNTER, new Operation.Increment(Long.MAX_VALUE - 10));
    assertThat(increment("end", 1)).as("near the end of the range").isFalse();
    create("low", CrdtType.PN_COUNTER, new Operation.Increment(Long.MIN_VALUE + 10));
    assertThat(increment("low", -1)).isFalse();
    create("zero", CrdtType.AW_SET, add("a"));
    CrdtState set = requireNonNull(store.get(new ObjectId(Key.of("zero"), CrdtType.AW_SET)));
    store.put(
        new ObjectId(Key.of("zero"), CrdtType.AW_SET),
        set.join(set.prepare(new Operation.Clear(), EU, 2, 1, 2, 0)));
    assertThat(addTo("zero", add("x"))).as("empty: the key may get another type").isFalse();
    combiner.takeAll();
    combiner.absorbed();
    assertThat(combiner.isHolding()).isFalse();
  }

  @Test
  void aSet_takesNoMoreThanItHasRoomFor() {
    create("s", CrdtType.AW_SET, add("a"));
    int added = 0;
    while (addTo("s", add("e".repeat(1_000) + added))) {
      added++;
    }
    assertThat(added).isBetween(50, 300);
    assertThat(addTo("s", add("e".repeat(1_000) + "0"))).as("is there").isTrue();
    combiner.takeAll();
    combiner.absorbed();
    assertThat(addTo("s", add("e".repeat(1_000) + "z"))).isTrue();
  }

  @Test
  void whatIsTakenOut_countsUntilItIsAbsorbed() {
    KeyspacePolicy small = POLICY.with(new KeyspacePolicy.Limits(1 << 10, 4 << 10, 16 << 10));
    Combiner narrow = new Combiner(store, small, System::nanoTime, due::set);
    create("s", CrdtType.AW_SET, add("a"));
    int added = 0;
    Outcome outcome;
    do {
      Operation one = add("e".repeat(1_000) + added++);
      outcome = narrow.add(Key.of("s"), CrdtType.AW_SET, one);
    } while (outcome != Outcome.REFUSED);
    assertThat(added).isBetween(10, 20);
    assertThat(narrow.takeAll()).hasSize(1);
    Operation more = add("m".repeat(1_000));
    assertThat(narrow.add(Key.of("s"), CrdtType.AW_SET, more))
        .as("the store does not show yet what was taken out")
        .isEqualTo(Outcome.REFUSED);
    narrow.absorbed();
    assertThat(narrow.add(Key.of("s"), CrdtType.AW_SET, more))
        .as("now it shows whatever there is")
        .isNotEqualTo(Outcome.REFUSED);
  }

  @Test
  void theWindow_growsWithWhatThereIsToJoin() {
    create("c", CrdtType.PN_COUNTER, new Operation.Increment(1));
    long first = window();
    assertThat(first).isEqualTo(20_000_000);
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 50; i++) {
        increment("c", 1);
      }
      takeDueLate();
    }
    assertThat(window()).isEqualTo(250_000_000);
    for (int round = 0; round < 10; round++) {
      increment("c", 1);
      takeDueLate();
    }
    assertThat(window()).isEqualTo(20_000_000);
  }

  private void takeDueLate() {
    assertThat(combiner.takeDue(due.get() - 1_000_000_000)).as("not before").isEmpty();
    assertThat(combiner.takeDue(combiner.dueNanos())).hasSize(1);
    combiner.absorbed();
  }

  private long window() {
    increment("c", 1);
    Input.Absorbed.Update update = combiner.take(Key.of("c")).getFirst();
    combiner.absorbed();
    long window = combiner.dueNanos() - update.sinceNanos();
    combiner.takeAll(); // the place in the queue that is left
    return window;
  }

  @Test
  void manyThreads_loseNothing_alsoWhenItCloses() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      create("c" + i, CrdtType.PN_COUNTER, new Operation.Increment(1));
    }
    AtomicLong acknowledged = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    long n = 0;
                    while (increment("c" + n % 3, 1)) {
                      n++;
                    }
                    acknowledged.addAndGet(n);
                  }));
    }
    long taken = 0;
    // On a busy machine the 300 rounds may be over before the first thread has begun.
    for (int i = 0; i < 300 || (taken == 0 && threads.stream().anyMatch(Thread::isAlive)); i++) {
      taken += count(i % 2 == 0 ? combiner.takeAll() : combiner.take(Key.of("c1")));
      combiner.absorbed();
    }
    combiner.close();
    taken += count(combiner.takeAll());
    combiner.absorbed();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(combiner.isHolding()).isFalse();
    assertThat(taken).isEqualTo(acknowledged.get()).isPositive();
  }

  private static long count(List<Input.Absorbed.Update> updates) {
    long count = 0;
    for (Input.Absorbed.Update update : updates) {
      assertThat(((Operation.Increment) update.operation()).amount()).isEqualTo(update.count());
      count += update.count();
    }
    return count;
  }
}
