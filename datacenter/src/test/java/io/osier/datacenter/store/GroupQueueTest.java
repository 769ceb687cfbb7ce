package io.osier.datacenter.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.memory.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Who is let in, and what is written together; {@link GroupQueueLincheckTest} has the threads. */
final class GroupQueueTest {
  private static final long BUDGET = 10;

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
