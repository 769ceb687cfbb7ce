package io.osier.crdt.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.TestEntries;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The keys of lately changed entries that are remembered, and how many of them. */
final class RecentKeysTest {
  private static final ReplicaId REPLICA = TestEntries.SELF;

  private static CausalContext through(long number) {
    return CausalContext.range(REPLICA, 0, number);
  }

  private static Iterator<byte[]> keys(int count) {
    return IntStream.range(0, count).mapToObj(i -> new byte[] {(byte) i}).iterator();
  }

  @Test
  void versionWithNothingInMemory_changesNothing() {
    RecentKeys recent = RecentKeys.since(through(1)).after(through(2), keys(3));
    assertThat(recent.after(through(5), Collections.emptyIterator())).isSameAs(recent);
    assertThat(recent.unseenBy(through(2))).isEmpty();
    assertThat(recent.unseenBy(through(1))).hasSize(3);
    assertThat(recent.unseenBy(CausalContext.EMPTY)).isNull();
  }

  @Test
  void keysThatAreTooMany_areNotAllAskedFor() {
    int[] asked = new int[1];
    Iterator<byte[]> endless =
        IntStream.iterate(0, i -> i + 1)
            .mapToObj(
                i -> {
                  asked[0]++;
                  return new byte[1_000];
                })
            .iterator();
    RecentKeys recent = RecentKeys.since(CausalContext.EMPTY).after(through(9), endless);
    assertThat(asked[0]).isLessThan(300);
    assertThat(recent.unseenBy(through(8))).isNull();
    assertThat(recent.unseenBy(through(9))).isEmpty();
  }

  /**
   * With so many entries in memory, encoding all of their keys would keep the partition busy for
   * nothing.
   */
  @Test
  void keysInMemoryThatAreTooMany_areNotAllMade() {
    List<Value> elements = IntStream.range(0, 100_000).mapToObj(Value::of).toList();
    CrdtState bottom = CrdtState.bottom(CrdtType.AW_SET);
    CrdtState set = bottom.join(bottom.prepare(new Operation.Add(elements), REPLICA, 1, 0, 1, 0));
    CrdtState inMemory = Decomposition.of(set);
    CrdtState read = new TestEntries().decomposed(set);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    CrdtState remembering = Decomposition.remembering(read, inMemory);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(5L << 20);
    assertThat(Decomposition.isDecomposed(remembering)).isTrue();
  }

  @Test
  void contexts_areCounted() {
    RecentKeys recent = RecentKeys.since(CausalContext.EMPTY);
    long empty = recent.heapBytes();
    CausalContext wide = CausalContext.EMPTY;
    for (int i = 0; i < 1_000; i++) {
      wide = wide.withRange(REPLICA, 3L * i, 3L * i + 1);
    }
    assertThat(RecentKeys.since(wide).heapBytes()).isEqualTo(empty + wide.heapBytes());
    for (int i = 0; i < 5; i++) {
      recent = recent.after(wide, keys(1));
    }
    assertThat(recent.heapBytes()).isGreaterThan(5 * wide.heapBytes());
  }

  /** For a set with many gaps the contexts are the larger part. */
  @Test
  void contexts_areBoundedWithTheKeys() {
    CausalContext wide = CausalContext.EMPTY;
    for (int i = 0; i < 5_000; i++) {
      wide = wide.withRange(REPLICA, 3L * i, 3L * i + 1);
    }
    RecentKeys recent = RecentKeys.since(wide);
    for (int i = 0; i < 16; i++) {
      recent = recent.after(wide, keys(1));
    }
    assertThat(recent.heapBytes()).isBetween(200L << 10, (256L << 10) + 2 * wide.heapBytes());
  }
}
