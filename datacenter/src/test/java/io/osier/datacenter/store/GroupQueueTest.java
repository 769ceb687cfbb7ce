package io.osier.datacenter.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Budget;
import io.osier.testing.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The hand-over between partitions and writer has no time-outs, so a wake-up that is lost is a test
 * that does not end. Each round is another interleaving: threads that start together, groups that
 * nearly fit, a queue that is closed or fails while others wait.
 */
final class GroupQueueTest {
  private static final int ROUNDS = Integer.getInteger("osier.queue.rounds", 1_500);
  private static final int GROUPS = 12;
  private static final long BUDGET = 10;

  private record Numbered(int partition, int number) {}

  /** How a round ends. */
  private enum End {
    DRAINED,
    CLOSED_MEANWHILE,
    FAILED_MEANWHILE
  }

  @Test
  @Timeout(
      value = Patience.SECONDS,
      unit = TimeUnit.SECONDS,
      threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void everybodyGoesOn_andEachPartitionsGroupsAreWrittenInTheirOrder() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      new Round(round).run();
    }
  }

  private static final class Round {
    private final Random random;
    private final End end;
    private final int partitions;
    private final Budget budget = new Budget("test", BUDGET);
    private final GroupQueue<Numbered> queue = new GroupQueue<>(budget);
    private final GroupCommit<Numbered> writer = new GroupCommit<>(queue);
    private final List<Numbered> written = new ArrayList<>();
    private final AtomicInteger confirmed = new AtomicInteger();
    private final CyclicBarrier start;

    Round(int seed) {
      this.random = new Random(seed);
      this.end = End.values()[random.nextInt(End.values().length)];
      this.partitions = 1 + random.nextInt(4);
      this.start = new CyclicBarrier(partitions + 2);
    }

    private Thread started(Runnable body) {
      return Thread.ofPlatform()
          .start(
              () -> {
                try {
                  start.await();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
                body.run();
              });
    }

    private void produce(int partition, long seed) {
      Random own = new Random(seed);
      boolean helps = own.nextBoolean();
      for (int i = 0; i < GROUPS; i++) {
        boolean helping = helps && queue.beginHelping();
        // Some are larger than the budget: they are let in alone.
        queue.put(
            new Numbered(partition, i), 1 + own.nextInt(12), () -> confirmed.incrementAndGet());
        if (own.nextInt(3) == 0) {
          Thread.onSpinWait();
        }
        if (helping) {
          boolean leaves = own.nextInt(4) == 0;
          while (!leaves && queue.tryTurn()) {
            takeTurn();
          }
          queue.endHelping(leaves);
        }
      }
    }

    private void write() {
      while (queue.await()) {
        takeTurn();
      }
    }

    /** Unsynchronised: the turn is what keeps two from it. */
    private void takeTurn() {
      writer.step(
          groups -> {
            assertThat(budget.used()).isLessThanOrEqualTo(BUDGET + 2);
            written.addAll(groups);
          });
      queue.endTurn();
    }

    void run() throws Exception {
      Thread writer = started(this::write);
      List<Thread> producers = new ArrayList<>();
      for (int i = 0; i < partitions; i++) {
        int partition = i;
        long seed = random.nextLong();
        producers.add(started(() -> produce(partition, seed)));
      }
      start.await();
      if (end == End.FAILED_MEANWHILE) {
        queue.fail();
      } else if (end == End.CLOSED_MEANWHILE) {
        queue.close();
      }
      for (Thread producer : producers) {
        producer.join();
      }
      queue.close();
      writer.join();
      check();
    }

    private void check() {
      int[] next = new int[partitions];
      for (Numbered group : written) {
        assertThat(group.number()).isEqualTo(next[group.partition()]++);
      }
      assertThat(confirmed).hasValue(written.size());
      if (end == End.DRAINED) {
        assertThat(written).hasSize(partitions * GROUPS);
      }
      assertThat(budget.used()).isZero();
      assertThat(queue.offer(new Numbered(0, 0), 1, () -> {})).isFalse();
    }
  }

  /** Helpers may come one after the other for ever, so nobody may wait for the last one. */
  @Test
  @Timeout(
      value = Patience.SECONDS,
      unit = TimeUnit.SECONDS,
      threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void whatAHelperLeaves_isWritten_whileAnotherOneHelps() throws Exception {
    GroupQueue<Integer> queue = new GroupQueue<>(new Budget("test", BUDGET));
    GroupCommit<Integer> writer = new GroupCommit<>(queue);
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (queue.await()) {
                    writer.step(groups -> {});
                    queue.endTurn();
                  }
                });
    assertThat(queue.beginHelping()).isTrue();
    assertThat(queue.beginHelping()).isTrue();
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait(); // asleep before there is something, so only a signal wakes it
    }
    CountDownLatch written = new CountDownLatch(1);
    assertThat(queue.offer(1, 1, written::countDown)).isTrue();
    queue.endHelping(true);
    written.await();
    queue.endHelping(false);
    queue.close();
    thread.join();
  }

  @Test
  void offer_isRefused_whenTheBudgetIsSpent_andALargeGroupIsTakenAlone() {
    GroupQueue<Integer> queue = new GroupQueue<>(new Budget("test", BUDGET));
    GroupCommit<Integer> writer = new GroupCommit<>(queue);
    assertThat(queue.offer(1, 100, () -> {})).isTrue();
    assertThat(queue.offer(2, 1, () -> {})).isFalse();
    assertThat(writer.step(groups -> assertThat(groups).containsExactly(1))).isEqualTo(1);
    assertThat(queue.offer(3, 1, () -> {})).isTrue();
    assertThat(queue.offer(4, 9, () -> {})).isTrue();
    assertThat(queue.offer(5, 1, () -> {})).isFalse();
    assertThat(writer.step(groups -> assertThat(groups).containsExactly(3, 4))).isEqualTo(2);
  }

  @Test
  void groupInLine_goesInByItself_inItsTurn_whenThereIsRoom() {
    GroupQueue<Integer> queue = new GroupQueue<>(new Budget("test", BUDGET));
    GroupCommit<Integer> writer = new GroupCommit<>(queue);
    assertThat(queue.line(1, BUDGET, () -> {}).getAsBoolean()).isTrue();
    BooleanSupplier large = queue.line(2, BUDGET, () -> {});
    BooleanSupplier small = queue.line(3, 1, () -> {});
    assertThat(large.getAsBoolean()).isFalse();
    assertThat(writer.step(groups -> assertThat(groups).containsExactly(1))).isEqualTo(1);
    assertThat(large.getAsBoolean()).isTrue();
    assertThat(small.getAsBoolean()).as("behind the large one").isFalse();
    assertThat(writer.step(groups -> assertThat(groups).containsExactly(2))).isEqualTo(1);
    queue.close();
    assertThat(small.getAsBoolean()).isTrue();
    assertThat(queue.line(4, 1, () -> {}).getAsBoolean()).as("nobody writes any more").isTrue();
    assertThat(writer.step(groups -> assertThat(groups).containsExactly(3))).isEqualTo(1);
  }

  @Test
  void offer_doesNotOvertakeWhoWaits_whichIsCounted() {
    Budget budget = new Budget("test", BUDGET);
    GroupQueue<Integer> queue = new GroupQueue<>(budget);
    assertThat(queue.offer(1, BUDGET - 2, () -> {})).isTrue();
    assertThat(budget.usage().spent()).isZero();
    assertThat(queue.line(2, 5, () -> {}).getAsBoolean()).isFalse();
    assertThat(budget.usage().spent()).as("somebody waits").isEqualTo(1);
    assertThat(queue.offer(3, 1, () -> {})).as("it would fit").isFalse();
  }

  @Test
  void oneWrite_isOfBoundedSize_andALargeGroupIsWrittenAlone() {
    GroupQueue<Integer> queue = new GroupQueue<>(new Budget("test", 100 << 20));
    GroupCommit<Integer> writer = new GroupCommit<>(queue);
    assertThat(queue.offer(1, 10 << 20, () -> {})).isTrue();
    assertThat(queue.offer(2, 20 << 20, () -> {})).isTrue();
    assertThat(queue.offer(3, 10 << 20, () -> {})).isTrue();
    List<List<Integer>> writes = new ArrayList<>();
    while (writer.step(writes::add) > 0) {
      assertThat(writes).hasSizeLessThan(10);
    }
    assertThat(writes).containsExactly(List.of(1), List.of(2), List.of(3));
  }
}
