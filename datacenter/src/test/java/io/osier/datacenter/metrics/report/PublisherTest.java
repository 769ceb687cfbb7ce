package io.osier.datacenter.metrics.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.osier.adaptation.AdaptationSettings;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.testing.ForwardingMachine;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.net.PeerBearer;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.Reply;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * What is published is complete, fresh where it can be, and waits for no partition that is busy.
 */
final class PublisherTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final int PARTITIONS = 2;

  /** A partition that can be held up, and can fail, while it is asked what it does. */
  private static final class Busy extends ForwardingMachine {
    final List<Integer> asked = new CopyOnWriteArrayList<>();
    final CountDownLatch marked = new CountDownLatch(1);
    volatile CountDownLatch goOn = new CountDownLatch(0);
    volatile boolean fails;

    Busy(Partition partition) {
      super(partition);
    }

    @Override
    public void on(Input input, Now now) {
      if (input instanceof Input.Inspect inspect) {
        asked.add(inspect.hotLimit());
        try {
          assertThat(goOn.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
        if (fails) {
          throw new IllegalStateException("a broken invariant");
        }
      }
      super.on(input, now);
      if (input instanceof Input.Removed) {
        marked.countDown();
      }
    }
  }

  private final KeyspacePolicy policy =
      KeyspacePolicy.session("shop", Duration.ofSeconds(1)).withPartitions(PARTITIONS);
  private final List<Busy> machines = new ArrayList<>();
  private final List<PartitionRunner> runners = new ArrayList<>();
  private final AtomicLong wallMillis = new AtomicLong(1_000);
  private final PeerTransport transport =
      new PeerTransport(
          new PeerBearer(SELF, "osier", 1),
          new InetSocketAddress("127.0.0.1", 0),
          Map.of(),
          dc -> List.of(),
          PortLimits.DEFAULT,
          new PeerListener() {},
          Optional.empty());
  private volatile boolean clientsFail;
  private volatile Callable<Boolean> whenClientsAreAsked = () -> true;
  private Publisher.Source source;
  private Publisher publisher;

  @BeforeEach
  void start() {
    for (int i = 0; i < PARTITIONS; i++) {
      MemoryStore store = new MemoryStore();
      PartitionConfig config =
          new PartitionConfig(
              SELF, List.of(), policy, i, StreamSettings.DEFAULT, AdaptationSettings.DEFAULT);
      Now now = new Now(System.nanoTime(), System.currentTimeMillis());
      Busy machine = new Busy(new Partition(config, store, RecoveredState.NOTHING, now));
      PartitionRunner runner =
          new PartitionRunner(
              new PartitionPorts("shop-" + i, machine, store, Journal.NONE, (to, frame) -> {}),
              100,
              new SlewedClock((double) now.millis(), now.nanos()),
              failure -> {});
      machines.add(machine);
      runners.add(runner);
      runner.start();
    }
    Map<String, KeyspaceShard> keyspaces =
        Map.of("shop", TestShards.alone(policy, runners, Runnable::run));
    source =
        new Publisher.Source(
            SELF,
            "a version",
            1,
            wallMillis::get,
            keyspaces,
            transport,
            Optional.empty(),
            new Readiness(keyspaces, Optional.empty()),
            Optional::empty,
            Map::of,
            this::clients,
            () -> 0,
            Map::of,
            Map::of,
            Optional::empty);
    publisher = publisher(Patience.MILLIS, Patience.MILLIS);
  }

  /** One that looks often. */
  private Publisher publisher(long askedMillis, long stopMillis) {
    return new Publisher(source, new Publisher.Limits(10, 100, askedMillis, stopMillis));
  }

  private Snapshot.Clients clients() {
    try {
      assertThat(whenClientsAreAsked.call()).isTrue();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    if (clientsFail) {
      throw new IllegalStateException("no figures of clients");
    }
    return Snapshot.Clients.NONE;
  }

  @AfterEach
  void stop() {
    machines.forEach(m -> m.goOn.countDown());
    publisher.close();
    runners.forEach(PartitionRunner::stop);
    transport.close();
  }

  /** Writes to a partition, and waits for the answer. */
  private void write(int partition) throws Exception {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    runners
        .get(partition)
        .submit(
            Requests.write(
                "shop", Key.of("likes"), CrdtType.PN_COUNTER, new Operation.Increment(1)),
            reply::complete);
    assertThat(reply.get(Patience.SECONDS, TimeUnit.SECONDS)).isInstanceOf(Reply.Done.class);
  }

  private static long committed(Snapshot snapshot) {
    return snapshot.keyspaces().getFirst().sum(r -> r.content().committed());
  }

  private static Snapshot next(BlockingQueue<Snapshot> heard) throws InterruptedException {
    Snapshot snapshot = heard.poll(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(snapshot).as("a snapshot in time").isNotNull();
    return snapshot;
  }

  /** Holds up a partition with the next question. */
  private CountDownLatch holdUp(int partition) {
    CountDownLatch goOn = new CountDownLatch(1);
    machines.get(partition).goOn = goOn;
    return goOn;
  }

  @Test
  void nobodyIsAsked_untilSomebodyWantsToKnow() throws Exception {
    write(0);
    write(1);
    assertThat(publisher.latest().keyspaces().getFirst().partitions()).isEmpty();
    assertThat(machines).allMatch(m -> m.asked.isEmpty());
    Snapshot fresh = publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(committed(fresh)).isEqualTo(2);
    assertThat(fresh.published()).hasSize(1);
    assertThat(publisher.latest()).isSameAs(fresh);
    publisher.fresh(200).get(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(machines).allMatch(m -> m.asked.equals(List.of(Publisher.HOT, 200)));
  }

  @Test
  void everySecond_isHeard_untilItsReaderWantsNoMore() throws Exception {
    BlockingQueue<Snapshot> heard = new LinkedBlockingQueue<>();
    BlockingQueue<Snapshot> heardByOther = new LinkedBlockingQueue<>();
    Runnable noMore = publisher.listen(heard::add);
    publisher.listen(heardByOther::add);
    publisher.everySecond();
    next(heard);
    write(0);
    await().until(() -> committed(publisher.latest()) == 1);
    noMore.run();
    heard.clear();
    heardByOther.clear();
    next(heardByOther);
    next(heardByOther);
    assertThat(heard).hasSizeLessThan(2); // one may have been on its way
  }

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

  /** What the figures are read from, the store for one, is closed after the publisher. */
  @Test
  void close_waitsForWhatIsBeingPutTogether_andWhoAsksAfterwardsIsTold() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    whenClientsAreAsked =
        () -> {
          asked.countDown();
          assertThat(goOn.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
          return true;
        };
    CompletableFuture<Snapshot> before = publisher.fresh(0);
    assertThat(asked.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    Thread closing = Thread.ofPlatform().start(publisher::close);
    await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
    assertThat(before).isNotDone();
    goOn.countDown();
    closing.join();
    assertThat(before).isCompleted();
    assertThatThrownBy(() -> publisher.fresh(0).join())
        .cause()
        .is(Refused.with(ErrorCode.SHUTTING_DOWN));
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

  @Test
  void readerThatFails_harmsNobody() throws Exception {
    BlockingQueue<Snapshot> heard = new LinkedBlockingQueue<>();
    publisher.listen(
        snapshot -> {
          throw new IllegalStateException("a reader");
        });
    publisher.listen(heard::add);
    publisher.everySecond();
    next(heard);
    next(heard);
    assertThat(publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS).published()).hasSize(1);
  }

  @Test
  void figuresThatCannotBeMade_areSaid_andMadeAgainLater() throws Exception {
    Logger log = (Logger) LoggerFactory.getLogger(Publisher.class);
    ListAppender<ILoggingEvent> said = new ListAppender<>();
    said.list = new CopyOnWriteArrayList<>();
    said.start();
    log.addAppender(said);
    try {
      clientsFail = true;
      publisher.everySecond();
      await()
          .until(
              () ->
                  said.list.stream()
                      .anyMatch(e -> e.getFormattedMessage().contains("could not be published")));
      assertThatThrownBy(() -> publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS))
          .hasMessageContaining("no figures of clients");
      clientsFail = false;
      await().until(() -> publisher.latest().published().size() == 1);
    } finally {
      log.detachAppender(said);
    }
  }

  @Test
  void whoAsked_isAnswered_whenThePublisherCloses() {
    publisher.close();
    publisher = publisher(Patience.MILLIS, 50); // the reader is not done before
    CountDownLatch goOn = holdUp(0);
    CompletableFuture<Snapshot> fresh = publisher.fresh(0);
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch read = new CountDownLatch(1);
    publisher.listen(
        snapshot -> {
          reading.countDown();
          try {
            read.await();
          } catch (InterruptedException e) {
            // Closed meanwhile.
          }
        });
    // The thread that puts together is kept by a reader, so that what follows waits for it.
    machines.get(0).goOn = new CountDownLatch(0);
    goOn.countDown();
    await().until(() -> reading.getCount() == 0);
    CompletableFuture<Snapshot> behind = publisher.fresh(0);
    await().until(() -> machines.stream().allMatch(m -> m.asked.size() == 2));
    publisher.close();
    read.countDown();
    await().until(() -> fresh.isDone() && behind.isDone());
    CompletableFuture<Snapshot> after = publisher.fresh(0);
    await().until(after::isDone);
  }
}
