package io.osier.crdt.types;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.TestEntries;
import io.osier.crdt.state.CrdtState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Elements drawn of sets: each with the same probability, whatever the set looks like. */
final class DrawnElementsTest {
  private static final ReplicaId SELF = TestEntries.SELF;

  private static List<Value> numbers(int from, int to) {
    return IntStream.range(from, to).mapToObj(Value::of).toList();
  }

  private static CrdtState with(CrdtState set, Operation operation) {
    long last = set.context().last(SELF);
    return set.join(set.prepare(operation, SELF, last + 1, last, last + 1, 0));
  }

  private static CrdtState of(CrdtType type, int size) {
    return with(CrdtState.bottom(type), new Operation.Add(numbers(0, size)));
  }

  private static List<Value> drawn(CrdtState set, int count, long seed) {
    return ((SetStore<?, ?>) set.store()).drawn(count, seed);
  }

  /** Returns the elements drawn by shuffling a copy of the whole (Fisher and Yates). */
  private static List<Value> expected(CrdtState set, int count, long seed) {
    List<Value> left = new ArrayList<>(set.read(new Query.Whole()).asList());
    SplittableRandom random = new SplittableRandom(seed);
    int some = Math.min(count, left.size());
    for (int i = 0; i < some; i++) {
      Collections.swap(left, i, random.nextInt(i, left.size()));
    }
    return left.subList(0, some).stream().sorted().toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 10, 129, 1_000, 20_000})
  void drawn_isTheBeginningOfAPermutation(int size) {
    CrdtState loose = of(CrdtType.AW_SET, size);
    CrdtState packed = loose.packLeaves();
    CrdtState outside = new TestEntries().decomposed(loose);
    for (int count : new int[] {1, 2, 7, size / 2 + 1, size, size + 1}) {
      for (long seed = 0; seed < 5; seed++) {
        List<Value> expected = expected(loose, count, seed);
        assertThat(drawn(loose, count, seed)).isEqualTo(expected);
        assertThat(drawn(packed, count, seed)).isEqualTo(expected);
        assertThat(drawn(outside, count, seed)).isEqualTo(expected);
      }
    }
    for (int i = 0; i < Math.min(size, 50); i++) { // the drawn elements are removed
      List<Value> expected = expected(packed, 1, i);
      assertThat(drawn(packed, 1, i)).isEqualTo(expected);
      packed = with(packed, new Operation.Remove(expected)).packLeaves();
    }
  }

  /** Such sets remember removed elements. */
  @Test
  void whatIsNotShown_isNotDrawn() {
    for (CrdtType type : new CrdtType[] {CrdtType.RW_SET, CrdtType.LWW_SET_ADD_BIAS}) {
      for (int shown : new int[] {0, 1, 100, 500, 999}) {
        CrdtState set = with(of(type, 1_000), new Operation.Remove(numbers(shown, 1_000)));
        int[] times = new int[1_000];
        for (long seed = 0; seed < 300; seed++) {
          List<Value> drawn = drawn(set, 3, seed);
          assertThat(drawn).hasSize(Math.min(3, shown)).doesNotHaveDuplicates().isSorted();
          drawn.forEach(v -> times[(int) ((Value.Int) v).content()]++);
        }
        assertThat(IntStream.range(shown, 1_000).map(i -> times[i]).sum()).isZero();
        if (shown == 100) { // about 9 times each
          assertThat(IntStream.range(0, shown).filter(i -> times[i] == 0)).isEmpty();
        }
        assertThat(drawn(set, 1_000, 1)).hasSize(shown);
      }
    }
  }
}
