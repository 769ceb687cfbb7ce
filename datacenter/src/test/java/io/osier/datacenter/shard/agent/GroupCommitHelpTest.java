package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Partitioning;
import io.osier.core.memory.Budget;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.StoreSettings;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who writes the groups of those who run a partition in front of its thread. */
@Timeout(
    value = 2 * Patience.SECONDS,
    unit = TimeUnit.SECONDS,
    threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class GroupCommitHelpTest {
  private static final int BUDGET = 10_000;

  @TempDir Path dir;
  private @Nullable StoreService opened;

  /** The names of the threads that have confirmed groups, in their order. */
  private final BlockingQueue<String> confirmed = new LinkedBlockingQueue<>();

  private StoreService open(Durability durability) {
    StoreSettings settings = new StoreSettings(Optional.of(dir), durability, 1 << 20, 0, 1_000);
    RocksDatabase database = RocksDatabase.open(dir, durability, "osier", "eu", 1);
    opened = new StoreService(database, settings, dir, new Budget("test", BUDGET), e -> {});
    return opened;
  }

  @AfterEach
  void close() {
    requireNonNull(opened).close();
  }

  private void write(long heldBytes) {
    write(heldBytes, () -> {});
  }

  private void write(long heldBytes, Runnable written) {
    GroupWriter.Group group =
        new GroupWriter.Group(
            List.of(new Change.PutTypes(Set.of())),
            heldBytes,
            () -> {
              written.run();
              confirmed.add(Thread.currentThread().getName());
            });
    StoreService store = requireNonNull(opened);
    store
        .writer()
        .writerOf(store.database().partition("shop", 0, Partitioning.byKey(1)))
        .write(group);
  }

  private String confirmedBy() throws InterruptedException {
    return confirmed.poll(Patience.SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void whoHelps_writesWhatItHasMade_atTheLastEnd() {
    GroupCommitHelp help = open(Durability.ASYNC).writer().help();
    help.together(
        () -> {
          for (int i = 0; i < 2; i++) {
            assertThat(help.begin()).isTrue();
            write(1);
            help.end();
          }
          assertThat(confirmed).isEmpty();
        });
    String here = Thread.currentThread().getName();
    assertThat(confirmed).containsExactly(here, here);
    assertThat(requireNonNull(opened).writer().writes()).isEqualTo(1);
  }

  @Test
  void whoWouldWaitForTheDisk_leavesItToTheStoresThread() throws InterruptedException {
    open(Durability.SYNC).writer().help().together(() -> write(1));
    assertThat(confirmedBy()).isEqualTo("osier-store");
  }

  /** With many connections somebody always helps, and none of them writes. */
  @Test
  void whatIsLeftToTheStoresThread_isWritten_whileOthersHelp() throws InterruptedException {
    GroupCommitHelp help = open(Durability.SYNC).writer().help();
    whileAnotherHelps(help, () -> help.together(() -> write(1)));
    assertThat(confirmed).containsExactly("osier-store");
  }

  @Test
  void whoHelps_writesWhatItHasMade_whileOthersHelp() throws InterruptedException {
    GroupCommitHelp help = open(Durability.ASYNC).writer().help();
    whileAnotherHelps(help, () -> help.together(() -> write(1)));
    assertThat(confirmed).containsExactly(Thread.currentThread().getName());
  }

  /** Runs something that writes one group, and waits until that is confirmed. */
  private void whileAnotherHelps(GroupCommitHelp help, Runnable writing)
      throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    Thread other =
        Thread.ofPlatform()
            .start(
                () ->
                    help.together(
                        () -> {
                          begun.countDown();
                          try {
                            done.await();
                          } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                          }
                        }));
    begun.await();
    writing.run();
    confirmed.add(confirmedBy());
    done.countDown();
    other.join();
  }

  @Test
  void whoDoesNotHelp_isWrittenByTheStoresThread() throws InterruptedException {
    var unused = open(Durability.ASYNC);
    write(1);
    assertThat(confirmedBy()).isEqualTo("osier-store");
  }

  @Test
  void whoWrites_mayNotRunAPartitionMeanwhile() {
    GroupCommitHelp help = open(Durability.ASYNC).writer().help();
    // It would wait for room that only itself makes.
    help.together(() -> write(1, () -> assertThat(help.begin()).isFalse()));
    assertThat(confirmed).hasSize(1);
  }

  @Test
  void whereHalfOfTheBudgetIsSpent_nobodyHelps_andTheStoresThreadIsWokenAllTheSame()
      throws InterruptedException {
    GroupCommitHelp help = open(Durability.ASYNC).writer().help();
    help.together(
        () -> {
          write(BUDGET * 2 / 3);
          assertThat(help.begin()).isFalse();
          write(BUDGET); // waits for room, which nobody else would make
          try {
            assertThat(confirmedBy()).isEqualTo("osier-store");
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }
}
