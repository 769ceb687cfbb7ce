package io.osier.datacenter.metrics.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Key;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.machine.Input;
import io.osier.testing.Patience;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What is published where partitions are busy or have failed. */
final class BusyPublisherTest extends PublisherFixture {
  @Test
  void busyPartition_isShownAsItWas_withItsAge_andAskedOnce() throws Exception {
    write(0);
    publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS);
    CountDownLatch goOn = holdUp(0);
    wallMillis.set(5_000);
    BlockingQueue<Snapshot> heard = new LinkedBlockingQueue<>();
    publisher.listen(heard::add);
    publisher.everySecond();
    for (int i = 0; i < 3; i++) {
      next(heard);
    }
    write(1);
    await().until(() -> committed(publisher.latest()) == 2);
    Snapshot.Keyspace shop = publisher.latest().keyspaces().getFirst();
    assertThat(shop.partitions())
        .extracting(Snapshot.Partition::atMillis)
        .containsExactly(1_000L, 5_000L);
    assertThat(shop.ageMillis(wallMillis.get())).isEqualTo(4_000);

    publisher.close(); // so that what waits for the partition now is all that ever did
    runners.get(0).submit(new Input.Removed(List.of()));
    goOn.countDown();
    assertThat(machines.get(0).marked.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(machines.get(0).asked).as("the one of fresh, and one more").hasSize(2);
    assertThat(machines.get(1).asked).hasSizeGreaterThan(3);
  }

  /** Who asks often is answered soon, and nothing gathers in front of what is busy. */
  @Test
  void recent_andAKey_areToldWithoutABusyPartition_whichIsAskedOnceByEach() throws Exception {
    for (int partition = 0; partition < PARTITIONS; partition++) {
      write(partition);
      holdUp(partition);
    }
    Inspector inspector = new Inspector(source.keyspaces(), publisher, Optional.empty());
    for (int i = 0; i < 3; i++) {
      publisher.recent(1).get(Patience.SECONDS, TimeUnit.SECONDS);
      assertThat(inspector.key("shop", Key.of("likes")).get(Patience.SECONDS, TimeUnit.SECONDS))
          .contains("\"silent\":\"its partition is too busy\"");
    }
    runners.forEach(r -> r.submit(new Input.Removed(List.of())));
    machines.forEach(m -> m.goOn.countDown());
    for (Busy machine : machines) {
      assertThat(machine.marked.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(machines.stream().mapToInt(m -> m.asked.size()).sum())
        .as("by recent both, and one for the key")
        .isEqualTo(3);
    await()
        .untilAsserted(
            () ->
                assertThat(
                        inspector
                            .key("shop", Key.of("likes"))
                            .get(Patience.SECONDS, TimeUnit.SECONDS))
                    .doesNotContain("silent"));
  }

  @Test
  void fresh_waitsForABusyPartition_andNobodyWaitsForFresh() throws Exception {
    CountDownLatch goOn = holdUp(0);
    BlockingQueue<Snapshot> heard = new LinkedBlockingQueue<>();
    publisher.listen(heard::add);
    publisher.everySecond();
    next(heard);
    CompletableFuture<Snapshot> fresh = publisher.fresh(0);
    for (int i = 0; i < 3; i++) {
      next(heard);
    }
    assertThat(fresh).isNotDone();
    goOn.countDown();
    assertThat(fresh.get(Patience.SECONDS, TimeUnit.SECONDS).published()).hasSize(1);
  }

  @Test
  void fresh_doesNotWaitForEver() throws Exception {
    publisher.close();
    publisher = publisher(200, Patience.MILLIS);
    CountDownLatch goOn = holdUp(0);
    Snapshot without = publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(without.keyspaces().getFirst().partitions())
        .as("the other one, unless it takes so long, too")
        .hasSizeLessThan(PARTITIONS);
    assertThat(goOn.getCount()).as("it was held up").isOne();
  }

  @Test
  void partitionThatFails_isShownAsItWas() throws Exception {
    write(0);
    publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS);
    machines.get(0).fails = true;
    wallMillis.set(2_000);
    Snapshot without = publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(without.keyspaces().getFirst().partitions())
        .extracting(Snapshot.Partition::atMillis)
        .containsExactly(1_000L, 2_000L);
    assertThat(committed(without)).isEqualTo(1);
  }
}
