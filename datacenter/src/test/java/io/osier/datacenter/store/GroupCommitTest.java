package io.osier.datacenter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.memory.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The writer, step by step, over a disk that stalls and loses what it has not synchronised. */
final class GroupCommitTest {
  private static final long BUDGET = 50;

  /** Keeps at a crash what is synchronised and a part, in order, of what is not. */
  private static final class Disk {
    private final List<Integer> kept = new ArrayList<>();
    private final List<Integer> unsynced = new ArrayList<>();

    void write(List<Integer> groups) {
      unsynced.addAll(groups);
    }

    void sync() {
      kept.addAll(unsynced);
      unsynced.clear();
    }

    void crash(int survivors) {
      kept.addAll(unsynced.subList(0, Math.min(survivors, unsynced.size())));
      unsynced.clear();
    }
  }

  @Test
  void whatWasConfirmed_survives_andWhatSurvivesIsAPrefix() {
    for (int seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      Budget budget = new Budget("test", BUDGET);
      GroupQueue<Integer> queue = new GroupQueue<>(budget);
      GroupCommit<Integer> writer = new GroupCommit<>(queue);
      Disk disk = new Disk();
      List<Integer> confirmed = new ArrayList<>();
      GroupCommit.Batch<Integer> writing = null;
      int next = 0;
      for (int step = random.nextInt(60); step > 0; step--) {
        int group = next;
        if (random.nextInt(3) > 0) {
          // A disk that stalls: the queue fills and then refuses, and nothing is out of order.
          if (queue.offer(group, 1 + random.nextInt(20), () -> confirmed.add(group))) {
            next++;
          }
          assertThat(budget.used()).isLessThanOrEqualTo(BUDGET);
        } else if (writing == null) {
          GroupCommit.Batch<Integer> batch = writer.begin();
          disk.write(batch.groups());
          writing = batch.isEmpty() ? null : batch;
        } else {
          disk.sync();
          writer.confirm(writing);
          writing = null;
        }
      }
      disk.crash(random.nextInt(10));
      assertThat(disk.kept).as("seed %d", seed).containsAll(confirmed);
      assertThat(confirmed).as("seed %d", seed).isSorted();
      for (int i = 0; i < disk.kept.size(); i++) {
        assertThat(disk.kept.get(i)).as("seed %d", seed).isEqualTo(i);
      }
    }
  }

  @Test
  void batch_beginsAfterTheLastIsConfirmed() {
    GroupQueue<Integer> queue = new GroupQueue<>(new Budget("test", BUDGET));
    GroupCommit<Integer> writer = new GroupCommit<>(queue);
    assertThat(writer.begin().isEmpty()).isTrue();
    queue.offer(1, 1, () -> {});
    GroupCommit.Batch<Integer> first = writer.begin();
    queue.offer(2, 1, () -> {});
    assertThatThrownBy(writer::begin).isInstanceOf(IllegalStateException.class);
    writer.confirm(first);
    assertThat(writer.begin().groups()).containsExactly(2);
  }

  @Test
  void step_writesBeforeItConfirms_andWhoHearsOfItFindsRoom() {
    GroupQueue<Integer> queue = new GroupQueue<>(new Budget("test", BUDGET));
    GroupCommit<Integer> writer = new GroupCommit<>(queue);
    List<String> events = new ArrayList<>();
    queue.offer(1, BUDGET, () -> events.add("next " + queue.offer(2, BUDGET, () -> {})));
    assertThat(writer.step(groups -> events.add("written " + groups))).isEqualTo(1);
    assertThat(events).containsExactly("written [1]", "next true");
    assertThat(writer.step(groups -> {})).isEqualTo(1);
    assertThat(writer.step(groups -> {})).isZero();
  }
}
